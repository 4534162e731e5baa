"""What decode graphs would give where they are off, alone and together with a spread.

Launches and device work run side by side, so a graph can only take away what of the launch time is not hidden behind
the device. Data bound that share: launches do not grow with the batch, so what a turn grows from the lowest level on is
device time, and at the highest level nearly all of it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ppagent.model.costs import BOOKKEEPING_MS, GRAPH_LAUNCH_MS, HOP_MS
from ppagent.model.fit import fit_line
from ppagent.model.forecast import COLD_FLOOR, Forecast, throughput_forecast
from ppagent.model.hardware import UNCHECKED
from ppagent.model.levels import Level
from ppagent.model.regime import pacing, wait_for_a_slot
from ppagent.model.ring import Ring, Stage
from ppagent.model.roofline import Roofline

# The largest gain from decode graphs found published is 4.7x, for a tiny model (deepspeedai/DeepSpeed#8352).
LARGEST_GAIN = 4.7


@dataclass(frozen=True)
class GraphCase:
    """An eager deployment: levels measured with all requests in one slot, the layers of each stage, its roofline.

    `roofline` is None where model or card are not known; the bounds then rest on the levels alone. `slot_limit` is the
    limit that spread the requests when the levels were measured, None where they shared a slot.
    """

    levels: tuple[Level, ...]
    split: tuple[int, ...]
    roofline: Roofline | None = None
    slot_limit: int | None = None

    def __post_init__(self) -> None:
        if not self.levels:
            raise ValueError("a gain needs a measured level to start from")

    @property
    def stages(self) -> int:
        """Pipeline stages."""
        return len(self.split)

    @property
    def lowest(self) -> Level:
        """The level with the least device work, where launches show most."""
        return min(self.levels, key=lambda level: level.concurrency)

    def level(self, concurrency: int) -> Level:
        """The level at `concurrency`: as measured, else on the line through those that were."""
        for level in self.levels:
            if level.concurrency == concurrency:
                return level
        line = fit_line([level.concurrency for level in self.levels], [level.turn_ms for level in self.levels])
        if line is None:
            raise ValueError(f"one level does not tell what happens at concurrency {concurrency}")
        return Level(concurrency, line.turn_ms(concurrency), self.lowest.measure)

    def efficiency(self) -> tuple[float, float]:
        """Range of the share of peak bandwidth that this server's kernels reach, from the level nearest the roofline.

        The low end takes the whole turn for device time, the high end leaves hops and bookkeeping of the first stage
        out. Kernels at a smaller batch are taken as no better than at that level.
        """
        if self.roofline is None:
            raise ValueError("an efficiency needs a roofline")
        around_ms = HOP_MS * self.stages + 2 * BOOKKEEPING_MS
        best = max(self.levels, key=lambda level: self._peak_share(level))
        peak_ms = self.roofline.ring_ms(self.batch(best))
        low = peak_ms / best.turn_ms
        return min(low, 1.0), min(peak_ms / max(best.turn_ms - around_ms, peak_ms), 1.0)

    def batch(self, level: Level) -> float:
        """Requests a slot at `level`."""
        if self.slot_limit is None:
            return level.concurrency
        return level.concurrency / min(self.stages, -(-level.concurrency // self.slot_limit))

    def _peak_share(self, level: Level) -> float:
        assert self.roofline is not None
        return self.roofline.ring_ms(self.batch(level)) / level.turn_ms


def forecast_graph(case: GraphCase, concurrency: int) -> Forecast:
    """Decode graphs on, everything else as it is: all `concurrency` requests in one slot.

    Raises ValueError where one level alone was measured, and not at `concurrency`.
    """
    level = case.level(concurrency)
    baseline = level.tokens_per_s or 1000.0 * concurrency / level.turn_ms
    exposed_ms = _exposed_ms(case, level)
    fastest_ms = max(level.turn_ms - exposed_ms, level.turn_ms / LARGEST_GAIN)
    slowest_ms = level.turn_ms
    if case.roofline is not None:
        low, high = case.efficiency()
        peak_ms = case.roofline.ring_ms(concurrency)
        around_ms = HOP_MS * case.stages + BOOKKEEPING_MS
        fastest_ms = max(fastest_ms, peak_ms / high + around_ms)
        slowest_ms = min(level.turn_ms, peak_ms / low + case.stages * (BOOKKEEPING_MS + HOP_MS))
    fastest_ms = min(fastest_ms, slowest_ms)
    candidates = [baseline * level.turn_ms / turn_ms for turn_ms in (slowest_ms, fastest_ms)]
    regime = (
        "device-bound: launches are hidden behind the device's work, a graph has little to take away"
        if candidates[-1] < 1.1 * baseline
        else "host-bound: launches take longer than the device's work"
    )
    return throughput_forecast(concurrency, baseline, candidates, regime, _notes(case), floor=(0.0, 0.0))


def forecast_graph_and_spread(
    case: GraphCase,
    concurrency: int,
    limit: int,
    split: Sequence[int] | None = None,
    *,
    baseline: float | None = None,
) -> Forecast:
    """Decode graphs on and `limit` requests a slot, with `split` layers a stage (as now where it is None).

    `baseline` is the throughput now, by the levels where it is not given.

    Raises ValueError without a roofline: what a stage then takes cannot be known from an eager run.
    """
    if case.roofline is None:
        raise ValueError("a forecast with graphs and filled slots needs the model's config and the card")
    running = min(concurrency, limit * case.stages)
    filled = min(case.stages, -(-running // limit))
    batch = running / filled
    times_ms = case.roofline.stage_ms(split or case.split, batch)
    if baseline is None:
        level = case.level(concurrency)
        baseline = level.tokens_per_s or 1000.0 * concurrency / level.turn_ms
    candidates: list[float] = []
    for share, serial in zip(case.efficiency(), (True, False), strict=True):
        stages = tuple(Stage(time_ms / share, 0.0, GRAPH_LAUNCH_MS) for time_ms in times_ms)
        ring = Ring(stages, HOP_MS, BOOKKEEPING_MS, bookkeeping_ms=BOOKKEEPING_MS)
        turn_ms = ring.turn_ms(filled, running)
        if serial:
            turn_ms = max(turn_ms, sum(times_ms) / share + case.stages * (BOOKKEEPING_MS + HOP_MS))
        candidates.append(1000.0 * running / turn_ms)
    slowest, several = pacing(times_ms)
    regime = f"{slowest} pace{'' if several else 's'} the ring at {max(times_ms):.2f} ms of peak bandwidth a step"
    if running < concurrency:
        regime = f"{wait_for_a_slot(concurrency - running, concurrency)}: the limit caps the load; {regime}"
    floor = (COLD_FLOOR / 2 if case.lowest.measure == "throughput" else 0.0, 0.0)
    return throughput_forecast(concurrency, baseline, candidates, regime, _notes(case), floor=floor)


def _exposed_ms(case: GraphCase, level: Level) -> float:
    """Most launch time that `level`'s turn can still show.

    At the lowest level at most all of the turn that is not device work; every millisecond that the device's work grows
    from there hides one. What stays is the first stage's launch, which nothing runs beside.
    """
    lowest = case.lowest
    device_ms = 0.0 if case.roofline is None else case.roofline.ring_ms(lowest.concurrency)
    hidden_ms = level.turn_ms - lowest.turn_ms
    launch_ms = max(lowest.turn_ms - case.stages * (BOOKKEEPING_MS + HOP_MS), 0.0)
    first_ms = max(launch_ms / case.stages - GRAPH_LAUNCH_MS, 0.0)
    return min(max(lowest.turn_ms - device_ms - hidden_ms, first_ms), level.turn_ms)


def _notes(case: GraphCase) -> tuple[str, ...]:
    where = "in one slot" if case.slot_limit is None else f"spread by a limit of {case.slot_limit}"
    notes = [f"levels taken as measured with all requests {where} and without graphs"]
    if case.roofline is None:
        notes.append("model or card not known: the bound rests on the levels alone")
    else:
        low, high = case.efficiency()
        notes.append(f"kernels reach {low:.0%} to {high:.0%} of peak bandwidth, as at the best level")
        notes += case.roofline.architecture.notes
        if "bandwidth_gb_per_s" in case.roofline.card.unchecked:
            notes.append(f"the bandwidth of {case.roofline.card.name} is {UNCHECKED}")
    return tuple(notes)
