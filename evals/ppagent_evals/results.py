"""Results of a run as figures: shares by brain, a reliability table, and what changed since another run."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ppagent.errors import UserError
from ppagent_evals.perturb import VariantResult
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
    repeats: int
    spread: float
    """Half the distance between the best and the worst repeat's share of passed cases."""
    calls: float
    """Mean of questions asked of tools."""
    tokens: float
    """Mean of a model's tokens, prompts and replies."""
    usd: float
    """Sum over all cases and repeats."""


def summarise(brain: str, results: Sequence[CaseResult]) -> Summary:
    """The figures of one brain. A case that crashed counts as wrong in everything that it asks for."""
    count, cases = len(results), len({result.id for result in results})
    scores = [result.score for result in results if result.score is not None]
    origins = list({result.id: result.origin for result in results}.values())
    return Summary(
        brain=brain,
        cases=cases,
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
        repeats=len({result.repeat for result in results}),
        spread=_spread(results),
        calls=sum(result.calls for result in results) / count,
        tokens=sum(result.tokens for result in results) / count,
        usd=sum(result.usd for result in results),
    )


def _spread(results: Sequence[CaseResult]) -> float:
    shares = []
    for repeat in sorted({result.repeat for result in results}):
        passed = [result.passed for result in results if result.repeat == repeat]
        shares.append(sum(passed) / len(passed))
    return (max(shares) - min(shares)) / 2


def _share(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _told(results: Sequence[CaseResult]) -> list[tuple[float, bool]]:
    return [(told.told, told.held) for result in results for told in result.confidences]


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


def as_document(
    summaries: Sequence[Summary],
    results: Mapping[str, Sequence[CaseResult]],
    spoiled: Sequence[VariantResult] = (),
) -> dict[str, Any]:
    """The run as JSON; `spoiled` are the copies that were made worse, where that was asked for."""
    return {
        "schema_version": SCHEMA_VERSION,
        "summary": [asdict(summary) for summary in summaries],
        "cases": {
            brain: [asdict(r) | {"passed": r.passed} for r in sorted(rows, key=lambda r: (r.id, r.repeat))]
            for brain, rows in results.items()
        },
        "spoiled": [asdict(result) for result in spoiled],
    }


def compare(before: Path, results: Mapping[str, Sequence[CaseResult]]) -> tuple[str, ...]:
    """Case by case, what got better and worse since the run saved in `before`. Raises UserError on another file."""
    try:
        cases = json.loads(before.read_text(encoding="utf-8"))["cases"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{before} holds no saved eval run.", "Save one with `ppagent eval --json FILE`.") from error
    lines = []
    for brain, rows in results.items():
        earlier, now = _passed_by_case(cases.get(brain, ())), _passed_by_case([_told_of(row) for row in rows])
        for case in sorted(set(earlier) & set(now)):
            if earlier[case] != now[case]:
                better = now[case] > earlier[case]
                lines.append(f"{brain}: {case} got {'better' if better else 'worse'}")
    return tuple(lines)


def _told_of(row: CaseResult) -> Mapping[str, Any]:
    return {"id": row.id, "passed": row.passed}


def _passed_by_case(rows: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Share of passed repeats by case."""
    passed: dict[str, list[bool]] = {}
    for row in rows:
        passed.setdefault(row["id"], []).append(bool(row["passed"]))
    return {case: sum(each) / len(each) for case, each in passed.items()}
