"""A scheduler under load: its batch lines and counters, turn by turn."""

from copy import deepcopy
from dataclasses import dataclass, field, replace

from ppagent_evals.writing.lines import Decode, Prefill
from ppagent_evals.writing.load import Counters, Load, Request
from ppagent_evals.writing.log import Log
from ppagent_evals.writing.memory import Memory
from ppagent_evals.writing.printing import Printer
from ppagent_evals.writing.server import batch_ranks


@dataclass
class Scheduler:
    """One scheduler (one data-parallel rank; all its stages) that writes into `log`."""

    log: Log
    dp: int | None = None
    counters: Counters = field(default_factory=Counters)
    snapshots: list[Counters] = field(default_factory=list)
    now: float = 0.0
    steps: int = 0
    slots: list[list[Request]] = field(default_factory=list)
    waiting: list[Request] = field(default_factory=list)
    _load: Load | None = None
    _partial: int = 0
    """Tokens of a prompt of which some chunks are done."""

    def __post_init__(self) -> None:
        args = self.log.server.arguments()
        self.capacity = Memory.of(self.log.server).tokens()
        self.ranks = [r for r in batch_ranks(self.log.server) if r.dp == self.dp]
        self.printer = Printer(self.log, self.ranks, self.capacity, (self.log.at, 0.0), (self.log.at, 7))
        self.interval = int(str(args["decode_log_interval"]))
        self.chunk = int(str(args["chunked_prefill_size"]))
        self.first_ratio = min(0.7 * float(str(args["schedule_conservativeness"])), 1.0)
        self.counters.new_token_ratio = self.first_ratio

    def serve(self, load: Load, seconds: float, *, scrape_every: float = 0.0, carry_on: bool = False) -> Counters:
        """Serves `load` from the log's present for `seconds`, and gives what was counted meanwhile.

        A new load starts with a burst into empty slots, unless it is to `carry_on` with the requests that run.
        """
        self.now = self.log.at
        before, end, next_scrape = deepcopy(self.counters), self.now + seconds, self.now + scrape_every
        before.at = self.now
        self._take(load, carry_on)
        while self.now < end:
            self._turn(load)
            if scrape_every and self.now >= next_scrape:
                self.snapshots.append(self._snapshot(load))
                next_scrape += scrape_every
        self.log.at = self.now
        return self._snapshot(load).since(before)

    def long_prompt(self, load: Load, tokens: int, ms_per_k: float) -> None:
        """A prompt of many chunks that ends with its first token: while it is computed nobody decodes."""
        self.now = self.log.at
        shortest = min(self.slots, key=len)
        self._prefill(
            replace(load, prefill_ms_per_k=ms_per_k), list(shortest), [Request(self.now, tokens, 1, 1)], alone=True
        )
        self.log.at = self.now

    @property
    def running(self) -> int:
        return sum(len(slot) for slot in self.slots)

    def _take(self, load: Load, carry_on: bool) -> None:
        if carry_on:
            missing = load.in_flight - self.running - len(self.waiting)
            self.waiting += [self._arrival(load, first=True) for _ in range(missing)]
            self._load = load
            self._fill(load)
        elif self._load is not load:
            self._load, self.slots = load, [[] for _ in load.slots]
            self.counters.new_token_ratio = self.first_ratio
            self.waiting = [self._arrival(load, first=True) for _ in range(load.in_flight)]
            self._fill(load, burst=load.first_alone)

    def _arrival(self, load: Load, first: bool = False) -> Request:
        low, high = load.output_len * (1 - load.spread), load.output_len * (1 + load.spread)
        target = max(2, round(self.log.rng.uniform(low, high)))
        request = Request(self.now, load.uncached, target, load.max_new or target)
        if first and load.spread:
            request.target = max(2, round(target * self.log.rng.uniform(0.35, 1.0)))
            request.earlier_s = (target - request.target) * load.turn(sum(load.slots)) / load.gain
        return request

    def _used(self, load: Load) -> int:
        own = sum(load.uncached + r.made for slot in self.slots for r in slot)
        return int(own) + self._partial + (load.cached_len if self.running else 0)

    def _turn(self, load: Load) -> None:
        filled = [slot for slot in self.slots if slot]
        if not filled:
            self.now += 0.01
            self._fill(load)
            return
        for slot in filled:
            took = load.turn(self.running) / len(filled) * (1 + load.jitter * self.log.rng.uniform(-1.6, 1.6))
            self._spend(load, took)
            self._decode(load, slot)
            self._finish(load, slot)
        self.counters.itl_sum_s += load.turn(self.running) * self.running
        low = 0.14 * self.first_ratio
        self.counters.new_token_ratio = max(self.counters.new_token_ratio - (self.first_ratio - low) / 600, low)
        if load.admit_by_kv and self._used(load) >= self.capacity:
            self._retract(load)
        self._fill(load)

    def _spend(self, load: Load, seconds: float) -> None:
        self.now += seconds
        self.counters.running_s += self.running * seconds
        busy = self.counters.busy_s or [0.0] * len(load.occupancy)
        self.counters.busy_s = [b + seconds * share / 100 for b, share in zip(busy, load.occupancy, strict=True)]

    def _decode(self, load: Load, slot: list[Request]) -> None:
        for request in slot:
            request.made += load.gain
        self.counters.generated += load.gain * len(slot)
        graph = load.steps_from_graph(len(slot))
        self.counters.graph_passes += graph
        self.counters.eager_passes += not graph
        self.steps += 1
        if self.steps % self.interval:
            return
        speed = self.printer.speed(self.now, self.counters.generated)
        self.counters.tokens_per_s, self.counters.retracted_lately = speed, 0
        usage = self.printer.usage(self._used(load), self.running, decode=True)
        batch = Decode(len(slot), usage, graph, speed, len(self.waiting), load.accept)
        self.printer.decode(load, batch, self.now)

    def _finish(self, load: Load, slot: list[Request]) -> None:
        done = [r for r in slot if r.made >= r.target]
        slot[:] = [r for r in slot if r.made < r.target]
        for request in done:
            self.counters.finished += 1
            self.counters.e2e_sum_s += self.now - request.arrived + request.earlier_s
            if self.running + len(self.waiting) < load.in_flight:
                self.waiting.append(self._arrival(load))
            self.printer.answered(self.now, 40000 + int(request.arrived * 37 + request.target) % 20000)

    def _retract(self, load: Load) -> None:
        slot = max(self.slots, key=len)
        slot.sort(key=lambda r: r.made)
        out = slot[: max(1, len(slot) // 10)]
        del slot[: len(out)]
        old = self.counters.new_token_ratio
        made, wanted = sum(r.made for r in slot), sum(r.max_new for r in slot)
        self.counters.new_token_ratio = min(1.0, (made + 20 * len(slot)) / max(wanted, 1))
        self.counters.retracted += len(out)
        self.counters.retracted_lately += len(out)
        freed = int(sum(load.uncached + r.made for r in out))
        self.printer.retraction(self.now, len(out), freed, (old, self.counters.new_token_ratio))
        for request in out:
            request.prompt = load.uncached + int(request.made)
        self.waiting[:0] = out

    def _fits(self, load: Load, request: Request) -> bool:
        if not load.admit_by_kv:
            return True
        left = sum(min(r.max_new - r.made, 4096) for slot in self.slots for r in slot)
        reserve = left * self.counters.new_token_ratio
        return self._used(load) + reserve + request.prompt + min(request.max_new, 4096) < self.capacity

    def _fill(self, load: Load, burst: bool = False) -> None:
        """Prefills what waits, slot by slot, in batches of at most a chunk."""
        for slot, room in zip(self.slots, load.slots, strict=True):
            while self.waiting and len(slot) < room and self._fits(load, self.waiting[0]):
                batch = [self.waiting.pop(0)]
                while not burst and not load.admit_by_kv and self._joins(batch, room - len(slot)):
                    batch.append(self.waiting.pop(0))
                self._prefill(load, slot, batch, alone=burst)
                burst = False

    def _joins(self, batch: list[Request], room: int) -> bool:
        """Whether the next request goes into the same prefill batch."""
        if not self.waiting or len(batch) >= room:
            return False
        return self.chunk <= 0 or sum(r.prompt for r in batch) + self.waiting[0].prompt <= self.chunk

    def _prefill(self, load: Load, slot: list[Request], batch: list[Request], *, alone: bool) -> None:
        left = tokens = sum(request.prompt for request in batch)
        cached, queue = load.cached_len * len(batch), 0 if alone else len(self.waiting)
        while left > 0:
            part = min(left, self.chunk) if self.chunk > 0 else left
            left -= part
            usage = self.printer.usage(self._used(load), self.running, decode=False)
            graph, pending = self.log.server.prefill_graphs and part <= 8192, left + queue * load.uncached
            shown = Prefill(len(batch), part, cached, usage, len(slot), queue, pending, graph)
            took = part * load.prefill_ms_per_k / 1e6
            self.printer.prefill(load, shown, self.now, self.now + took)
            self._spend(load, took)
            self._partial += part
            self.counters.hit_rate = cached / max(cached + part, 1)
            self.counters.cached_tokens += cached
            cached = 0
        self._started(load, batch, tokens)
        slot.extend(batch)

    def _started(self, load: Load, batch: list[Request], tokens: int) -> None:
        self._partial = 0
        self.counters.prompt_tokens += tokens + load.cached_len * len(batch)
        self.counters.prefills += len(batch)
        for request in batch:
            waited = self.now - request.arrived
            self.counters.ttft_sum_s += waited
            self.counters.queue_sum_s += max(waited - tokens * load.prefill_ms_per_k / 1e6, 0)

    def _snapshot(self, load: Load) -> Counters:
        self.counters.at, self.counters.running = self.now, max(len(slot) for slot in self.slots)
        self.counters.queue, self.counters.used_tokens = len(self.waiting), self._used(load)
        self.counters.occupancy = load.occupancy
        self.counters.accept_len = load.accept[0] if load.accept else 0.0
        return deepcopy(self.counters)
