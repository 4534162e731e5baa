"""Brains that need no thought, for the same table: what a score is worth shows beside them."""

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ppagent.causes.catalog import all_causes
from ppagent_evals.diagnosing import diagnosed_by
from ppagent_evals.scorer import Document


def chance(recording: Path) -> Document:
    """One cause of the list, drawn by the case's name so that a run can be repeated."""
    ids = [cause.id for cause in all_causes()]
    return _says(random.Random(recording.name).choice(ids), 1 / len(ids))


def always_graphs(recording: Path) -> Document:
    """ "Turn CUDA graphs on", whatever the question."""
    proposal = _proposal("CG001", {"set": {}, "unset": ["--disable-cuda-graph"], "env": {}})
    return {**_says("CG001", 0.9), "proposals": [proposal]}


def first_rule(recording: Path) -> Document:
    """The first supported cause in the order of the list, with a constant confidence: one cause and no second."""
    document = dict(diagnosed_by("rules", "", "", recording))
    supported = sorted(h["cause"] for h in document["hypotheses"] if h["state"] == "supported")
    kept = supported[:1]
    document["hypotheses"] = [
        {**h, "confidence": 0.9} if h["cause"] in kept else {**h, "state": "open"}
        for h in document["hypotheses"]
        if h["state"] != "supported" or h["cause"] in kept
    ]
    document["proposals"] = [p for p in document["proposals"] if set(p["causes"]) <= set(kept)]
    return document


def _says(cause: str, confidence: float) -> dict[str, Any]:
    hypothesis = {"cause": cause, "state": "supported", "confidence": confidence, "because": [], "against": []}
    return {
        "verdict": "diagnosed",
        "hypotheses": [hypothesis],
        "evidence": [],
        "proposals": [],
        "next_probes": [],
        "cost": {"tool_calls": {}},
    }


def _proposal(cause: str, change: Mapping[str, object]) -> dict[str, object]:
    return {"causes": [cause], "kind": "relaunch", "change": change}
