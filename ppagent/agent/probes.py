"""What to look at next: the cheapest questions that would decide what is still undecided."""

import math
from collections import defaultdict

from ppagent.agent.board import Board, Hypothesis, cleared, health_lacks
from ppagent.causes.cause import Probe
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
    uncertainty removed per grade first, each tool once. Where nothing seen is wrong, what health lacks comes first."""
    lacking = health_lacks(board, facts) if facts is not None and not board.faults and cleared(board, facts) else ()
    worth: dict[str, float] = defaultdict(float)
    best: dict[str, tuple[float, Probe]] = {}
    for hypothesis in (*undecided(board), *board.supported):
        bits = uncertainty(hypothesis.judgement.posterior)
        for probe in hypothesis.judgement.probes:
            worth[probe.tool] += bits / GRADE_COST[probe.grade]
            if probe.tool not in best or bits > best[probe.tool][0]:
                best[probe.tool] = (bits, probe)
    order = sorted(best, key=lambda tool: (-worth[tool], tool))
    rest = (best[tool][1] for tool in order if tool not in {probe.tool for probe in lacking})
    return (*lacking, *rest)[:limit]
