"""SGLang's pipeline loop, event by event: what the closed form leaves out.

Each stage runs one scheduling pass for each slot in turn (SGLang 0.5.7+, scheduler_pp_mixin.py: event_loop_pp): take
new requests, schedule the slot, take the hidden states' message, launch, take the tokens of the *oldest* slot and wait
for them, hand the micro-batch on. Stage k is one pass behind stage k - 1, so passes are worked off as a wave: in wave t
stage k runs pass t - k. A stage cannot run ahead of the next: its messages are awaited before the pass after, and the
next stage takes them only at the start of its own (_pp_commit_comm_work over a gloo group, whose sends wait for the
receiver). So even passes over empty slots take a launch each while a batch is on its way, long enough for an arrival to
fall into one. Times are milliseconds.
"""

import heapq
import random

from ppagent.model.admission import Batch, Scheduler
from ppagent.model.ring import Ring
from ppagent.model.tally import Outcome, Tally
from ppagent.model.workload import Admission, Launch, Load, Request

IDLE_PASS_MS = 0.05


def simulate(
    ring: Ring,
    load: Load,
    admission: Admission,
    *,
    seconds: float = 10.0,
    warm_up_s: float = 2.0,
    prefill_token_ms: float = 0.0,
    launch: Launch = Launch.OVERLAPS,
    seed: int = 0,
) -> Outcome:
    """Serve `load` for `seconds` after `warm_up_s` and say what came out.

    `prefill_token_ms` is the device time of one prompt token on one stage, `launch` how CPU and device overlap.
    """
    run = _Run(ring, load, admission, prefill_token_ms, launch, random.Random(seed), warm_up_s * 1000.0)
    run.until((warm_up_s + seconds) * 1000.0)
    return run.tally.outcome(run.host[0])


class _Run:
    """State of one run. Attributes are lists indexed by stage."""

    def __init__(
        self,
        ring: Ring,
        load: Load,
        admission: Admission,
        prefill_token_ms: float,
        launch: Launch,
        draw: random.Random,
        warm_ms: float,
    ) -> None:
        count = len(ring.stages)
        self.ring, self.load, self.draw, self.launch = ring, load, draw, launch
        self.prefill_token_ms = prefill_token_ms
        self.scheduler = Scheduler(ring.slots, admission)
        self.launch_ms = [stage.host_ms for stage in ring.stages]
        self.half_ms = ring.bookkeeping_ms / 2
        self.host, self.free = [0.0] * count, [0.0] * count
        self.handed, self.relayed = [0.0] * count, [0.0] * count
        self.passes: list[Batch | None] = [None] * (ring.slots + count)
        self.in_flight = 0
        self.work_of: dict[int, list[float]] = {}
        self.arrivals = load.first_arrivals(draw)
        self.serial = load.clients
        self.held = 0
        self.tally = Tally(warm_ms, count)

    def until(self, end_ms: float) -> None:
        """Run waves until stage 0's clock passes `end_ms`."""
        wave, slots, size = 0, self.ring.slots, len(self.passes)
        last, oldest = len(self.host) - 1, slots - 1
        deep = self.ring.async_depth > 0
        begin = self._exchange_first if deep else self._launch
        collect = self._launch_and_collect if deep else self._collect
        while self.host[0] < end_ms:
            if wave % slots == 0:
                self.tally.sample_fill(self.host[0], self.scheduler.slots)
            if self.in_flight:
                self._keep_step()
            self.passes[wave % size] = self._schedule(wave % slots)
            if self.in_flight:
                for k in range(last, -1, -1):
                    begin(k, self.passes[(wave - k) % size])
                for k in range(last + 1):
                    collect(k, self.passes[(wave - k) % size], self.passes[(wave - oldest - k) % size])
            wave += 1

    def _keep_step(self) -> None:
        """No stage begins its pass before the next stage, one pass behind, begins its own."""
        host = self.host
        for k in range(len(host) - 1):
            if host[k] < host[k + 1]:
                host[k] = host[k + 1]

    def _schedule(self, index: int) -> Batch | None:
        now = self.host[0]
        arrivals = self.arrivals
        if not self.in_flight and not self.scheduler.waiting and arrivals and arrivals[0][0] > now:
            now = self.host[0] = arrivals[0][0]
        while arrivals and arrivals[0][0] <= now:
            arrived_ms, _ = heapq.heappop(arrivals)
            request = Request(arrived_ms, self.load.prompt_tokens, self.load.length(self.draw))
            self.scheduler.waiting.append(request)
        batch = self.scheduler.next_batch(self.scheduler.slots[index])
        if batch is None:
            self.host[0] = now + IDLE_PASS_MS
            return None
        batch.work_ms = self._work(batch)
        self.in_flight += 1
        return batch

    def _work(self, batch: Batch) -> list[float]:
        stages = self.ring.stages
        if batch.prompt_tokens:
            prompt_ms = self.prefill_token_ms * batch.prompt_tokens
            return [stage.base_ms + prompt_ms for stage in stages]
        count = len(batch.requests)
        if count not in self.work_of:
            self.work_of[count] = [stage.device_ms(count) for stage in stages]
        return self.work_of[count]

    def _launch(self, k: int, batch: Batch | None) -> None:
        """Depth 0, first half of a pass: launch, then pass the last round's tokens on."""
        if batch is not None:
            self._forward(k, batch, self._take_hidden(k), 0.0)
        self.relayed[k] = self.host[k]

    def _collect(self, k: int, batch: Batch | None, oldest: Batch | None) -> None:
        """Depth 0, second half: wait for the oldest slot's tokens, handle them, hand this micro-batch on."""
        if oldest is not None:
            hop_ms = self.ring.hop_ms
            told = self.relayed[k - 1] + hop_ms
            self._result(k, oldest, max(self.host[k], told, self._arrival_ms(k, oldest)))
        if batch is not None:
            self.handed[k] = self.host[k]

    def _exchange_first(self, k: int, batch: Batch | None) -> None:
        """Depth above 0: tokens are passed on before the launch (`pp_async_batch_depth`)."""
        if batch is not None:
            self.host[k] = self._take_hidden(k)
        self.relayed[k] = self.host[k]

    def _launch_and_collect(self, k: int, batch: Batch | None, oldest: Batch | None) -> None:
        arrival_ms = 0.0
        if oldest is not None:
            self.host[k] = max(self.host[k], self.relayed[k - 1] + self.ring.hop_ms)
            arrival_ms = self._arrival_ms(k, oldest)
        if batch is not None:
            # The receive of the oldest slot's tokens sits in front of this forward on a real device.
            behind_ms = 0.0 if self.launch is Launch.EMULATED else arrival_ms
            self._forward(k, batch, self.host[k], behind_ms)
        if oldest is not None:
            self._result(k, oldest, max(self.host[k], arrival_ms))
        if batch is not None:
            self.handed[k] = self.host[k]

    def _take_hidden(self, k: int) -> float:
        ready_ms = self.host[k] + self.half_ms
        return ready_ms if k == 0 else max(ready_ms, self.handed[k - 1] + self.ring.hop_ms)

    def _arrival_ms(self, k: int, oldest: Batch) -> float:
        return oldest.done_ms + self.ring.return_ms + self.ring.hop_ms * (k + 1)

    def _forward(self, k: int, batch: Batch, host_ms: float, not_before_ms: float) -> None:
        work_ms = batch.work_ms[k]
        launched_ms = host_ms + self.launch_ms[k]
        start_ms = max(host_ms, self.free[k], not_before_ms)
        if k:
            start_ms = max(start_ms, batch.done_ms + self.ring.hop_ms)
        end_ms = max(start_ms + work_ms, launched_ms)
        self.free[k] = batch.done_ms = end_ms
        self.host[k] = end_ms if self.launch is Launch.BLOCKS else launched_ms
        if end_ms > self.tally.since_ms:
            self.tally.busy_ms[k] += work_ms

    def _result(self, k: int, batch: Batch, now_ms: float) -> None:
        self.host[k] = now_ms + self.half_ms
        if k == 0:
            self._emit(batch, self.host[0])
        if k == len(self.host) - 1:
            self.in_flight -= 1

    def _emit(self, batch: Batch, now: float) -> None:
        tally = self.tally
        counted = now > tally.since_ms
        joining = batch.prompt_tokens > 0
        for request in batch.requests:
            if request is batch.unfinished:
                continue
            if joining:
                batch.slot.running.append(request)
            if counted:
                tally.token(request, now, joining)
            request.last_ms = now
            request.left -= 1
            if request.left == 0:
                self.scheduler.leave(batch.slot, request)
                self._answered(now)

    def _answered(self, now: float) -> None:
        self.held += 1
        if self.load.lockstep and self.held < self.load.clients:
            return
        for index in range(self.held):
            again_ms = now + self.load.pause_ms(self.draw) + index * self.load.gap_ms
            heapq.heappush(self.arrivals, (again_ms, self.serial))
            self.serial += 1
        self.held = 0
