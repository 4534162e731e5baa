"""One question: with these settings instead of those, how many tokens a second at this concurrency?

Picks the model that can answer it: the slot limit from measured levels, graphs from levels and roofline, or the closed
form with the event model beside it where only stage times are known.
"""

from dataclasses import dataclass, replace

from ppagent.model.deployment import Deployment, Shares, even_shares, share_views
from ppagent.model.events import simulate
from ppagent.model.fill import FillReport, read_fill
from ppagent.model.forecast import COLD_FLOOR, Forecast, throughput_forecast
from ppagent.model.graph import GraphCase, forecast_graph, forecast_graph_and_spread
from ppagent.model.levels import Level
from ppagent.model.readings import RunningPerSlot
from ppagent.model.ring import Ring
from ppagent.model.roofline import Roofline
from ppagent.model.spread import forecast_limit
from ppagent.model.workload import Admission, Load

DEPTH_FILLS_NOTHING = "an async depth adds slots to the ring and fills none"


@dataclass(frozen=True)
class Settings:
    """The settings the model knows. `slot_limit` None leaves requests alone, so that they clump."""

    slot_limit: int | None = None
    async_depth: int = 0
    graph: bool = True
    split: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Server:
    """A measured server: levels, stages, settings now, and what else is known of it.

    `seen` is the deployment as a whole investigation has it, with every reading of the fill; without it the levels
    alone say how many slots are filled.
    """

    levels: tuple[Level, ...]
    stages: int
    now: Settings
    roofline: Roofline | None = None
    running: RunningPerSlot | None = None
    shared_host: bool = False
    seen: Deployment | None = None

    @property
    def slots(self) -> int:
        """Micro-batch slots now."""
        return self.stages + self.now.async_depth

    def fill(self, concurrency: int) -> FillReport:
        """Which fills the levels allow at `concurrency`."""
        return read_fill(self.levels, self.slots, self.running, concurrency=concurrency, slot_limit=self.now.slot_limit)

    def deployment(self, concurrency: int, split: tuple[int, ...] | None = None) -> Deployment:
        """The deployment that the slot-limit forecast works on, its layers split as now or as `split` says."""
        if self.seen is not None and split in (None, self.now.split):
            return self.seen
        report = self.fill(concurrency)
        if self.seen is not None:
            return replace(self.seen, shares=self._views(split, report))
        fill = (report.fill_low, report.fill_high)
        views = self._views(split or self.now.split, report)
        return Deployment(self.levels, self.stages, self.slots, fill, views, self.now.slot_limit, self.shared_host)

    def _views(self, split: tuple[int, ...] | None, report: FillReport) -> tuple[Shares, ...]:
        if split is None:
            return (even_shares(self.stages),)
        device_ms = None if self.roofline is None else self.roofline.stage_ms(split, 1.0)
        ring_ms = self.levels[0].turn_ms if report.line is None else report.line.turn_ms(1.0)
        return share_views(split, device_ms, ring_ms)


def what_if(server: Server, then: Settings, concurrency: int) -> Forecast:
    """Throughput of `server` with settings `then`.

    Raises ValueError where the question needs what is not known (graphs and filled slots without model or card).
    """
    now = server.now
    split = then.split or now.split
    spread = then.slot_limit is not None and then.slot_limit < concurrency
    if then.graph and not now.graph:
        case = GraphCase(server.levels, split or _equal_split(server), server.roofline)
        if not spread or then.slot_limit is None:
            return forecast_graph(case, concurrency)
        return forecast_graph_and_spread(case, concurrency, then.slot_limit)
    deployment = server.deployment(concurrency, split)
    if then.slot_limit is None or (then.slot_limit == now.slot_limit and split == now.split):
        return _unchanged(deployment, then, now, concurrency)
    deeper = replace(deployment, slots=server.stages + then.async_depth)
    return forecast_limit(deeper, then.slot_limit, concurrency).forecast


def what_if_ring(ring: Ring, now: Settings, then: Settings, concurrency: int) -> Forecast:
    """The same for a ring whose stage times are given: closed form, and the event model with turnover beside it."""
    baseline = ring.tokens_per_s(_clump(ring, now, concurrency), min(concurrency, _room(ring, now)))
    changed = replace(ring, slots=len(ring.stages) + then.async_depth)
    running = min(concurrency, _room(changed, then))
    filled = _clump(changed, then, concurrency)
    closed = changed.tokens_per_s(filled, running)
    turn_ms = changed.turn_ms(filled, running)
    load = Load(concurrency, output_tokens=(100, 300), think_ms=turn_ms, start_spread_ms=5 * turn_ms)
    limit = then.slot_limit or max(concurrency, 1)
    served_s = min(400 * turn_ms / 1000, 60.0)
    run = simulate(changed, load, Admission(limit), seconds=served_s, warm_up_s=0.2 * served_s)
    regime = f"{filled} of {changed.slots} slots filled, a turn of {turn_ms:.1f} ms"
    notes = (
        "stage times as given, nothing measured",
        "without a limit that spreads them, requests are taken to sit in one slot",
        f"event model with turnover of requests: {run.tokens_per_s:.1f} tok/s, {run.filled:.1f} slots filled",
    )
    if then.slot_limit == now.slot_limit and then.async_depth != now.async_depth:
        regime = f"{DEPTH_FILLS_NOTHING} ({regime})"
    candidates = (closed, run.tokens_per_s) if then.slot_limit else (closed,)
    floor = (COLD_FLOOR if then.slot_limit != now.slot_limit else 0.02, 0.0)
    return throughput_forecast(concurrency, baseline, candidates, regime, notes, floor=floor)


def _unchanged(deployment: Deployment, then: Settings, now: Settings, concurrency: int) -> Forecast:
    baseline = deployment.baseline(concurrency)
    regime = "nothing that moves the ring changes"
    if then.async_depth != now.async_depth:
        regime = f"{DEPTH_FILLS_NOTHING}: nothing to gain while slots stand empty"
    return throughput_forecast(concurrency, baseline, (baseline,), regime, floor=(0.05, 0.02))


def _room(ring: Ring, settings: Settings) -> int:
    return 10**9 if settings.slot_limit is None else settings.slot_limit * ring.slots


def _clump(ring: Ring, settings: Settings, concurrency: int) -> int:
    if settings.slot_limit is None:
        return 1
    return min(ring.slots, -(-min(concurrency, _room(ring, settings)) // settings.slot_limit))


def _equal_split(server: Server) -> tuple[int, ...]:
    return (1,) * server.stages
