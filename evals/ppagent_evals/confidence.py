"""What a diagnosis told about each cause that it had evidence on, beside what was so."""

from typing import NamedTuple

from ppagent_evals.answer import Answer
from ppagent_evals.scorer import Document


class Confidence(NamedTuple):
    """One hypothesis with evidence for or against it."""

    cause: str
    told: float
    held: bool
    """Whether the answer demands or accepts it."""
    computed: float
    """The posterior behind `told`; `told` itself where a brain has none."""


def confidences_of(document: Document, answer: Answer) -> tuple[Confidence, ...]:
    """Every hypothesis that was decided or left open, and not those that nothing was seen of."""
    held = {*answer.causes, *answer.also_accepted}
    return tuple(
        Confidence(h["cause"], h["confidence"], h["cause"] in held, h.get("posterior", h["confidence"]))
        for h in document["hypotheses"]
        if h.get("because") or h.get("against")
    )
