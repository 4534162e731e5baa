"""Proposals in the words of a report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ppagent.agent.contribution import OTHER
from ppagent.causes.cause import RemedyKind
from ppagent.changes.proposal import Predicted, Proposal
from ppagent.report.plain import plain, plain_command
from ppagent.report.rate import rate

Note = tuple[str, str]
"""A label (forecast, risk, check, back) and its text."""

NONE = "none, since "
_IN_WORDS = {"back": "way back"}


@dataclass(frozen=True)
class Step:
    """One thing to do. `command` and `diff` are to be copied: no renderer may wrap or indent their lines away."""

    id: str
    heading: str
    title: str
    causes: tuple[str, ...]
    cites: tuple[str, ...]
    command: str
    diff: str
    notes: tuple[Note, ...]
    predicted: Predicted | None = None
    """The forecast behind its note, as numbers."""


def steps_of(proposals: Sequence[Proposal]) -> tuple[Step, ...]:
    """Every proposal as a step, in the plan's order. What an earlier step has told is pointed to, not told again."""
    steps: list[Step] = []
    told: dict[Note, str] = {}
    for proposal in proposals:
        notes = _notes(proposal)
        steps.append(_step(proposal, _untold(notes, told), [p.kind for p in proposals[: len(steps)]]))
        told |= {note: proposal.id for note in notes if note not in told}
    return tuple(steps)


def _notes(proposal: Proposal) -> tuple[Note, ...]:
    notes = [("forecast", _forecast(proposal.predicted) if proposal.predicted is not None else _none(proposal))]
    notes += [("risk", risk) for risk in proposal.risks]
    notes += [("check", proposal.verify), ("back", proposal.rollback)]
    return tuple((label, plain(text)) for label, text in notes if text)


def _none(proposal: Proposal) -> str:
    """That there is no forecast, and why: without a word of it nobody knows whether one was forgotten."""
    return f"{NONE}{proposal.unpredicted}" if proposal.unpredicted else ""


def _untold(notes: Sequence[Note], told: Mapping[Note, str]) -> tuple[Note, ...]:
    new = [note for note in notes if note not in told or note[1].startswith(NONE)]
    pointers: dict[str, list[str]] = {}
    for note in notes:
        if note in told and note not in new:
            pointers.setdefault(told[note], []).append(note[0])
    new += [("as " + step, _alike(labels)) for step, labels in pointers.items()]
    return tuple(new)


def _alike(labels: Sequence[str]) -> str:
    """Which notes are the same as an earlier step's, in words."""
    return "the same " + ", ".join(dict.fromkeys(_IN_WORDS.get(label, label) for label in labels))


def _step(proposal: Proposal, notes: tuple[Note, ...], before: Sequence[RemedyKind]) -> Step:
    by_hand = proposal.kind == "operator"
    return Step(
        id=proposal.id,
        heading="ONLY TO TRY OUT, one restart" if OTHER in proposal.causes else _heading(proposal.kind, before),
        title=plain(proposal.title),
        causes=proposal.causes,
        cites=proposal.cites,
        command="" if by_hand and proposal.command == proposal.title else plain_command(proposal.commands),
        diff=plain_command(proposal.diff),
        notes=notes,
        predicted=proposal.predicted,
    )


def _heading(kind: RemedyKind, before: Sequence[RemedyKind]) -> str:
    """What kind of step it is, and how it stands to those before it. Nobody restarts twice for two restarts."""
    match kind:
        case "live":
            return "ALSO LIVE, reversible" if before else "TRY NOW, live, reversible"
        case "relaunch" if "relaunch" in before:
            return "OR IN ITS PLACE, one restart"
        case "relaunch":
            return "THEN, one restart" if before else "DO THIS, one restart"
        case "operator":
            return "BY HAND"


def _forecast(predicted: Predicted) -> str:
    """A forecast is a range, said together with what it starts from."""
    unit = "tok/s" if predicted.metric == "output_throughput" else predicted.metric
    span = f"{rate(predicted.low)}-{rate(predicted.high)} {unit}"
    regime = f", {predicted.regime}" if predicted.regime else ""
    return f"at C={predicted.at_concurrency:g}: {span} (now {rate(predicted.baseline)}{regime}){taking(predicted)}"


def taking(predicted: Predicted) -> str:
    """The assumption that a range rests on most, as a clause behind it; empty where there is none."""
    return f"; assumes: {predicted.assumes[0]}" if predicted.assumes else ""
