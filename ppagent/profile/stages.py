"""The traces of all ranks together: the stages of the pipeline, and how many of them work at a time."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ppagent.profile.rank import RankSummary, Window
from ppagent.profile.steps import StepTally, joined

FEWEST_SHARED = 3
"""Periods of every rank from which the time that they share is worth judging."""


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
    together: bool
    """Whether all stages are judged over the same time."""
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
    """`ranks` are summaries with the stage that each belongs to.

    All are judged over the time that their traces share: the first rank to be done stands still while it writes its
    trace, and the others, which wait for it, must not be taken for idle.
    """
    shared = _shared([rank for _, rank in ranks])
    by_stage: dict[int, list[Window]] = defaultdict(list)
    modes: dict[str, int] = defaultdict(int)
    for index, rank in ranks:
        by_stage[index].append(rank.over(*shared) if shared is not None else rank.whole)
        for mode, count in rank.modes.items():
            modes[mode] += count
    return Pipeline(
        {index: _stage(members) for index, members in sorted(by_stage.items())},
        kernels=sum(rank.kernels for _, rank in ranks),
        tally=joined([rank.tally for _, rank in ranks]),
        together=shared is not None,
        modes=dict(modes),
        unread=sum(rank.unread for _, rank in ranks),
    )


def _shared(ranks: Sequence[RankSummary]) -> tuple[int, int] | None:
    """The time in which every rank has whole periods; None where there is none, as where clocks of hosts differ."""
    begin, end = max(rank.edges[0] for rank in ranks), min(rank.edges[-1] for rank in ranks)
    return (begin, end) if all(rank.over(begin, end).steps >= FEWEST_SHARED for rank in ranks) else None


def _stage(windows: Sequence[Window]) -> Stage:
    marks = {mark for window in windows for mark in window.host_ms}
    return Stage(
        len(windows),
        window_ms=_mean([window.window_ms for window in windows]) or 0.0,
        steps=_mean([float(window.steps) for window in windows]) or 0.0,
        step_ms=_mean([window.window_ms / window.steps for window in windows if window.steps]),
        busy=_share(windows, lambda window: window.busy_ms) or 0.0,
        collectives=_share(windows, lambda window: window.collectives_ms) or 0.0,
        waiting=_share(windows, lambda window: window.waiting_ms) or 0.0,
        inside=_share(windows, lambda window: window.inside_ms),
        outside=_share(windows, lambda window: window.outside_ms),
        scheduling=_share(windows, lambda window: window.scheduling_ms),
        busy_ms_per_step=_mean([window.busy_ms / window.steps for window in windows if window.steps]),
        host={mark: _of_window(windows, mark) for mark in sorted(marks)},
    )


def _share(windows: Sequence[Window], part: Callable[[Window], float | None]) -> float | None:
    known = [(part(window), window.window_ms) for window in windows if window.window_ms]
    return _mean([value / length for value, length in known if value is not None])


def _of_window(windows: Sequence[Window], mark: str) -> float:
    return _share(windows, lambda window: window.host_ms.get(mark, 0.0)) or 0.0


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
