"""Our own load as a meter: it runs on without a break while the setting changes under it.

So the requests in flight at a change are part of the experiment: all of them must be answered.
"""

import asyncio
import threading
import time
from contextlib import suppress
from dataclasses import replace

from ppagent.bench.control import Control
from ppagent.bench.endpoint import Endpoint
from ppagent.bench.lag import TOO_LATE_MS, LagMonitor
from ppagent.bench.load import Load
from ppagent.bench.record import Request
from ppagent.bench.session import PromptSource
from ppagent.bench.shape import Shape
from ppagent.bench.smooth import smooth_rate
from ppagent.bench.steady import Window
from ppagent.errors import ToolError
from ppagent.evidence.counts import agreeing
from ppagent.trials.own_phase import phase_of
from ppagent.trials.phase import Phase

FOREVER_S = 7 * 24 * 3600.0
TICK_S = 0.05
LOOK_S = 1.0
MOST_FAILED_SHARE = 0.1
DRAIN_S = 120.0
SETTLED = 0.05
MOST_TURNOVERS = 3
"""Times the generations asked for: after that it is measured as it is, and the two old runs will tell."""


class OwnLoad:
    """A closed loop in a thread of its own."""

    def __init__(
        self,
        endpoint: Endpoint,
        shape: Shape,
        source: PromptSource,
        *,
        turnovers: int = 2,
        settle_limit_s: float = 300.0,
    ) -> None:
        self.shape = replace(shape, seconds=FOREVER_S, requests=None)
        self._endpoint, self._source = endpoint, source
        self._turnovers, self._settle_limit_s = turnovers, settle_limit_s
        self._control = Control(endpoint)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="load", daemon=True)
        self._ready = threading.Event()
        self._failed: BaseException | None = None
        self._load: Load | None = None
        self._lag = LagMonitor()
        self._over = asyncio.Event()
        self._drain_s = DRAIN_S
        self.at_change: list[Request] = []
        """Every request that was in flight when a change was made."""

    @property
    def describes(self) -> str:
        shape = self.shape
        return agreeing(
            f"own load: {shape.concurrency} requests at a time, {shape.input_tokens} tokens in, "
            f"{shape.output_tokens} out, think time {shape.think_s:g} s, greedy, "
            f"{self._source.name or 'random words'}"
        )

    @property
    def concurrency(self) -> int | None:
        return self.shape.concurrency

    @property
    def records(self) -> list[Request]:
        """Every request so far."""
        return list(self._load.records) if self._load is not None else []

    def start(self) -> None:
        self._thread.start()
        self._ready.wait()
        if self._failed is not None:
            raise ToolError(f"the load could not be started: {self._failed}") from self._failed

    def note_change(self) -> None:
        """Remembers who is in flight at this moment."""
        self.at_change += [record for record in self.records if not record.ended]

    def settle(self) -> str:
        """Lets whole generations of requests pass (all that were in flight at the start of one have ended), and further
        ones until two in a row go at the same speed: how requests share slots takes a while to become what it will be.
        """
        begin, speeds = time.perf_counter(), [0.0]
        while len(speeds) <= MOST_TURNOVERS * self._turnovers:
            since = time.perf_counter()
            if not self._generation(begin):
                return f"requests had not turned over after {self._settle_limit_s:.0f} s"
            rate = smooth_rate(self.records, Window(since, time.perf_counter()))
            speeds.append(rate.tokens_per_s if rate is not None else 0.0)
            if len(speeds) > self._turnovers and abs(speeds[-1] - speeds[-2]) <= SETTLED * speeds[-1]:
                break
        return agreeing(f"{len(speeds) - 1} generations of requests, {time.perf_counter() - begin:.0f} s")

    def _generation(self, begin: float) -> bool:
        """Waits until everything in flight now has ended; false where the time for settling is used up."""
        generation = [record for record in self.records if not record.ended] or self._after_first()
        while any(not record.ended for record in generation):
            self._look_after()
            if time.perf_counter() - begin > self._settle_limit_s:
                return False
            time.sleep(TICK_S)
        return True

    def measure(self, label: str, seconds: float) -> Phase:
        begin = time.perf_counter()
        running: list[int] = []
        looked = begin
        while time.perf_counter() - begin < seconds:
            self._look_after()
            time.sleep(TICK_S)
            if time.perf_counter() - looked >= LOOK_S:
                looked = time.perf_counter()
                running += self._slot_running()
        return phase_of(label, self.records, Window(begin, time.perf_counter()), running)

    def stop(self, *, wait: bool) -> None:
        if not self._thread.is_alive():
            return
        self._drain_s = DRAIN_S if wait else 0.0
        with suppress(RuntimeError):  # the load has ended by itself this moment, and its loop with it
            self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(self._drain_s + 10)

    @property
    def lost(self) -> list[Request]:
        """Requests that were in flight at a change and got no whole answer."""
        return [record for record in self.at_change if not record.succeeded]

    @property
    def lag_p99_ms(self) -> float:
        return self._lag.p99_ms

    @property
    def remarks(self) -> tuple[str, ...]:
        """What makes the figures mean less."""
        late = self._lag.p99_ms
        return (
            (f"the client was {late:.0f} ms late (p99), so part of the times are its own",)
            if late > TOO_LATE_MS
            else ()
        )

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve())
        except (ToolError, OSError) as error:
            self._failed = error
        finally:
            self._ready.set()
            self._loop.close()

    async def _serve(self) -> None:
        load = Load(self._endpoint, self.shape, self._source.prompts(self.shape))
        self._load = load
        await load.open()
        warmed = await load.warm_up()
        if all(record.error for record in warmed):
            raise ToolError(warmed[0].error)
        self._lag.start()
        load.start()
        self._ready.set()
        await self._over.wait()
        await load.drain(self._drain_s)
        await self._lag.stop()

    def _after_first(self) -> list[Request]:
        """All clients pausing at this moment: the requests that follow."""
        while not (there := [record for record in self.records if not record.ended]):
            self._look_after()
            time.sleep(TICK_S / 5)
        return there

    def _look_after(self) -> None:
        """Raises ToolError where the load has come to an end, or most of it fails."""
        if not self._thread.is_alive():
            raise ToolError(f"the load ended: {self._failed or 'unknown reason'}")
        last = self.records[-4 * (self.shape.concurrency or 1) :]
        ended = [record for record in last if record.ended]
        failed = [record for record in ended if record.error]
        if len(failed) > max(2, MOST_FAILED_SHARE * len(ended)):
            raise ToolError(f"{len(failed)} of the last {len(ended)} requests failed: {failed[-1].error}")

    def _slot_running(self) -> list[int]:
        try:
            loads = Control(self._endpoint, timeout_s=5).loads()
        except ToolError:  # a look beside the measurement: without it one column stays empty
            return []
        return [rank.slot_running for rank in loads.ranks if rank.slot_running]
