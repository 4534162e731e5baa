"""The keyboard while ppagent is at work: what is typed meanwhile waits for the next message, is not echoed into what
moves on the screen, and never answers a question that did not stand there yet."""

import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager

LOCAL_FLAGS = 3
"""Place of the local modes in what `tcgetattr` returns."""


@contextmanager
def hushed() -> Iterator[None]:
    """While it lasts the terminal echoes nothing; Ctrl-C works as ever."""
    if not sys.stdin.isatty():
        yield
        return
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    quiet = list(before)
    quiet[LOCAL_FLAGS] = before[LOCAL_FLAGS] & ~termios.ECHO
    termios.tcsetattr(descriptor, termios.TCSADRAIN, quiet)
    try:
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def drop_typed() -> None:
    """Forgets what was typed and not read yet."""
    if sys.stdin.isatty():
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
