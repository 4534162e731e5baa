"""Signals that end a process, while something on a server has to be put back first."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class Ended(KeyboardInterrupt):
    """The process was told to end by a signal; handled as Ctrl-C is."""


Handler = Callable[[int, FrameType | None], object]


@contextmanager
def signals_as_interrupts() -> Iterator[None]:
    """Inside, SIGTERM and SIGHUP unwind the program as Ctrl-C does, so that what was changed is put back. Whoever runs
    the program may have seen to that already, and keeps count of what came."""

    def end(number: int, frame: FrameType | None) -> None:
        raise Ended

    with _handling(tuple(number for number in ENDING_SIGNALS if not callable(signal.getsignal(number))), end):
        yield


@contextmanager
def signals_put_off() -> Iterator[None]:
    """A signal that comes meanwhile takes effect afterwards; a second one does not wait, and the note stays."""
    came: list[int] = []

    def wait(number: int, frame: FrameType | None) -> None:
        came.append(number)
        if len(came) > 1:
            raise Ended

    with _handling((signal.SIGINT, *ENDING_SIGNALS), wait):
        yield
    if came:
        if callable(signal.getsignal(came[0])):
            signal.raise_signal(came[0])
        raise Ended


@contextmanager
def _handling(numbers: tuple[signal.Signals, ...], handler: Handler) -> Iterator[None]:
    """Only the main thread can take signals; in another one they are left alone. What is ignored (`nohup`) stays so."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, handler) for number in heard}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)
