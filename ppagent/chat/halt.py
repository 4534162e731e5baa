"""Ctrl-C while something runs: it ends the step at hand, and nothing else is begun.

Raising KeyboardInterrupt alone is not enough: code of a plugin may swallow it. So it is remembered as well, and looked
at before every further step.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Halt:
    """Whether the person has asked to stop since the work began."""

    def __init__(self) -> None:
        self.requested = False

    def check(self) -> None:
        """Raises KeyboardInterrupt once a stop was asked for."""
        if self.requested:
            raise KeyboardInterrupt

    @contextmanager
    def listening(self) -> Iterator[None]:
        """While it lasts, Ctrl-C is remembered and raised. Main thread only."""
        self.requested = False
        before = signal.signal(signal.SIGINT, self._interrupted)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        self.requested = True
        raise KeyboardInterrupt
