"""Ctrl-C while something runs: it ends the step at hand, and nothing else is begun. SIGTERM and SIGHUP end it too, and
then the session.

Raising KeyboardInterrupt alone is not enough: code of a plugin may swallow it. So it is remembered as well, and looked
at before every further step.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

ENDING = (signal.SIGTERM, signal.SIGHUP)


class Halt:
    """Whether the person has asked to stop since the work began, and whether the process was told to end."""

    def __init__(self) -> None:
        self.requested = False
        self.ended_by = 0
        """The signal that told the process to end; 0 while none did."""

    def check(self) -> None:
        """Raises KeyboardInterrupt once a stop was asked for."""
        if self.requested:
            raise KeyboardInterrupt

    @contextmanager
    def listening(self) -> Iterator[None]:
        """While it lasts, Ctrl-C is remembered and raised. Main thread only."""
        self.requested = bool(self.ended_by)
        before = signal.signal(signal.SIGINT, self._interrupted)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    @contextmanager
    def told_to_end(self) -> Iterator[None]:
        """While it lasts, a signal that ends a process unwinds it as Ctrl-C does, so that what was begun is put back,
        the terminal is as it was, and nothing is left running. One that is ignored (`nohup`) stays so."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.getsignal(number) for number in ENDING}
        heard = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
        for number in heard:
            signal.signal(number, self._ended)
        try:
            yield
        finally:
            for number in heard:
                signal.signal(number, before[number])

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        self.requested = True
        raise KeyboardInterrupt

    def _ended(self, number: int, frame: FrameType | None) -> None:
        self.requested, self.ended_by = True, number
        raise KeyboardInterrupt
