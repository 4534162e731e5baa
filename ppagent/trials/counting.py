"""Readings of one server's counters, one after the other, for as long as it is the same server and has traffic."""

import time

from ppagent.bench.control import Control
from ppagent.errors import ToolError
from ppagent.trials.reading import STREAMED, Reading, read, token_counters, went_back

SILENT_S = 60.0
"""So long no token means no traffic: a long prompt keeps a server from decoding for less. Told only where tokens are
counted as they are handed out."""


class Counting:
    """All by the same counters, which only grow."""

    def __init__(self, control: Control) -> None:
        self._control = control
        self._names: tuple[str, ...] = ()
        self._last: Reading | None = None
        self._moved_at = 0.0

    def choose(self) -> None:
        """Goes by what is best from here on; a server that has just begun tells less."""
        self._names, self._last = (), None

    def read(self) -> Reading:
        """The counters now. Raises ToolError where the server was restarted, its traffic stopped, or it tells
        nothing."""
        scrape = self._control.metrics()
        self._names = self._names or token_counters(scrape)
        now, last = read(scrape, time.monotonic(), self._names), self._last
        if last is not None and went_back(last, now):
            raise ToolError("the server's counters went back: it was restarted while it was measured")
        if last is None or now.tokens > last.tokens:
            self._moved_at = now.at
        silent_s = now.at - self._moved_at
        if self._names == STREAMED and silent_s > SILENT_S:
            raise ToolError(f"the traffic stopped: no token for {silent_s:.0f} s")
        self._last = now
        return now
