"""How late the client itself is: an event loop that is late stamps tokens late, and blames the server for it."""

import asyncio
from dataclasses import dataclass, field
from time import perf_counter, thread_time

from ppagent.bench.statistics import percentile

TICK_S = 0.01
TOO_LATE_MS = 50.0
"""Above this (p99) the figures are the client's, not the server's."""


@dataclass
class LagMonitor:
    """Wakes every 10 ms and notes by how much it came late, and how much of that its own work explains: what is beyond
    the processor time used meanwhile was spent waiting for a processor that others had."""

    late_s: list[float] = field(default_factory=list)
    own_s: list[float] = field(default_factory=list)
    _task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._watch())

    async def stop(self) -> None:
        if self._task is None:
            return
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        self._task = None

    @property
    def p99_ms(self) -> float:
        return 1000 * percentile(self.late_s, 99)

    @property
    def own_p99_ms(self) -> float:
        """The part of it that the client's own work explains."""
        return 1000 * percentile(self.own_s, 99)

    @property
    def max_ms(self) -> float:
        return 1000 * max(self.late_s, default=0.0)

    async def _watch(self) -> None:
        while True:
            due, used = perf_counter() + TICK_S, thread_time()
            await asyncio.sleep(TICK_S)
            late = max(0.0, perf_counter() - due)
            self.late_s.append(late)
            self.own_s.append(min(late, thread_time() - used))
