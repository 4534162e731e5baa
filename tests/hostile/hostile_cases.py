"""Incidents taken from the published ones and spoiled in one place, and what a diagnosis makes of them."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from ppagent.cli.main import main

INCIDENTS = Path(__file__).parents[2] / "evals" / "incidents"


def copied(name: str, folder: Path) -> Path:
    """A published incident without its answer, to be spoiled; returns the folder."""
    case = folder / name
    shutil.copytree(INCIDENTS / name, case, ignore=shutil.ignore_patterns("answer.yaml"))
    return case


def host_of(case: Path) -> Path:
    """The folder of its only host."""
    (host,) = (case / "hosts").iterdir()
    return host


def diagnosed(case: Path, capsys: pytest.CaptureFixture[str], *more: str) -> dict[str, Any]:
    """The JSON report on a recording, which every input must end in."""
    capsys.readouterr()
    main(["diagnose", str(case), "--format", "json", "--brain", "rules", *more])
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def facts(report: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """The facts of its evidence by name, the last one of each."""
    found = [pair for item in report["evidence"] for pair in item["facts"].items()]
    return {name: value for name, value in found if name.startswith(prefix)}


def supported(report: dict[str, Any]) -> dict[str, float]:
    """Confidence of each supported cause."""
    rows = report["hypotheses"]
    return {row["cause"]: row["confidence"] for row in rows if row["state"] == "supported"}
