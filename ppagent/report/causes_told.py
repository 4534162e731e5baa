"""The causes as a report tells them: supported ones with their reasons, ruled out and undecided ones in one line each,
those of which the same is said together."""

from collections.abc import Callable, Iterable, Sequence

from ppagent.agent.board import Hypothesis
from ppagent.agent.investigation import Investigation
from ppagent.agent.probe_words import how_to_see
from ppagent.causes.cause import Observation
from ppagent.changes.proposal import Predicted
from ppagent.report.parts import CauseSection, Cites, Note, Reason
from ppagent.report.plain import plain

MOST_REASONS = 4


def cause_told(hypothesis: Hypothesis, found: Investigation) -> CauseSection:
    """A supported cause with the most telling of what was seen, and what is still open about it."""
    judgement = hypothesis.judgement
    alone = found.plan.gains.get(hypothesis.cause_id)
    return CauseSection(
        id=hypothesis.cause_id,
        name=judgement.cause.name,
        confidence=judgement.confidence,
        gain=_gain(alone) if alone is not None else "",
        open=tuple(plain(f"{probe.why} ({how_to_see(probe)})") for probe in judgement.probes),
        because=_reasons(judgement.because, found),
        against=_reasons(judgement.against, found),
    )


def _gain(alone: Predicted) -> str:
    low, high = alone.low - alone.baseline, alone.high - alone.baseline
    digits = 0 if alone.baseline >= 50 else 1
    return f"{low:+.{digits}f} to {high:+.{digits}f} tok/s"


def _reasons(observations: Sequence[Observation], found: Investigation) -> tuple[Reason, ...]:
    """The most telling observations, each with a quote that none before it has."""
    by_id = {e.id: e for e in found.evidence}
    reasons: list[Reason] = []
    for observation in observations[:MOST_REASONS]:
        cited = [by_id[c] for c in observation.cites if c in by_id]
        used = {reason.quote for reason in reasons}
        quotes = (line for e in cited if (line := _first_line(e.excerpt)) and line not in used)
        artifacts = tuple(dict.fromkeys(e.artifact for e in cited))
        reasons.append(Reason(plain(observation.says), observation.cites, artifacts, next(quotes, "")))
    return tuple(reasons)


def _first_line(excerpt: str) -> str:
    return plain(excerpt).split("\n", 1)[0]


def ruled_out(refuted: Sequence[Hypothesis]) -> tuple[Note, ...]:
    """Each with what speaks most against it."""
    strongest = ((h, h.judgement.against[0]) for h in refuted)
    return _grouped((h, plain(seen.says), seen.cites) for h, seen in strongest)


def cannot_tell(undecided_ones: Sequence[Hypothesis]) -> tuple[Note, ...]:
    """Why each is undecided, and how likely it is."""
    return _grouped(((h, *_left_open(h)) for h in undecided_ones), _likely)


def _left_open(hypothesis: Hypothesis) -> tuple[str, Cites]:
    """What is missing, else what the evidence leaves open."""
    judgement = hypothesis.judgement
    if judgement.probes:
        probe = min(judgement.probes, key=lambda p: p.grade)
        return f"{plain(probe.why)} ({how_to_see(probe)})", _cites(judgement.because)
    seen = judgement.because or judgement.against
    if not seen:
        return "no evidence yet speaks for or against it", ()
    return plain(seen[0].says), seen[0].cites


def _grouped(
    told: Iterable[tuple[Hypothesis, str, Cites]], more: Callable[[Sequence[Hypothesis]], str] = lambda _group: ""
) -> tuple[Note, ...]:
    """A note each, and one for all of which the same is said: a cause by its name, several by their ids."""
    groups: dict[tuple[str, Cites], list[Hypothesis]] = {}
    for hypothesis, says, cites in told:
        groups.setdefault((says, cites), []).append(hypothesis)
    return tuple(Note(f"{_names(group)}{more(group)}", says, cites) for (says, cites), group in groups.items())


def _names(group: Sequence[Hypothesis]) -> str:
    first, *others = group
    return " ".join(h.cause_id for h in group) if others else f"{first.cause_id} {first.judgement.cause.name}"


def _likely(group: Sequence[Hypothesis]) -> str:
    """The confidence, or from the least to the most of several."""
    least, most = (f"{bound(h.judgement.confidence for h in group):.2f}" for bound in (min, max))
    return f" ({least} to {most})" if least != most else f" ({most})"


def _cites(observations: Iterable[Observation]) -> Cites:
    return tuple(dict.fromkeys(c for o in observations for c in o.cites))
