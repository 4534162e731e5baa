"""Fetching before anybody asks, so that what takes a round trip or a while is waited for side by side."""

import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import IO

from ppagent.errors import PpagentError, ToolError
from ppagent.targets.remote.once import Once


def in_background(*work: Callable[[], object]) -> None:
    """Starts each piece of work in a thread of its own, which keeps nobody from leaving. Each keeps what it fetches
    where it is asked for, and what it fails with too, so that this is said to whoever asks."""
    for each in work:
        threading.Thread(target=_quietly, args=(each,), name="ppagent-ahead", daemon=True).start()


def _quietly(work: Callable[[], object]) -> None:
    with suppress(PpagentError):
        work()


class LogAhead:
    """A log that may be fetched before it is asked for. What was fetched so is read once; whoever asks again gets what
    the log holds by then."""

    def __init__(self, fetch: Callable[[], Iterator[bytes]]) -> None:
        self._fetch = fetch
        self._lock = threading.Lock()
        self._begun: Once | None = None

    def begin(self) -> None:
        """Begins to fetch it, unless that is under way or not yet read."""
        with self._lock:
            if self._begun is not None:
                return
            begun = self._begun = Once()
        in_background(lambda: begun.get("log", self._spooled))

    def lines(self) -> Iterator[bytes]:
        with self._lock:
            begun, self._begun = self._begun, None
        return self._fetch() if begun is None else _read(begun.get("log", self._spooled))

    def _spooled(self) -> IO[bytes]:
        """The log in a file of this machine that has no name."""
        spool = tempfile.TemporaryFile(prefix="ppagent-log-")  # noqa: SIM115 - whoever reads it closes it
        try:
            spool.writelines(self._fetch())
        except OSError as error:
            spool.close()
            raise ToolError(f"the log cannot be held on this machine: {error.strerror or error}") from error
        return spool


def _read(spool: IO[bytes]) -> Iterator[bytes]:
    with spool:
        spool.seek(0)
        yield from spool
