"""One cause: its state, what speaks for and against it, what is open, and what it leads to."""

from collections.abc import Sequence

from ppagent.agent.board import Hypothesis
from ppagent.agent.investigation import Investigation
from ppagent.agent.probe_words import how_to_see
from ppagent.causes.cause import Observation
from ppagent.causes.judge import Judgement, State
from ppagent.changes.proposal import Predicted
from ppagent.chat.wording import tagged
from ppagent.report.lines import Line, Tone, wrapped

STATES: dict[State, str] = {
    "supported": "supported",
    "refuted": "ruled out",
    "open": "open",
    "cannot_tell": "cannot tell",
}
TONES: dict[State, Tone] = {"supported": "bad", "refuted": "good", "open": "plain", "cannot_tell": "plain"}
MOST_OBSERVATIONS = 5


def cause_lines(hypothesis: Hypothesis, found: Investigation, width: int) -> list[Line]:
    """All that is known about one cause."""
    judgement = hypothesis.judgement
    head = (
        f"{hypothesis.cause_id}  {judgement.cause.name}: {STATES[hypothesis.state]}, "
        f"{judgement.confidence:.2f}  ({hypothesis.id})"
    )
    lines = [Line(head, TONES[hypothesis.state])]
    lines += _observations("for", judgement.because, found, width)
    lines += _observations("against", judgement.against, found, width)
    for probe in judgement.probes:
        lines += wrapped(f"{probe.why} ({how_to_see(probe)})", width, f"  {'open':<9}")
    if not (judgement.because or judgement.against or judgement.probes):
        lines += wrapped("no evidence yet speaks for or against it", width, f"  {'open':<9}")
    lines += _worth(hypothesis, found, width)
    proposals = [p.id for p in found.plan.proposals if hypothesis.cause_id in p.causes]
    if proposals:
        lines.append(Line(f"  {'cure':<9}{' '.join(proposals)}   /propose {proposals[0]}"))
    lines.append(Line(f"  ppagent explain {hypothesis.cause_id} tells what it is", "dim"))
    return lines


def _worth(hypothesis: Hypothesis, found: Investigation, width: int) -> list[Line]:
    """What curing it by itself would bring, beside the cause that costs most."""
    gains = found.plan.gains
    if hypothesis.cause_id not in gains:
        return []
    most = max(gains, key=lambda cause: gains[cause].high - gains[cause].baseline)
    more = f"; the most by itself is {most}'s, {_gain(gains[most])}" if most != hypothesis.cause_id else ""
    here = gains[hypothesis.cause_id]
    return wrapped(f"{_gain(here)} at C={here.at_concurrency:g} if cured alone{more}", width, f"  {'worth':<9}")


def _gain(alone: Predicted) -> str:
    return f"{alone.low - alone.baseline:+.0f} to {alone.high - alone.baseline:+.0f} tok/s"


def cause_in_short(hypothesis: Hypothesis) -> str:
    """State and most telling observation, in a sentence."""
    judgement = hypothesis.judgement
    name = f"{judgement.cause.name} ({hypothesis.cause_id})"
    match hypothesis.state:
        case "supported":
            return f"Yes, {name}: {_first(judgement.because)}"
        case "refuted":
            return f"No, {name} is ruled out: {_first(judgement.against)}"
        case _:
            known = judgement.because or judgement.against
            why = judgement.probes[0].why if judgement.probes else _first(known)
            return f"Cannot tell yet, {name} is open at {judgement.confidence:.2f}: {why}"


def cause_and_state(hypothesis: Hypothesis) -> str:
    """The same as part of an answer to something else, without a yes or a no."""
    judgement = hypothesis.judgement
    if hypothesis.state == "refuted":
        says = _first(judgement.against)
    else:
        says = _first(judgement.because or judgement.against) if judgement.because else _open(judgement)
    return f"{_capital(judgement.cause.name)} ({hypothesis.cause_id}): {STATES[hypothesis.state]}: {says}"


def _open(judgement: Judgement) -> str:
    return judgement.probes[0].why if judgement.probes else _first(judgement.against)


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _observations(label: str, seen: Sequence[Observation], found: Investigation, width: int) -> list[Line]:
    """Each observation, and the words that the first piece of its evidence was read from."""
    by_id = {item.id: item for item in found.evidence}
    lines: list[Line] = []
    for observation in seen[:MOST_OBSERVATIONS]:
        lines += wrapped(tagged(observation.says, observation.cites), width, f"  {label:<9}")
        quotes = [by_id[c].excerpt for c in observation.cites if c in by_id and by_id[c].excerpt]
        if quotes:
            first = quotes[0].split("\n", 1)[0]
            lines.append(Line(f"           > {first[: width - 13]}", "dim"))
    return lines


def _first(seen: Sequence[Observation]) -> str:
    return tagged(seen[0].says, seen[0].cites) if seen else "no evidence yet speaks for or against it"
