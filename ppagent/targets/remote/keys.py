"""The API keys of one server: from the environment, or from a person, who is asked once."""

import os

from ppagent.errors import ToolError
from ppagent.targets.remote.asking import AskSecret

KEY_VARIABLES = ("SGLANG_API_KEY", "SGLANG_ADMIN_API_KEY")
"""Where API keys are taken from. They are never taken from a command line."""

_HOW = f"set {' or '.join(KEY_VARIABLES)}"


class Keys:
    """What is at hand to be let in by. `place` is where the server answers, for the question to a person."""

    def __init__(self, place: str, ask: AskSecret | None) -> None:
        self._place = place
        self._ask = ask
        self._held = [key for name in KEY_VARIABLES if (key := os.environ.get(name))]
        self._asked = False
        self.typed = ""
        """What a person typed and the server took."""

    def at_hand(self) -> tuple[str | None, ...]:
        """The keys to try, and last none at all."""
        return (*self._held, None)

    def from_person(self, path: str) -> str:
        """The key that a person types for what refuses all others. Raises ToolError where nobody can be asked, or where
        somebody was: the key that was typed is wrong or not enough, and asking for it again would not mend that."""
        if self._ask is None:
            raise ToolError(f"the server wants an API key for {path}; {_HOW}")
        if self._asked:
            raise self.turned_down(path)
        self._asked = True
        typed = self._ask(f"API key of the server on {self._place}: ").strip()
        if not typed:
            raise ToolError(f"the server wants an API key for {path}, and none was typed; {_HOW}")
        return typed

    def taken(self, key: str) -> None:
        """A key opened something, and is tried first from now on."""
        self._held.insert(0, key)
        self.typed = key

    def turned_down(self, path: str) -> ToolError:
        """What to say where the typed key does not open `path`."""
        return ToolError(f"the server does not take that API key for {path}; start again, or {_HOW}")
