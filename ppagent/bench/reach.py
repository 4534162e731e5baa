"""From what a user named to a server's HTTP: an address, or a live target whose server is found on its host."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ppagent.bench.control import Control
from ppagent.bench.endpoint import Endpoint, is_url, parse_endpoint
from ppagent.errors import UserError

_ADVICE = "Name a live server: http://HOST:PORT, local, or ssh://HOST."


@dataclass
class Reached:
    """A server that can be asked. `name` is what it goes by in notes and results; it stays the same from run to run."""

    name: str
    endpoint: Endpoint
    close: Callable[[], None] = field(default=lambda: None)

    @property
    def control(self) -> Control:
        return Control(self.endpoint)


def reach(text: str, port: int | None, environ: Mapping[str, str]) -> Reached:
    """The server that `text` names. Raises UserError where it names none that is live."""
    if is_url(text):
        endpoint = parse_endpoint(text, environ)
        return Reached(endpoint.base_url, endpoint)
    raise UserError(f"{text} is no live server.", _ADVICE)
