"""Forwards one by one: launched kernel by kernel or as a graph, in which mode, with how many requests."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from ppagent.profile.spans import Span
from ppagent.sglang.profiling import Step

FEWEST_LAUNCHES = 10
"""A forward with fewer launches, and no graph, ran none of the model's layers that way."""

PAUSE_NS = 500_000
"""The host launches kernels some microseconds apart; after a pause this long it did something else between."""


@dataclass(frozen=True)
class StepTally:
    """Forwards counted. Where marks name the mode, only those that decode."""

    told: bool = False
    """Whether decode forwards could be told from prefills."""
    graph: int = 0
    """Forwards that launched a graph."""
    eager: int = 0
    """Forwards that launched their kernels one by one."""
    eager_launches: float | None = None
    """Median kernel launches of an eager one."""
    graph_launches: float | None = None
    """Median kernel launches beside the graph of one that launched a graph."""
    graph_batches: tuple[int, ...] = ()
    """Requests of the forwards with a graph, where the marks name them: smallest and largest."""
    eager_batches: tuple[int, ...] = ()

    @property
    def counted(self) -> int:
        return self.graph + self.eager


def step_tally(
    forwards: Sequence[Span],
    named: Sequence[tuple[int, int, Step]],
    launches: Iterable[int],
    graphs: Iterable[int],
) -> StepTally:
    """Counts launches by forward. `named` are the model runner's own marks, in order; they count where there are some.

    Prefill under a pipeline is launched kernel by kernel in every version, so that it must not count as decoding.
    """
    spans = [(start, end, step) for start, end, step in named if step.decodes] if named else []
    launched, replayed = sorted(launches), sorted(graphs)
    unmarked = forwards or _bursts(replayed or launched)
    ranges: list[tuple[int, int, Step | None]] = list(spans) if named else [(a, b, None) for a, b in unmarked]
    eager, graph = [], []
    for start, end, step in ranges:
        count, batch = _between(launched, start, end), step.batch if step is not None else None
        if _between(replayed, start, end):
            graph.append((count, batch))
        elif count >= FEWEST_LAUNCHES:
            eager.append((count, batch))
    return StepTally(
        told=bool(named),
        graph=len(graph),
        eager=len(eager),
        eager_launches=float(median(count for count, _ in eager)) if eager else None,
        graph_launches=float(median(count for count, _ in graph)) if graph else None,
        graph_batches=_ends([batch for _, batch in graph]),
        eager_batches=_ends([batch for _, batch in eager]),
    )


def joined(tallies: Sequence[StepTally]) -> StepTally:
    """The forwards of several ranks together; launches are those of the rank that launches most."""
    return StepTally(
        told=all(tally.told for tally in tallies),
        graph=sum(tally.graph for tally in tallies),
        eager=sum(tally.eager for tally in tallies),
        eager_launches=max((t.eager_launches for t in tallies if t.eager_launches is not None), default=None),
        graph_launches=max((t.graph_launches for t in tallies if t.graph_launches is not None), default=None),
        graph_batches=_ends([batch for tally in tallies for batch in tally.graph_batches]),
        eager_batches=_ends([batch for tally in tallies for batch in tally.eager_batches]),
    )


def _bursts(times: Sequence[int]) -> list[Span]:
    """Launches without a pause between them, where no mark tells one forward from the next."""
    edges = [at for at in range(1, len(times)) if times[at] - times[at - 1] > PAUSE_NS]
    begins, ends = [0, *edges], [*edges, len(times)]
    return [(times[a], times[b - 1] + 1) for a, b in zip(begins, ends, strict=True) if b > a]


def _between(times: Sequence[int], start: int, end: int) -> int:
    return bisect_left(times, end) - bisect_left(times, start)


def _ends(batches: Sequence[int | None]) -> tuple[int, ...]:
    known = [batch for batch in batches if batch is not None]
    return (min(known), max(known)) if known else ()
