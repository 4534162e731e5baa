"""The board: every cause as a numbered hypothesis whose state is computed from the evidence at hand."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from ppagent.causes.catalog import all_causes
from ppagent.causes.cause import Cause, Observation, Probe
from ppagent.causes.host import decodes_eagerly
from ppagent.causes.judge import Judgement, State, judge, reconsider
from ppagent.causes.said import unexplained_gap
from ppagent.causes.situation import arguments_known, no_cuda, stages
from ppagent.causes.stage_times import stages_seen
from ppagent.evidence.facts import Facts

Verdict = Literal["diagnosed", "healthy", "not_enough_evidence"]

NOT_A_FAULT = frozenset({"LB001", "PP002", "PR001", "ME001"})
"""Causes that, alone, leave the server healthy."""

CLIENT_LIMITED = "LB001"

FEWEST_LINES, FEWEST_DECODE_LINES = 10, 3
FEWEST_SECONDS = 10.0
"""A verdict of healthy needs the server seen at work for a while: so many batch lines, some of decoding among them, or
its counters for so long."""

SPEED_TOLD = ("bench.levels", "stated.levels", "metrics.window_s")
"""It needs a speed that somebody besides the log tells."""


LIKELY_FROM = 0.5
"""A fault that stays open above this stands in the way of a verdict of healthy."""


@dataclass(frozen=True)
class Hypothesis:
    """One cause of the list under investigation."""

    id: str
    judgement: Judgement

    @property
    def cause_id(self) -> str:
        return self.judgement.cause.id

    @property
    def state(self) -> State:
        return self.judgement.state


@dataclass(frozen=True)
class Board:
    """All hypotheses, most telling first within each state."""

    hypotheses: tuple[Hypothesis, ...]

    def in_state(self, state: State) -> tuple[Hypothesis, ...]:
        return tuple(h for h in self.hypotheses if h.state == state)

    @property
    def supported(self) -> tuple[Hypothesis, ...]:
        return self.in_state("supported")

    @property
    def faults(self) -> tuple[Hypothesis, ...]:
        """Supported causes that are a fault of the server."""
        return tuple(h for h in self.supported if h.cause_id not in NOT_A_FAULT)

    def of(self, cause_id: str) -> Hypothesis | None:
        return next((h for h in self.hypotheses if h.cause_id == cause_id), None)


_ORDER: dict[State, int] = {"supported": 0, "open": 1, "cannot_tell": 2, "refuted": 3}


def compute_board(facts: Facts, causes: Iterable[Cause] | None = None) -> Board:
    """The board as the facts have it, over `causes` or all that there are: recomputed whole after every tool call."""
    judged = [judge(cause, facts) for cause in (all_causes() if causes is None else causes)]
    judged = _explained_away(judged)
    judged.sort(key=lambda j: (_ORDER[j.state], -j.confidence, j.cause.id))
    return Board(tuple(Hypothesis(f"H{n}", j) for n, j in enumerate(judged, 1)))


def _explained_away(judged: list[Judgement]) -> list[Judgement]:
    """ "The client offers too little" means that all else is healthy: a fault that is supported speaks against it."""
    faults = [j for j in judged if j.state == "supported" and j.cause.id not in NOT_A_FAULT]
    if not faults:
        return judged
    top = max(faults, key=lambda j: j.confidence)
    says = f"not all else is healthy: {top.cause.name} ({top.cause.id})"
    against = Observation(says, top.because[0].cites, 0.2, 0.5)
    return [reconsider(j, against) if j.cause.id == CLIENT_LIMITED else j for j in judged]


def verdict_of(board: Board, facts: Facts) -> Verdict:
    """What the board amounts to. Healthy has to be shown: silence is not enough evidence."""
    if board.faults:
        return "diagnosed"
    hung = facts.flag("log.ended_running") is True or facts.flag("log.ended_by_error") is True
    unexplained = unexplained_gap(facts) and not board.supported
    doubtful = hung or unexplained or health_lacks(board, facts) or _likely_faults(board, facts)
    if cleared(board, facts) and not doubtful:
        return "healthy"
    return "not_enough_evidence"


def cleared(board: Board, facts: Facts) -> bool:
    """Whether the server was seen at work and every suspect is refuted: nothing seen is wrong, which is less than
    health. Decoding without graphs is wrong whatever causes it."""
    if decodes_eagerly(facts) is not None:
        return False
    return seen_at_work(facts) and all(_is_refuted(board, cause_id) for cause_id in suspects(facts))


def seen_at_work(facts: Facts) -> bool:
    """Whether the evidence shows the server generating for a while, and tells which server it is."""
    decoded = facts.number("decode.lines") or 0
    seen = decoded >= FEWEST_DECODE_LINES and decoded + (facts.number("prefill.lines") or 0) >= FEWEST_LINES
    worked = seen or (facts.number("metrics.window_s") or 0) >= FEWEST_SECONDS
    return worked and (arguments_known(facts) or "engine.version" in facts)


def health_lacks(board: Board, facts: Facts) -> tuple[Probe, ...]:
    """What would have to be looked at before a server that shows no fault may be called healthy. Where something that
    is no fault explains its speed, a slow stage is not what holds it back."""
    lacking = []
    if not any(facts.get(name) is not None for name in SPEED_TOLD):
        lacking.append(Probe("bench.results", "nothing but the log tells how fast it is, and for how many requests", 0))
    if not board.supported and not stages_seen(facts):
        lacking.append(_stage_probe(facts))
    return tuple(lacking)


def _stage_probe(facts: Facts) -> Probe:
    """What would show a stage that is slower than the others; equal layers do not."""
    if no_cuda(facts) is None:
        return Probe("gpu.samples", "whether one stage is slower than the others shows on their cards", 2)
    why = "one request alone, and all slots filled, would show whether one stage is slower than the others"
    return Probe("bench.results", why, 0)


def suspects(facts: Facts) -> tuple[str, ...]:
    """The causes that every healthy server must have been cleared of."""
    ring = stages(facts)
    pipeline = ("PP001", "PP003") if ring is None or ring.value > 1 else ()
    graphs = () if no_cuda(facts) is not None else ("CG001",)
    return (*pipeline, "KV001", "KV002", *graphs)


def _is_refuted(board: Board, cause_id: str) -> bool:
    hypothesis = board.of(cause_id)
    return hypothesis is not None and hypothesis.state == "refuted"


def _likely_faults(board: Board, facts: Facts) -> tuple[Hypothesis, ...]:
    """Open faults above `LIKELY_FROM` that something known speaks about."""
    return tuple(
        h
        for h in board.in_state("open")
        if h.cause_id not in NOT_A_FAULT
        and h.judgement.posterior > LIKELY_FROM
        and any(want in facts for want in h.judgement.cause.wants)
    )
