"""The verdict in a sentence or two, each with the evidence it stands on."""

from collections.abc import Sequence

from ppagent.agent.board import (
    NOT_A_FAULT,
    Board,
    Hypothesis,
    Verdict,
    cleared,
    health_lacks,
    seen_at_work,
    suspects,
)
from ppagent.agent.probe_words import how_to_see, look_of
from ppagent.causes.cause import Observation, Probe
from ppagent.causes.ends import End, end_of, stopped_at_start, unexplained_end
from ppagent.causes.sighting import came_up
from ppagent.changes.proposal import Plan
from ppagent.evidence.facts import Facts

MOST_NAMED = 4

AT_LAUNCH = "LA"
"""How the causes begin that keep a server from coming up: nothing else matters before they are cured."""

TOLD_WHEN_HEALTHY = ("PP001", "KV001", "CG001")
"""Suspects whose clearing is part of a verdict of healthy: slots filled, memory free, graphs in use."""


def summary_of(verdict: Verdict, board: Board, facts: Facts, plan: Plan, probes: Sequence[Probe]) -> str:
    """The verdict in plain words."""
    match verdict:
        case "diagnosed":
            return _besides(board, facts) + _diagnosed(in_plan_order(board.supported, plan)) + _unchanged(plan)
        case "healthy":
            return _healthy(board, facts)
        case "not_enough_evidence":
            return _not_enough(board, facts, probes)


def in_plan_order(hypotheses: Sequence[Hypothesis], plan: Plan) -> tuple[Hypothesis, ...]:
    """Faults first, of those what keeps a server from coming up, and among the rest those that the plan removes
    first."""
    named = [cause for proposal in plan.proposals for cause in proposal.causes]

    def place(hypothesis: Hypothesis) -> tuple[bool, bool, int, float]:
        cause = hypothesis.cause_id
        rank = named.index(cause) if cause in named else len(named)
        return (cause in NOT_A_FAULT, not cause.startswith(AT_LAUNCH), rank, -hypothesis.judgement.confidence)

    return tuple(sorted(hypotheses, key=place))


def cited(observation: Observation) -> str:
    """What was observed, with the ids of its evidence."""
    return f"{observation.says} [{' '.join(observation.cites)}]"


def _diagnosed(supported: Sequence[Hypothesis]) -> str:
    first, *others = supported
    sentence = f"{_sentence_case(_shown(first))}."
    if not others:
        return sentence
    named = "; ".join(_shown(h) for h in others[: MOST_NAMED - 1])
    more = f"; and {len(others) - MOST_NAMED + 1} more" if len(others) >= MOST_NAMED else ""
    return f"{sentence} Also {named}{more}."


def _unchanged(plan: Plan) -> str:
    """What a diagnosis without a proposal says of that: silence would read as if the cure had been forgotten."""
    if plan.proposals:
        return ""
    why = " What might be tried is declined, with the reason." if plan.declined else ""
    return f" No change is proposed.{why}"


def _healthy(board: Board, facts: Facts) -> str:
    sentence = f"Nothing is wrong with the server: {'; '.join(_signs_of_health(board, facts))}."
    if not board.supported:
        return sentence
    return f"{sentence} What limits it is no fault: {'; '.join(_shown(h) for h in board.supported)}."


def _not_enough(board: Board, facts: Facts, probes: Sequence[Probe]) -> str:
    known = f" Seen so far: {'; '.join(_shown(h) for h in board.supported)}." if board.supported else ""
    undecided = "What is known does not decide what limits the server."
    end = end_of(facts)
    if end is not None and (end.fatal or not seen_at_work(facts)):
        undecided = _ended(end)
    elif stopped_at_start(facts):
        seen = came_up(facts)
        undecided = f"The log ends before the server is up, and names no error{_in(seen.cites if seen else ())}."
    elif cleared(board, facts) and health_lacks(board, facts):
        undecided = "Nothing wrong was seen, but too little to call the server healthy."
    if not probes:
        return f"{undecided}{known}"
    return f"{undecided}{known} Look next at {look_of(probes[0].tool).at}: {probes[0].why} ({how_to_see(probes[0])})."


def _besides(board: Board, facts: Facts) -> str:
    """The end of a server that nothing found explains: it goes first, lest a cause of slowness be taken for it."""
    end = unexplained_end(facts, [h.cause_id for h in board.supported])
    if end is None:
        return ""
    means = f": {end.means}" if end.means else ""
    return f"The server ended with {end.says}{_in(end.cites)}{means}. What follows does not explain that. "


def _in(cites: Sequence[str]) -> str:
    return f" [{' '.join(cites)}]" if cites else ""


def _ended(end: End) -> str:
    """The error that the log shows, where no cause on the list explains it."""
    means = f": {end.means}" if end.means else ""
    ended = "The server ended with" if end.fatal else "The log shows"
    return f"{ended} {end.says}{_in(end.cites)}{means}. What is known does not decide why."


def _shown(hypothesis: Hypothesis) -> str:
    """Name, id and most telling observation of a supported cause."""
    judgement = hypothesis.judgement
    name = f"{judgement.cause.name} ({hypothesis.cause_id})"
    return f"{name}: {cited(judgement.because[0])}" if judgement.because else name


def _signs_of_health(board: Board, facts: Facts) -> list[str]:
    """What shows it: the speed, and what clears the main suspects."""
    speed = facts.first("decode.throughput.p50", "metrics.gen_throughput", "metrics.generation_rate")
    signs = [f"it generates {speed.number:.4g} tok/s [{speed.evidence}]"] if speed is not None and speed.number else []
    cleared = (board.of(cause_id) for cause_id in suspects(facts) if cause_id in TOLD_WHEN_HEALTHY)
    return signs + [cited(h.judgement.against[0]) for h in cleared if h is not None and h.judgement.against]


def _sentence_case(text: str) -> str:
    return text[:1].upper() + text[1:]
