"""What the server itself saw of a level: its queue, a slot's fill, requests in flight, tokens, by its own counters.

`num_running_reqs` of `/v1/loads` is one micro-batch under pipeline parallelism (SGLang 0.5.8 to 0.5.23), so it is no
count of requests in flight. In flight is taken from the latency histogram by Little's law: the seconds that requests
spent, over the seconds that passed.
"""

import asyncio
from dataclasses import dataclass
from time import monotonic

from ppagent.bench.control import Control
from ppagent.bench.statistics import percentile
from ppagent.errors import ToolError
from ppagent.sglang.metrics import Scrape

POLL_S = 1.0


@dataclass(frozen=True)
class ServerSeen:
    """The server's side of a level; None where it does not tell, and `note` says why."""

    in_flight: float | None = None
    generated_tokens: int | None = None
    slot_running_p50: float | None = None
    slot_running_max: int | None = None
    waiting_max: int | None = None
    note: str = ""


@dataclass(frozen=True)
class Counters:
    """Counters of `/metrics` at one time (tokenizer side: not repeated by every stage)."""

    at: float
    latency_sum_s: float | None
    generated_tokens: float | None


class ServerWatch:
    """Looks at the server before, after, and once a second during a level."""

    def __init__(self, control: Control, poll_s: float = POLL_S) -> None:
        self._control = control
        self._poll_s = poll_s
        self._running: list[int] = []
        self._waiting: list[int] = []
        self._before: Counters | None = None
        self._notes: list[str] = []
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Takes the counters and begins to look."""
        self._running, self._waiting, self._notes = [], [], []
        self._before = await asyncio.to_thread(self._counters)
        self._task = asyncio.get_running_loop().create_task(self._poll())

    async def stop(self) -> ServerSeen:
        """What was seen."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        after = await asyncio.to_thread(self._counters)
        return self._seen(after)

    def _seen(self, after: Counters | None) -> ServerSeen:
        in_flight, tokens = None, None
        before = self._before
        if before is not None and after is not None:
            spent = grown(before.latency_sum_s, after.latency_sum_s)
            in_flight = None if spent is None else spent / max(after.at - before.at, 1e-9)
            made = grown(before.generated_tokens, after.generated_tokens)
            tokens = None if made is None else round(made)
        busy = [running for running in self._running if running]
        return ServerSeen(
            in_flight=in_flight,
            generated_tokens=tokens,
            slot_running_p50=percentile(busy, 50) if busy else None,
            slot_running_max=max(busy, default=None),
            waiting_max=max(self._waiting, default=None),
            note="; ".join(dict.fromkeys(self._notes)),
        )

    async def _poll(self) -> None:
        while True:
            await asyncio.sleep(self._poll_s)
            try:
                loads = await asyncio.to_thread(self._control.loads)
            except ToolError as error:
                self._notes.append(str(error))
                return
            running = [rank.slot_running for rank in loads.ranks if rank.slot_running is not None]
            if running:
                self._running.append(max(running))
            if loads.waiting is not None:
                self._waiting.append(loads.waiting)

    def _counters(self) -> Counters | None:
        try:
            scrape = self._control.metrics()
        except ToolError as error:
            self._notes.append(str(error))
            return None
        return counters_of(scrape)


def counters_of(scrape: Scrape) -> Counters:
    """The counters that a level is read from."""
    return Counters(
        monotonic(),
        total(scrape, "e2e_request_latency_seconds_sum"),
        total(scrape, "generation_tokens_total"),
    )


def total(scrape: Scrape, name: str) -> float | None:
    """A tokenizer-side counter, added up over its label sets."""
    series = scrape.series(name)
    return sum(sample.value for sample in series) if series else None


def grown(before: float | None, after: float | None) -> float | None:
    """The growth of a counter; None where it is unknown or was reset."""
    if before is None or after is None or after < before:
        return None
    return after - before
