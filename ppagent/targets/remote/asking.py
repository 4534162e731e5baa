"""Asking the person at the terminal for what must not be shown, stored, or given on a command line."""

import getpass
import sys
import threading
from collections.abc import Callable

AskSecret = Callable[[str], str]
"""Asks for something that is not shown while it is typed."""

_ONE_AT_A_TIME = threading.Lock()


def asker() -> AskSecret | None:
    """Who can be asked; None where nobody sits at a terminal."""
    return _ask if sys.stdin.isatty() and sys.stderr.isatty() else None


def _ask(prompt: str) -> str:
    with _ONE_AT_A_TIME:
        return getpass.getpass(prompt, stream=sys.stderr)
