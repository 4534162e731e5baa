"""Power of each card over the sampled time, short enough to be a fact and long enough to be drawn."""

from collections.abc import Sequence

from ppagent.evidence.evidence import FactValue
from ppagent_tools.gpu_sample import Sample
from ppagent_tools.reading import tidy

MOST_MOMENTS = 48
MOST_GPUS = 16


def power_series(moments: Sequence[Sequence[Sample]]) -> FactValue:
    """`seconds` from the first sample on (empty where rows carry no time) and `watts` by GPU, null where not read.

    None where no row holds power. Of more than MOST_MOMENTS moments as many are kept, evenly, the first and the last
    among them; of more than MOST_GPUS cards the first.
    """
    kept = _thinned([moment for moment in moments if any(s.value("power.draw") is not None for s in moment)])
    if not kept:
        return None
    indices = sorted({sample.index for moment in kept for sample in moment}, key=int)[:MOST_GPUS]
    rows = [{sample.index: sample.value("power.draw") for sample in moment} for moment in kept]
    watts: dict[str, FactValue] = {index: [_tidy(row.get(index)) for row in rows] for index in indices}
    return {"seconds": _seconds(kept), "watts": watts}


def _thinned(moments: Sequence[Sequence[Sample]]) -> list[Sequence[Sample]]:
    last = len(moments) - 1
    if last < MOST_MOMENTS:
        return list(moments)
    return [moments[round(step * last / (MOST_MOMENTS - 1))] for step in range(MOST_MOMENTS)]


def _seconds(moments: Sequence[Sequence[Sample]]) -> list[FactValue]:
    times = [moment[0].time for moment in moments]
    first = times[0]
    if first is None:
        return []
    offsets = [(time - first).total_seconds() for time in times if time is not None]
    ordered = len(offsets) == len(times) and offsets == sorted(offsets)
    return [tidy(round(offset, 2)) for offset in offsets] if ordered else []


def _tidy(watts: float | None) -> float | None:
    return None if watts is None else tidy(watts)
