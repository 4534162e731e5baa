"""The verdict in a sentence or two, each with the evidence it stands on."""

from collections.abc import Sequence

from ppagent.agent.board import NOT_A_FAULT, Board, Hypothesis, Verdict
from ppagent.causes.cause import Observation, Probe
from ppagent.changes.proposal import Plan
from ppagent.evidence.facts import Facts

MOST_NAMED = 4


def summary_of(verdict: Verdict, board: Board, facts: Facts, plan: Plan, probes: Sequence[Probe]) -> str:
    """The verdict in plain words."""
    match verdict:
        case "diagnosed":
            return _diagnosed(in_plan_order(board.supported, plan))
        case "healthy":
            return _healthy(board.supported, facts)
        case "not_enough_evidence":
            return _not_enough(board.supported, probes)


def in_plan_order(hypotheses: Sequence[Hypothesis], plan: Plan) -> tuple[Hypothesis, ...]:
    """Faults first, and among them those that the plan removes first."""
    named = [cause for proposal in plan.proposals for cause in proposal.causes]

    def place(hypothesis: Hypothesis) -> tuple[bool, int, float]:
        cause = hypothesis.cause_id
        rank = named.index(cause) if cause in named else len(named)
        return (cause in NOT_A_FAULT, rank, -hypothesis.judgement.confidence)

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


def _healthy(supported: Sequence[Hypothesis], facts: Facts) -> str:
    shown = _signs_of_health(facts)
    sentence = f"Nothing is wrong with the server{': ' if shown else ''}{', '.join(shown)}."
    if not supported:
        return sentence
    return f"{sentence} What limits it is no fault: {'; '.join(_shown(h) for h in supported)}."


def _not_enough(supported: Sequence[Hypothesis], probes: Sequence[Probe]) -> str:
    known = f" Seen so far: {'; '.join(_shown(h) for h in supported)}." if supported else ""
    if not probes:
        return f"What is known does not decide what limits the server.{known}"
    first = probes[0]
    return f"What is known does not decide what limits the server.{known} Look next at {first.tool}: {first.why}."


def _shown(hypothesis: Hypothesis) -> str:
    """Name, id and most telling observation of a supported cause."""
    judgement = hypothesis.judgement
    name = f"{judgement.cause.name} ({hypothesis.cause_id})"
    return f"{name}: {cited(judgement.because[0])}" if judgement.because else name


def _signs_of_health(facts: Facts) -> list[str]:
    """What a working server shows, in words, out of what is known."""
    forms = (
        ("decode.throughput.p50", "it generates {:.4g} tok/s", 1.0),
        ("metrics.gen_throughput", "its gauge shows {:.4g} tok/s", 1.0),
        ("decode.queue_req.p95", "up to {:.3g} requests wait", 1.0),
        ("decode.token_usage.p95", "{:.3g} % of the KV pool is in use at most", 100.0),
        ("decode.graph_true_share", "{:.3g} % of the decode steps come from a graph", 100.0),
    )
    signs = []
    for name, form, scale in forms:
        fact = facts.get(name)
        if fact is not None and fact.number is not None:
            signs.append(f"{form.format(fact.number * scale)} [{fact.evidence}]")
    return signs


def _sentence_case(text: str) -> str:
    return text[:1].upper() + text[1:]
