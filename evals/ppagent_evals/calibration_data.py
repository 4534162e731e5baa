"""What was told with which confidence and whether it was so, by incident and in two halves.

A cause that the answer demands holds. One that it forbids or wants ruled out does not, and neither does one that it
leaves out, since an answer names all that holds; those are told apart as `listed`. One that it accepts without
demanding may hold or not: it is in no half. Spoiled copies count with their incident, and every incident weighs the
same.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ppagent_evals.answer import Answer, read_answer
from ppagent_evals.confidence import Confidence
from ppagent_evals.perturb import VariantResult
from ppagent_evals.runner import CaseResult

FIRST_SIGHT = Path("evals/first_sight.json")
LEAST = 0.0005
"""Documents round to four places; nothing is computed as certain."""


@dataclass(frozen=True)
class Told:
    """One hypothesis with evidence for or against it."""

    incident: str
    posterior: float
    """As computed, before the map."""
    held: bool
    listed: bool
    """Whether the answer says so in words, and not by leaving it out."""
    weight: float


def fitted_half(incident: str) -> bool:
    """Whether the map may be fitted on this incident: by a hash of its name, so that no choice goes into it."""
    return hashlib.sha256(incident.encode()).digest()[0] % 2 == 0


def told_of(results: Sequence[CaseResult], spoiled: Sequence[VariantResult], recordings: Sequence[Path]) -> list[Told]:
    """Every hypothesis of a run."""
    answers = {recording.name: read_answer(recording) for recording in recordings}
    runs: dict[str, list[Sequence[Confidence]]] = {}
    rows: list[CaseResult | VariantResult] = [*results, *spoiled]
    for row in rows:
        if row.id in answers and row.confidences:
            runs.setdefault(row.id, []).append(row.confidences)
    return [told for incident, each in runs.items() for told in _of_incident(incident, each, answers[incident])]


def first_sight(recordings: Sequence[Path], path: Path = FIRST_SIGHT) -> list[Told]:
    """What was computed when incidents were first run, before any rule had seen them; where that was kept."""
    if not path.is_file():
        return []
    answers = {recording.name: recording for recording in recordings}
    kept = [batch.get("computed", {}) for batch in json.loads(path.read_text(encoding="utf-8"))["batches"]]
    runs = {name: rows for batch in kept for name, rows in batch.items() if name in answers}
    return [
        told
        for name, rows in runs.items()
        for told in _of_incident(
            name, [[Confidence(cause, p, False, p) for cause, p in rows]], read_answer(answers[name])
        )
    ]


def _of_incident(incident: str, runs: Sequence[Sequence[Confidence]], answer: Answer) -> Iterator[Told]:
    """Each run of the incident weighs the same, and all of them together 1."""
    for run in runs:
        labelled = [(c.computed, label) for c in run if (label := _label(c.cause, answer)) is not None]
        for computed, (held, listed) in labelled:
            bounded = min(max(computed, LEAST), 1 - LEAST)
            yield Told(incident, bounded, held, listed, 1 / len(runs) / len(labelled))


def _label(cause: str, answer: Answer) -> tuple[bool, bool] | None:
    if cause in answer.causes:
        return True, True
    if cause in answer.also_accepted:
        return None
    return False, cause in answer.must_not_support or cause in answer.ruled_out


def halves(told: Sequence[Told]) -> Mapping[bool, list[Told]]:
    """What may be fitted on under True, what is held out under False."""
    return {half: [t for t in told if fitted_half(t.incident) is half] for half in (True, False)}
