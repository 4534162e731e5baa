"""What lies between logging in and running a command: the account's login shell, with whatever its startup files do.

A host runs every command through that shell. What a startup file prints would stand in front of a command's output, and
what it takes would count as the command's time. So the shell that is to take the command says a word first.
"""

import secrets

from ppagent.targets.remote.asking import tell

SHELL_S = 120.0
"""How long a login shell may take before its account counts as one that runs nothing."""
SLOW_S = 8.0
"""After that the person is told what is waited for."""
MOST_HELD = 1 << 16
"""Bytes that are kept of what was said in place of the word: a startup file may print without end."""
_WAITING = (
    """exec sh -c 'echo "$1"; echo "$1" >&2; read -r n || exit; """
    """c=$(head -c "$n"; echo .); eval "exec ${c%.}"' ppagent """
)
"""One line, since the login shell that reads it may be any. It ends when the connection does."""


def new_word() -> str:
    """The word of one connection, which nothing prints by chance."""
    return f"@@{secrets.token_hex(8)}"


def waiting(word: str) -> str:
    """The command line of a shell that says the word, on both outputs, and waits for a command."""
    return _WAITING + word


class Door:
    """The outputs of one session: shut until the word comes on each."""

    def __init__(self, word: str) -> None:
        self._word = f"{word}\n".encode()
        self._held = {False: b"", True: b""}
        self._open = {False: not word, True: not word}

    @property
    def open(self) -> bool:
        """Whether the shell has come to where it takes the command."""
        return self._open[False]

    @property
    def before(self) -> bytes:
        """What was said in place of the word: why no command was run."""
        return b"\n".join(held for shut, held in self._held.items() if held and not self._open[shut])

    def through(self, is_error: bool, piece: bytes) -> bytes:
        """The part of a piece that is the command's own."""
        if self._open[is_error]:
            return piece
        held = self._held[is_error] + piece
        _, found, rest = held.partition(self._word)
        self._held[is_error] = b"" if found else held[-MOST_HELD:]
        self._open[is_error] = bool(found)
        return rest


class Patience:
    """Tells once a connection that its host's shell keeps everybody waiting."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._told = False

    def say(self) -> None:
        if not self._told:
            self._told = True
            tell(
                f"the shell of the account on {self._name} takes long to start; look at what its startup files do "
                "(~/.bashrc, say). Each command waits for one, so this will take a while"
            )
