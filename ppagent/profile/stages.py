"""The traces of all ranks together: the stages of the pipeline, and how many of them work at a time."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ppagent.profile.rank import RankSummary
from ppagent.profile.steps import StepTally, joined


@dataclass(frozen=True)
class Stage:
    """One stage: shares of its window, the mean of its ranks. Shares that need marks are None without them."""

    ranks: int
    """Traces that it rests on."""
    window_ms: float
    steps: float
    step_ms: float | None
    """From the start of a forward to that of the next."""
    busy: float
    collectives: float
    waiting: float
    inside: float | None
    outside: float | None
    scheduling: float | None
    busy_ms_per_step: float | None
    host: Mapping[str, float]
    """By mark: share of the window that the host spent in it."""


@dataclass(frozen=True)
class Pipeline:
    """All stages whose traces were read, by index."""

    stages: Mapping[int, Stage]
    kernels: int
    tally: StepTally
    modes: Mapping[str, int] = field(default_factory=dict)
    unread: int = 0

    @property
    def effective(self) -> float:
        """S: stages at work at a time, on average: the sum of the busy shares."""
        return sum(stage.busy for stage in self.stages.values())

    @property
    def at_slowest(self) -> float | None:
        """How many would be at work if the busiest never idled: the sum of busy shares over the largest."""
        most = max((stage.busy for stage in self.stages.values()), default=0.0)
        return self.effective / most if most else None


def pipeline_of(ranks: Sequence[tuple[int, RankSummary]]) -> Pipeline:
    """`ranks` are summaries with the stage that each belongs to."""
    by_stage: dict[int, list[RankSummary]] = defaultdict(list)
    modes: dict[str, int] = defaultdict(int)
    for index, rank in ranks:
        by_stage[index].append(rank)
        for mode, count in rank.modes.items():
            modes[mode] += count
    return Pipeline(
        {index: _stage(members) for index, members in sorted(by_stage.items())},
        kernels=sum(rank.kernels for _, rank in ranks),
        tally=joined([rank.tally for _, rank in ranks]),
        modes=dict(modes),
        unread=sum(rank.unread for _, rank in ranks),
    )


def _stage(ranks: Sequence[RankSummary]) -> Stage:
    marks = {mark for rank in ranks for mark in rank.host_ms}
    return Stage(
        len(ranks),
        window_ms=_mean([rank.window_ms for rank in ranks]) or 0.0,
        steps=_mean([float(rank.steps) for rank in ranks]) or 0.0,
        step_ms=_mean([rank.window_ms / rank.steps for rank in ranks if rank.steps]),
        busy=_share(ranks, lambda rank: rank.busy_ms) or 0.0,
        collectives=_share(ranks, lambda rank: rank.collectives_ms) or 0.0,
        waiting=_share(ranks, lambda rank: rank.waiting_ms) or 0.0,
        inside=_share(ranks, lambda rank: rank.inside_ms),
        outside=_share(ranks, lambda rank: rank.outside_ms),
        scheduling=_share(ranks, lambda rank: rank.scheduling_ms),
        busy_ms_per_step=_mean([rank.busy_ms / rank.steps for rank in ranks if rank.steps]),
        host={mark: _mean([rank.host_ms.get(mark, 0.0) / rank.window_ms for rank in ranks if rank.window_ms]) or 0.0
              for mark in sorted(marks)},
    )  # fmt: skip


def _share(ranks: Sequence[RankSummary], part: Callable[[RankSummary], float | None]) -> float | None:
    return _mean([value / rank.window_ms for rank in ranks if rank.window_ms and (value := part(rank)) is not None])


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
