"""Results of a run as figures: shares by brain, a reliability table, and what changed since another run."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ppagent.errors import UserError
from ppagent_evals.runner import CaseResult

SCHEMA_VERSION = 1
BINS = ((0.0, 0.05), (0.05, 0.2), (0.2, 0.5), (0.5, 0.75), (0.75, 0.9), (0.9, 1.01))


@dataclass(frozen=True)
class Summary:
    """One brain over a corpus. Shares are between 0 and 1; None where no case asks for the thing."""

    brain: str
    cases: int
    measured: int
    reconstructed: int
    synthetic: int
    passed: float
    verdict: float
    causes: float
    fix: float | None
    grounding: float
    ruled_out: float | None
    forecast: float | None
    harm: int
    crashed: int
    seconds: float
    brier: float | None


def summarise(brain: str, results: Sequence[CaseResult]) -> Summary:
    """The figures of one brain. A case that crashed counts as wrong in everything that it asks for."""
    count = len(results)
    scores = [result.score for result in results if result.score is not None]
    origins = [result.origin for result in results]
    return Summary(
        brain=brain,
        cases=count,
        measured=origins.count("measured"),
        reconstructed=origins.count("reconstructed"),
        synthetic=origins.count("synthetic"),
        passed=sum(result.passed for result in results) / count,
        verdict=sum(s.verdict for s in scores) / count,
        causes=sum(s.causes_right for s in scores) / count,
        fix=_share([float(s.fix) for s in scores if s.fix is not None]),
        grounding=sum(s.grounding for s in scores) / count,
        ruled_out=_share([s.ruled_out for s in scores if s.ruled_out is not None]),
        forecast=_share([float(s.forecast) for s in scores if s.forecast is not None]),
        harm=sum(len(s.harm) for s in scores),
        crashed=count - len(scores),
        seconds=sum(result.seconds for result in results) / count,
        brier=brier_score(results),
    )


def _share(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _told(results: Sequence[CaseResult]) -> list[tuple[float, bool]]:
    return [(p, held) for result in results for _, p, held in result.confidences]


def brier_score(results: Sequence[CaseResult]) -> float | None:
    """Mean square of confidence minus truth over all hypotheses with evidence; 0 is perfect, 0.25 a coin."""
    told = _told(results)
    return sum((p - held) ** 2 for p, held in told) / len(told) if told else None


def reliability(results: Sequence[CaseResult]) -> tuple[tuple[float, float, int, float, float], ...]:
    """(from, to, hypotheses, mean confidence, share that held) for each range of confidence that occurs."""
    rows = []
    for low, high in BINS:
        inside = [(p, held) for p, held in _told(results) if low <= p < high]
        if inside:
            count = len(inside)
            rows.append(
                (low, min(high, 1.0), count, sum(p for p, _ in inside) / count, sum(h for _, h in inside) / count)
            )
    return tuple(rows)


def as_document(summaries: Sequence[Summary], results: Mapping[str, Sequence[CaseResult]]) -> dict[str, Any]:
    """The run as JSON."""
    return {
        "schema_version": SCHEMA_VERSION,
        "summary": [asdict(summary) for summary in summaries],
        "cases": {
            brain: [asdict(r) | {"passed": r.passed} for r in sorted(rows, key=lambda r: r.id)]
            for brain, rows in results.items()
        },
    }


def compare(before: Path, results: Mapping[str, Sequence[CaseResult]]) -> tuple[str, ...]:
    """Case by case, what got better and worse since the run saved in `before`. Raises UserError on another file."""
    try:
        cases = json.loads(before.read_text(encoding="utf-8"))["cases"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{before} holds no saved eval run.", "Save one with `ppagent eval --json FILE`.") from error
    lines = []
    for brain, rows in results.items():
        earlier = {case["id"]: bool(case["passed"]) for case in cases.get(brain, ())}
        for row in sorted(rows, key=lambda row: row.id):
            was = earlier.get(row.id)
            if was is not None and was != row.passed:
                lines.append(f"{brain}: {row.id} got {'better' if row.passed else 'worse'}")
    return tuple(lines)
