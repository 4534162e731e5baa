"""Signals that tell a program to end."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def told_to_end() -> Iterator[list[int]]:
    """Inside, SIGTERM and SIGHUP unwind the program as Ctrl-C does, so that nothing is left behind; gives those that
    came. A signal that the program was started without (`nohup`) stays ignored."""
    came: list[int] = []

    def end(number: int, _frame: FrameType | None) -> None:
        came.append(number)
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield came
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    heard = [number for number in _SIGNALS if before[number] is signal.SIG_DFL]
    for number in heard:
        signal.signal(number, end)
    try:
        yield came
    finally:
        for number in heard:
            signal.signal(number, before[number])
