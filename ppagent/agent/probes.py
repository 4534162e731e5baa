"""What to look at next: the cheapest questions that would decide what is still undecided."""

import math
from collections import defaultdict

from ppagent.agent.board import Board, Hypothesis, cleared, health_lacks, seen_at_work
from ppagent.causes.cause import Probe
from ppagent.causes.ends import (
    CAUSES_OF_NO_START,
    end_of,
    questions_of_a_dead_server,
    stopped_at_start,
    told_of_an_end,
    unexplained_end,
)
from ppagent.evidence.facts import Facts

GRADE_COST = {0: 1.0, 1: 2.0, 2: 4.0, 3: 32.0, 4: 128.0, 5: 1024.0}
"""How much dearer a question is than reading a file. The order counts, not the figures: reads come before anything
that a user of the server would notice."""

MOST_PROBES = 5


def uncertainty(probability: float) -> float:
    """Entropy of a yes/no question in bits: 1 where nothing is known, 0 where all is."""
    if probability <= 0 or probability >= 1:
        return 0.0
    other = 1 - probability
    return -(probability * math.log2(probability) + other * math.log2(other))


def undecided(board: Board) -> tuple[Hypothesis, ...]:
    """Hypotheses that no evidence has settled."""
    return board.in_state("open") + board.in_state("cannot_tell")


def next_probes(board: Board, facts: Facts | None = None, limit: int = MOST_PROBES) -> tuple[Probe, ...]:
    """The best of the probes: what the undecided causes lack, and what is still open about the supported ones. Most
    uncertainty removed per grade first, each tool once. Where nothing seen is wrong, what health lacks comes first; of
    a server that ended with an error no cause explains, what would explain that error, and nothing it cannot answer."""
    gone = questions_of_a_dead_server(facts) if facts is not None else frozenset()
    lacking = _first_of_all(board, facts) if facts is not None else ()
    worth: dict[str, float] = defaultdict(float)
    best: dict[str, tuple[float, Probe]] = {}
    for hypothesis in _askable(board, facts):
        bits = uncertainty(hypothesis.judgement.posterior)
        for probe in hypothesis.judgement.probes:
            worth[probe.tool] += bits / GRADE_COST[probe.grade]
            if probe.tool not in best or bits > best[probe.tool][0]:
                best[probe.tool] = (bits, probe)
    order = sorted(best.keys() - gone, key=lambda tool: (-worth[tool], tool))
    rest = (best[tool][1] for tool in order if tool not in {probe.tool for probe in lacking})
    return (*lacking, *rest)[:limit]


def _askable(board: Board, facts: Facts | None) -> tuple[Hypothesis, ...]:
    """Of a server that never came up, only what can keep one from it."""
    asked = (*undecided(board), *board.supported)
    if facts is None or not stopped_at_start(facts):
        return asked
    return tuple(h for h in asked if h.cause_id in CAUSES_OF_NO_START)


def _first_of_all(board: Board, facts: Facts) -> tuple[Probe, ...]:
    """What would explain how the server ended, else what health lacks."""
    if board.faults:
        unexplained = unexplained_end(facts, [h.cause_id for h in board.supported])
        return unexplained.probes if unexplained is not None else ()
    end = end_of(facts)
    if end is not None and (end.fatal or not seen_at_work(facts)):
        return end.probes
    told = told_of_an_end(facts)
    if told:
        return told
    return health_lacks(board, facts) if cleared(board, facts) else ()
