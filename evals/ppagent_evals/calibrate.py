"""Fits the map from posteriors to confidences: `python -m ppagent_evals.calibrate RUN.json [--write]`.

RUN.json comes from `ppagent eval --perturb --json RUN.json`. The map is fitted on the half of the incidents whose
names' hashes are even and never sees the other. Whether it replaces the identity is decided within that half, by
leaving fifths of its incidents out; the held-out half is only looked at.
"""

import argparse
import json
import math
import sys
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from ppagent.causes.calibration import PATH, Calibration
from ppagent_evals.calibration_data import Told, first_sight, halves, told_of
from ppagent_evals.calibration_table import calibration_text
from ppagent_evals.confidence import Confidence
from ppagent_evals.perturb import VariantResult
from ppagent_evals.runner import CaseResult, find_incidents

INCIDENTS = Path("evals/incidents")
FOLDS = 5
PULL = 0.02
"""How strongly the map is pulled towards the identity, in incidents' worth of evidence for each parameter."""
STEPS = 60


def fit(told: Sequence[Told]) -> Calibration:
    """The map of least weighted log loss, by Newton's steps from the identity."""
    scale, shift = 1.0, 0.0
    rows = [(_log_odds(t.posterior), float(t.held), t.weight) for t in told]
    for _ in range(STEPS):
        g0, g1, h00, h01, h11 = PULL * (scale - 1), PULL * shift, PULL, 0.0, PULL
        for x, y, w in rows:
            p = 1 / (1 + math.exp(-(scale * x + shift)))
            g0, g1 = g0 + w * (p - y) * x, g1 + w * (p - y)
            v = w * p * (1 - p)
            h00, h01, h11 = h00 + v * x * x, h01 + v * x, h11 + v
        det = h00 * h11 - h01 * h01
        down, across = (h11 * g0 - h01 * g1) / det, (h00 * g1 - h01 * g0) / det
        scale, shift = max(scale - down, 0.05), shift - across
        if abs(down) + abs(across) < 1e-6:
            break
    return Calibration(round(scale, 4), round(shift, 4))


def log_loss(told: Sequence[Told], by: Calibration) -> float:
    """Weighted mean of minus the log of the probability given to what was so."""
    total = sum(t.weight for t in told)
    return sum(-t.weight * math.log(_given(t, by)) for t in told) / total if total else 0.0


def _given(told: Told, by: Calibration) -> float:
    p = by.told(told.posterior)
    return p if told.held else 1 - p


def chosen(told: Sequence[Told]) -> tuple[Calibration, float, float]:
    """The map to use, and the log loss of the identity and of fitted maps on incidents that they did not see."""
    incidents = sorted({t.incident for t in told})
    plain = fitted = 0.0
    for fold in range(FOLDS):
        left_out = set(incidents[fold::FOLDS])
        rest = [t for t in told if t.incident not in left_out]
        out = [t for t in told if t.incident in left_out]
        plain += log_loss(out, Calibration()) * len(left_out) / len(incidents)
        fitted += log_loss(out, fit(rest)) * len(left_out) / len(incidents)
    return (fit(told) if fitted < plain else Calibration()), plain, fitted


def _log_odds(p: float) -> float:
    return math.log(p / (1 - p))


def read_run(path: Path) -> tuple[list[CaseResult], list[VariantResult]]:
    """The first brain's confidences of a saved run."""
    run = json.loads(path.read_text(encoding="utf-8"))
    cases = next(iter(run["cases"].values()))
    results = [CaseResult(c["id"], c["origin"], None, c["seconds"], confidences=_confidences(c)) for c in cases]
    spoiled = [
        VariantResult(v["id"], v["label"], (), v["verdict"], confidences=_confidences(v)) for v in run["spoiled"]
    ]
    return results, spoiled


def _confidences(row: Mapping[str, Any]) -> tuple[Confidence, ...]:
    return tuple(Confidence(*entry) for entry in row["confidences"])


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m ppagent_evals.calibrate", description=__doc__)
    parser.add_argument("run", type=Path, metavar="RUN.json")
    parser.add_argument("--write", action="store_true", help=f"write {PATH.name}")
    args = parser.parse_args(arguments)
    recordings = find_incidents([INCIDENTS])
    told = told_of(*read_run(args.run), recordings)
    fitted_on = halves(told)[True]
    new, plain, fitted = chosen(fitted_on)
    print(calibration_text(told, first_sight(recordings), new))
    print(f"log loss on incidents left out, within the fitted half: {plain:.4f} as computed, {fitted:.4f} fitted")
    print(f"scale {new.scale:g}, shift {new.shift:g}")
    if args.write:
        PATH.write_text(json.dumps(_document(new, told, fitted_on), indent=1) + "\n", encoding="utf-8")
    return 0


def _document(new: Calibration, told: Sequence[Told], fitted_on: Sequence[Told]) -> dict[str, object]:
    return {
        "scale": new.scale,
        "shift": new.shift,
        "fitted": date.today().isoformat(),
        "incidents": len({t.incident for t in fitted_on}),
        "hypotheses": len(fitted_on),
        "held_out_incidents": len({t.incident for t in told}) - len({t.incident for t in fitted_on}),
        "how": "python -m ppagent_evals.calibrate over a run of `ppagent eval --perturb --json`",
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
