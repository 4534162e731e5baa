"""What a model added, for a reader: labelled as its own, with how many of its statements were left out."""

from collections.abc import Iterator
from dataclasses import dataclass

from ppagent.agent.contribution import UNPROVEN, OwnHypothesis
from ppagent.agent.investigation import Investigation
from ppagent.report.plain import plain


@dataclass(frozen=True)
class Own:
    """One statement of the model's, or about them."""

    label: str
    says: str
    cites: tuple[str, ...] = ()


def own_statements(found: Investigation) -> tuple[Own, ...]:
    """Its hypotheses with what became of their predictions, its remarks, what was left out, how it went."""
    return tuple(_statements(found))


def _statements(found: Investigation) -> Iterator[Own]:
    added = found.contribution
    if added.hypotheses or added.remarks:
        yield Own("in its own words", "the figures are checked against the evidence cited, the words are not")
    for own in added.hypotheses:
        yield Own(f"{own.id}, {UNPROVEN}", plain(f"{own.says}. {_predictions(own)}"), own.cites)
    for remark in added.remarks:
        label = f"{remark.stance} {remark.about}" if remark.about else "in closing"
        yield Own(label, plain(remark.says), remark.cites)
    if added.struck:
        what = "1 statement was" if added.struck == 1 else f"{added.struck} statements were"
        yield Own("left out", f"{what} struck, as the evidence does not hold what the model said")
    for note in added.notes:
        yield Own("note", plain(note))


def _predictions(own: OwnHypothesis) -> str:
    """By code: which predictions hold, fail or cannot be looked up."""
    return "Predicted: " + "; ".join(f"{p.says}: {p.outcome}" for p in own.predictions)
