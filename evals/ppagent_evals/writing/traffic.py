"""A scheduler under load: its batch lines and counters, turn by turn."""

from copy import deepcopy
from dataclasses import dataclass, field, replace

from ppagent_evals.writing.lines import Decode, Prefill, decode_line, prefill_line
from ppagent_evals.writing.load import Counters, Load
from ppagent_evals.writing.log import Log
from ppagent_evals.writing.memory import Memory
from ppagent_evals.writing.startup import batch_ranks
from ppagent_evals.writing.versions import since


@dataclass
class Request:
    """One request. `prompt` tokens are still to be computed when it waits."""

    arrived: float
    prompt: int
    target: int
    max_new: int
    made: float = 0.0
    earlier_s: float = 0.0
    """How long it counts as served before it was seen, so that latencies are not those of short requests alone."""


@dataclass
class Scheduler:
    """One scheduler (one data-parallel rank; all its stages) that writes into `log`."""

    log: Log
    dp: int | None = None
    counters: Counters = field(default_factory=Counters)
    snapshots: list[Counters] = field(default_factory=list)
    quiet: bool = False
    now: float = 0.0
    steps: int = 0
    slots: list[list[Request]] = field(default_factory=list)
    waiting: list[Request] = field(default_factory=list)
    _load: Load | None = None
    _partial: int = 0
    """Tokens of a prompt of which some chunks are done."""
    _since_line: tuple[float, float] = (0.0, 0.0)
    _last_prefill: tuple[float, int] = (0.0, 0)

    def __post_init__(self) -> None:
        self.memory = Memory.of(self.log.server)
        self.capacity = self.memory.tokens()
        self.ranks = [r for r in batch_ranks(self.log.server) if r.dp == self.dp]
        self.interval = int(str(self.log.server.arguments()["decode_log_interval"]))
        conservativeness = float(str(self.log.server.arguments()["schedule_conservativeness"]))
        self.first_ratio = min(0.7 * conservativeness, 1.0)
        self.counters.new_token_ratio = self.first_ratio
        self._last_prefill = (self.log.at, 7)
        self._since_line = (self.log.at, 0.0)

    def serve(self, load: Load, seconds: float, *, scrape_every: float = 0.0, carry_on: bool = False) -> Counters:
        """Serves `load` from the log's present for `seconds`, and gives what was counted meanwhile.

        A new load starts with a burst into empty slots, unless it is to `carry_on` with the requests that run.
        """
        self.now = self.log.at
        before, end, next_scrape = deepcopy(self.counters), self.now + seconds, self.now + scrape_every
        before.at = self.now
        if carry_on:
            self._load = load
            missing = load.in_flight - self.running - len(self.waiting)
            self.waiting += [self._arrival(load, first=True) for _ in range(missing)]
            self._fill(load)
        elif self._load is not load:
            self._load, self.slots = load, [[] for _ in load.slots]
            self.counters.new_token_ratio = self.first_ratio
            self.waiting = [self._arrival(load, first=True) for _ in range(load.in_flight)]
            self._fill(load, burst=load.first_alone)
        while self.now < end:
            self._turn(load)
            if scrape_every and self.now >= next_scrape:
                self.snapshots.append(self._snapshot(load))
                next_scrape += scrape_every
        done = _difference(before, self._snapshot(load))
        self.log.at = self.now
        return done

    def long_prompt(self, load: Load, tokens: int, ms_per_k: float) -> None:
        """A prompt of many chunks that ends with its first token: while it is computed nobody decodes."""
        slower = replace(load, prefill_ms_per_k=ms_per_k)
        chunk = int(str(self.log.server.arguments()["chunked_prefill_size"]))
        self.now = self.log.at
        slot = min(self.slots, key=len)
        self._prefill(slower, list(slot), [Request(self.now, tokens, 1, 1)], tokens, chunk, alone=True)
        self.log.at = self.now

    @property
    def running(self) -> int:
        return sum(len(slot) for slot in self.slots)

    def _arrival(self, load: Load, first: bool = False) -> Request:
        low, high = load.output_len * (1 - load.spread), load.output_len * (1 + load.spread)
        target = max(2, round(self.log.rng.uniform(low, high)))
        request = Request(self.now, load.uncached, target, load.max_new or target)
        if first and load.spread:
            request.target = max(2, round(target * self.log.rng.uniform(0.35, 1.0)))
            request.earlier_s = (target - request.target) * load.turn(sum(load.slots)) / _gain(load)
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
            self.now += took
            self.counters.running_s += self.running * took
            self._busy(load, took)
            self._decode(load, slot)
            self._finish(load, slot)
        self.counters.itl_sum_s += load.turn(self.running) * self.running
        low = 0.14 * self.first_ratio
        self.counters.new_token_ratio = max(self.counters.new_token_ratio - (self.first_ratio - low) / 600, low)
        if load.admit_by_kv and self._used(load) >= self.capacity:
            self._retract(load)
        self._fill(load)

    def _busy(self, load: Load, seconds: float) -> None:
        busy = self.counters.busy_s or [0.0] * len(load.occupancy)
        self.counters.busy_s = [b + seconds * share / 100 for b, share in zip(busy, load.occupancy, strict=True)]

    def _decode(self, load: Load, slot: list[Request]) -> None:
        gain = _gain(load)
        for request in slot:
            request.made += gain
        self.counters.generated += gain * len(slot)
        graph = load.steps_from_graph(len(slot))
        self.counters.graph = graph
        self.counters.graph_passes += graph
        self.counters.eager_passes += not graph
        self.steps += 1
        if self.steps % self.interval == 0:
            self._decode_lines(load, len(slot), graph)

    def _decode_lines(self, load: Load, running: int, graph: bool) -> None:
        then, made = self._since_line
        speed = (self.counters.generated - made) / max(self.now - then, 1e-6)
        self._since_line = (self.now, self.counters.generated)
        self.counters.tokens_per_s, used = speed, self._used(load)
        self.counters.retracted_lately = 0
        if self.quiet:
            return
        usage = self._usage(used, decode=True)
        accept = load.accept
        if accept is not None:
            wander = 1 + self.log.rng.uniform(-0.03, 0.03)
            accept = (max(accept[0] * wander, 1.0), accept[1] * wander)
        for rank in self.ranks:
            shown = speed * (1 + (self.log.rng.uniform(-0.002, 0.002) if rank.pp else 0))
            busy = self._occupancy(load, rank.pp)
            batch = Decode(running, usage, graph, shown, len(self.waiting), accept, occupancy=busy)
            self.log.line(decode_line(self.log.server.version, batch), rank, self.now)

    def _usage(self, used: int, decode: bool) -> str:
        """The fields of the pools: one pool, or the two of a hybrid with linear attention."""
        share = f"token usage: {used / self.capacity:.2f}, "
        if not self.log.server.mamba_slots:
            return f"#token: {used}, {share}" if decode else share
        states = self.running
        usage = f"mamba usage: {states / self.log.server.mamba_slots:.2f}, "
        if not decode:
            return f"full {share}{usage}"
        return f"#full token: {used}, full {share}mamba num: {states}, {usage}"

    def _occupancy(self, load: Load, stage: int) -> float | None:
        if not load.occupancy or self.log.server.env.get("SGLANG_ENABLE_METRICS_DEVICE_TIMER") != "1":
            return None
        return min(load.occupancy[stage] + self.log.rng.uniform(-0.8, 0.8), 100.0)

    def _finish(self, load: Load, slot: list[Request]) -> None:
        done = [r for r in slot if r.made >= r.target]
        slot[:] = [r for r in slot if r.made < r.target]
        for request in done:
            self.counters.finished += 1
            self.counters.e2e_sum_s += self.now - request.arrived + request.earlier_s
            if self.running + len(self.waiting) < load.in_flight:
                self.waiting.append(self._arrival(load))
            if not self.quiet:
                port = 40000 + int(request.arrived * 37 + request.target) % 20000
                self.log.line(f'INFO:     10.0.0.12:{port} - "POST /v1/chat/completions HTTP/1.1" 200 OK', at=self.now)

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
        gained = f", #new_tokens_gained: {freed}" if since(self.log.server.version, "0.5.7") else ""
        text = (
            f"KV cache pool is full. Retract requests. #retracted_reqs: {len(out)}{gained}, "
            f"#new_token_ratio: {old:.4f} -> {self.counters.new_token_ratio:.4f}"
        )
        for rank in [] if self.quiet else self.ranks:
            self.log.line(text, rank, self.now)
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
        chunk = int(str(self.log.server.arguments()["chunked_prefill_size"]))
        for slot, room in zip(self.slots, load.slots, strict=True):
            while self.waiting and len(slot) < room and self._fits(load, self.waiting[0]):
                batch = [self.waiting.pop(0)]
                tokens = batch[0].prompt
                while (
                    not burst
                    and self.waiting
                    and len(slot) + len(batch) < room
                    and (chunk <= 0 or tokens + self.waiting[0].prompt <= chunk)
                    and not load.admit_by_kv
                ):
                    batch.append(self.waiting.pop(0))
                    tokens += batch[-1].prompt
                alone, burst = burst, False
                self._prefill(load, slot, batch, tokens, chunk, alone)

    def _prefill(
        self, load: Load, slot: list[Request], batch: list[Request], tokens: int, chunk: int, alone: bool
    ) -> None:
        left, cached = tokens, load.cached_len * len(batch)
        queue = 0 if alone else len(self.waiting)
        while left > 0:
            now_tokens = min(left, chunk) if chunk > 0 else left
            left -= now_tokens
            shown = Prefill(
                len(batch), now_tokens, cached, self._usage(self._used(load), decode=False), len(slot),
                queue, left + queue * load.uncached, self._prefill_graph(now_tokens),
            )  # fmt: skip
            late = since(self.log.server.version, "0.5.9")
            took = now_tokens * load.prefill_ms_per_k / 1e6
            self._prefill_lines(load, shown, self.now + (took if late else 0))
            self.now += took
            self._partial += now_tokens
            self.counters.running_s += self.running * took
            self._busy(load, took)
            self.counters.hit_rate = cached / max(cached + now_tokens, 1)
            self.counters.cached_tokens += cached
            cached = 0
        self.counters.prompt_tokens += tokens + load.cached_len * len(batch)
        self.counters.prefills += len(batch)
        self._partial = 0
        for request in batch:
            self.counters.ttft_sum_s += self.now - request.arrived
            self.counters.queue_sum_s += max(self.now - request.arrived - tokens * load.prefill_ms_per_k / 1e6, 0)
        slot.extend(batch)

    def _prefill_graph(self, tokens: int) -> bool:
        return self.log.server.prefill_graphs and 0 < tokens <= 8192

    def _prefill_lines(self, load: Load, batch: Prefill, at: float) -> None:
        then, tokens = self._last_prefill
        speed = tokens / max(at - then, 1e-3)
        self._last_prefill = (at, batch.new_token)
        for rank in [] if self.quiet else self.ranks:
            shown = Prefill(**{**vars(batch), "input_tokens_per_s": speed, "occupancy": self._occupancy(load, rank.pp)})
            self.log.line(prefill_line(self.log.server.version, shown), rank, at)

    def _snapshot(self, load: Load) -> Counters:
        self.counters.at, self.counters.running = self.now, max(len(slot) for slot in self.slots)
        self.counters.queue, self.counters.used_tokens = len(self.waiting), self._used(load)
        self.counters.occupancy = load.occupancy
        self.counters.accept_len = load.accept[0] if load.accept else 0.0
        return deepcopy(self.counters)


def _gain(load: Load) -> float:
    """Tokens that a request gains a turn."""
    return load.accept[0] if load.accept else 1.0


def together(
    log: Log,
    loads: list[tuple[Scheduler, Load]],
    seconds: float,
    *,
    scrape_every: float = 0.0,
    carry_on: bool = False,
) -> list[Counters]:
    """Data-parallel schedulers serving at the same time."""
    begun, done, end = log.at, [], log.at
    for scheduler, load in loads:
        log.at = begun
        done.append(scheduler.serve(load, seconds, scrape_every=scrape_every, carry_on=carry_on))
        end = max(end, log.at)
    log.at = end
    return done


def _difference(before: Counters, after: Counters) -> Counters:
    """What happened between two moments; gauges are those of the later one."""
    counted = (
        "at", "prompt_tokens", "cached_tokens", "generated", "finished", "graph_passes", "eager_passes", "prefills",
        "retracted",
        "running_s", "itl_sum_s", "ttft_sum_s", "e2e_sum_s", "queue_sum_s",
    )  # fmt: skip
    done = deepcopy(after)
    for name in counted:
        setattr(done, name, getattr(after, name) - getattr(before, name))
    return done
