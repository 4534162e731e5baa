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
from ppagent.model.ring import Ring
from ppagent.model.roofline import Roofline
from ppagent.model.spread import forecast_limit
from ppagent.model.unforced import forecast_released, forecast_split
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
    shared_host: bool = False
    seen: Deployment | None = None

    @property
    def slots(self) -> int:
        """Micro-batch slots now."""
        return self.stages + self.now.async_depth

    def fill(self, concurrency: int) -> FillReport:
        """Which fills the levels allow at `concurrency`."""
        return read_fill(self.levels, self.slots, concurrency=concurrency, slot_limit=self.now.slot_limit)

    def deployment(self, concurrency: int, split: tuple[int, ...] | None = None) -> Deployment:
        """The deployment that the forecasts work on, its layers split as now or as `split` says."""
        report = self.fill(concurrency)
        if self.seen is None:
            views = self._views(split or self.now.split, report)
            fill = (report.fill_low, report.fill_high)
            limit = self.now.slot_limit
            found = Deployment(self.levels, self.stages, self.slots, fill, views, limit, self.shared_host)
        elif split in (None, self.now.split):
            found = self.seen
        else:
            found = replace(self.seen, shares=self._views(split, report))
        return replace(found, roofline=self.roofline)

    def _views(self, split: tuple[int, ...] | None, report: FillReport) -> tuple[Shares, ...]:
        if split is None:
            return (even_shares(self.stages),)
        if self.seen is not None and self.seen.measured is not None:
            return (self.seen.measured.shares_of(split),)
        device_ms = None if self.roofline is None else self.roofline.stage_ms(split, 1.0)
        ring_ms = self.levels[0].turn_ms if report.line is None else report.line.turn_ms(1.0)
        return share_views(split, device_ms, ring_ms)


def what_if(server: Server, then: Settings, concurrency: int) -> Forecast:
    """Throughput of `server` with settings `then`: the one answer of a proposal, a chat and `ppagent predict`.

    Raises ValueError where the question needs what is not known (graphs and filled slots without model or card), or
    what is not modelled (graphs switched off).
    """
    now = server.now
    before = server.deployment(concurrency)
    forced_now, forced = _forced(before.slot_limit, concurrency), _forced(then.slot_limit, concurrency)
    if now.graph and not then.graph:
        raise ValueError("what switching graphs off costs is not modelled; it never makes decoding faster")
    if then.graph and not now.graph:
        return _with_graphs(server, before, then, concurrency)
    slots = server.stages + then.async_depth
    split = then.split or now.split
    shares = server.deployment(concurrency, split).shares
    deeper = forced is not None and before.running(concurrency) < concurrency and slots != before.slots
    if forced is not None and (forced != forced_now or split != now.split or deeper):
        return forecast_limit(before, forced, concurrency, slots=slots, shares=shares).forecast
    if forced is None and forced_now is not None:
        return forecast_released(before, concurrency, slots=slots, shares=shares)
    if split != now.split:
        return forecast_split(before, shares, concurrency)
    return _unchanged(before, then, now, concurrency)


def _forced(slot_limit: int | None, concurrency: int) -> int | None:
    """The limit, where it keeps `concurrency` requests from sharing one slot."""
    return slot_limit if slot_limit is not None and slot_limit < concurrency else None


def _with_graphs(server: Server, before: Deployment, then: Settings, concurrency: int) -> Forecast:
    if server.shared_host:
        raise ValueError("a server without a GPU has no decode graphs")
    forced_now, forced = _forced(before.slot_limit, concurrency), _forced(then.slot_limit, concurrency)
    split = then.split or server.now.split
    if split is None and forced is not None and server.roofline is not None:
        raise ValueError("how the layers are split is not known")
    case = GraphCase(before.served, split or (1,) * server.stages, server.roofline, forced_now)
    if forced is not None:
        return forecast_graph_and_spread(case, concurrency, forced, baseline=before.baseline(concurrency))
    if forced_now is not None:
        raise ValueError("graphs on and the limit lifted at once are not modelled: ask for one of them")
    return forecast_graph(case, concurrency)


GIVEN = "stage times as given, nothing measured"


def what_if_ring(ring: Ring, now: Settings, then: Settings, concurrency: int, origin: str = GIVEN) -> Forecast:
    """The same for a ring whose stage times come from where `origin` says: closed form, and the event model with
    turnover beside it."""
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
        origin,
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
        if deployment.filled(concurrency, deployment.fill[0]) >= deployment.slots:
            raise ValueError("what an async depth gives to full slots is not in the load levels: measure it")
        regime = f"{DEPTH_FILLS_NOTHING}: nothing to gain while slots stand empty"
    return throughput_forecast(concurrency, baseline, (baseline,), regime, floor=(0.05, 0.02))


def _room(ring: Ring, settings: Settings) -> int:
    return 10**9 if settings.slot_limit is None else settings.slot_limit * ring.slots


def _clump(ring: Ring, settings: Settings, concurrency: int) -> int:
    if settings.slot_limit is None:
        return 1
    return min(ring.slots, -(-min(concurrency, _room(ring, settings)) // settings.slot_limit))
