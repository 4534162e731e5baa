"""The person at the terminal: asked for what must not be shown, stored, or given on a command line, and told why
nothing happens."""

import getpass
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

AskSecret = Callable[[str], str]
"""Asks for something that is not shown while it is typed."""

_ONE_AT_A_TIME = threading.Lock()


@dataclass
class Stage:
    """The terminal that the question appears on."""

    aside: Callable[[], AbstractContextManager[object]] = nullcontext
    """Entered while a person is asked, by whoever paints on the terminal otherwise."""


STAGE = Stage()


def asker() -> AskSecret | None:
    """Who can be asked; None where nobody sits at a terminal."""
    return _ask if sys.stdin.isatty() and sys.stderr.isatty() else None


def tell(sentence: str) -> None:
    """Says on standard error what is being waited for, where nobody would know otherwise."""
    with _ONE_AT_A_TIME, STAGE.aside():
        sys.stderr.write(f"ppagent: {sentence}.\n")


def _ask(prompt: str) -> str:
    with _ONE_AT_A_TIME, STAGE.aside():
        return getpass.getpass(prompt, stream=sys.stderr)
