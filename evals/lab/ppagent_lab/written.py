"""The words and the answer of a measured incident, and the whole recording of a refused start."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ppagent.record.masking import masked
from ppagent_lab.shapes import Alternative, Case

_SCRUBBED = (
    ("packages.txt", r"(?m) @ file://\S*/[^/-]+-([^-]+)-\S*$", r"==\1"),
    ("launch.txt", r"LAB_\w+=\S+ ", ""),
    ("processes.json", r',?\s*"LAB_\w+": "[^"]*"(?=[,}])', ""),
)
"""A package from a file is written with its version, not with that file's path. The variables of the emulated device
name the planted fault, which no server would do."""
EMULATED = "none: the real SGLang {version} on a CPU, its device emulated (asynchronous)"


@dataclass(frozen=True)
class Result:
    """A bench row, and the change it was measured under; None: the case as it is."""

    change: Alternative | None
    row: dict[str, object]


def write_words(case: Case, out: Path, results: Sequence[Result]) -> None:
    """incident.yaml, answer.yaml, bench.jsonl and relaunches.jsonl of the recording `out`."""
    _yaml(out / "incident.yaml", _incident(case))
    _yaml(out / "answer.yaml", answer_of(case))
    _lines(out / "bench.jsonl", [result.row for result in results if result.change is None])
    changed = [(result.change, result.row) for result in results if result.change is not None]
    _lines(
        out / "relaunches.jsonl",
        [{"change": _change(change, live=change.live), "bench": row, "origin": "measured"} for change, row in changed],
    )


def write_refused(case: Case, out: Path, launch: str, log: str) -> None:
    """A server that never came up leaves its command and its log."""
    host = out / "hosts" / "box"
    host.mkdir(parents=True, exist_ok=True)
    (host / "launch.txt").write_text(launch + "\n", encoding="utf-8")
    (host / "server.log").write_text(masked("hosts/box/server.log", log), encoding="utf-8")
    (host / "sglang_version.txt").write_text(case.version + "\n", encoding="utf-8")
    without_the_lab(host)
    write_words(case, out, [])


def without_the_lab(host: Path) -> None:
    """Takes what is the lab's own out of a recorded host's folder."""
    for name, pattern, instead in _SCRUBBED:
        path = host / name
        if path.exists():
            path.write_text(re.sub(pattern, instead, path.read_text(encoding="utf-8")), encoding="utf-8")


def _incident(case: Case) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "id": case.name,
        "title": case.title,
        "question": case.question,
        "stated": list(case.stated),
        "origin": {"kind": "measured"},
        "stack": {
            "engine": "sglang",
            "version": case.version,
            "gpus": EMULATED.format(version=case.version),
            "model": f"tiny{case.layers}, {case.layers} layers, dummy weights",
        },
        "tags": list(case.tags),
    }


def answer_of(case: Case) -> dict[str, Any]:
    """The fields of the case's `answer.yaml`."""
    answer = case.answer
    return {
        "schema_version": 1,
        "verdict": answer.verdict,
        "causes": list(answer.causes),
        "also_accepted": list(answer.also_accepted),
        "must_not_support": list(answer.must_not_support),
        "ruled_out": list(answer.ruled_out),
        "fixes": [_change(fix) for fix in answer.fixes],
        "forbidden_changes": list(answer.forbidden_changes),
        "evidence": list(answer.evidence),
        "ref": f"the lab: real SGLang {case.version} on a CPU, emulated asynchronous device, planted fault {case.name}",
        "note": answer.note,
    }


def _change(change: Alternative, live: bool | None = None) -> dict[str, Any]:
    fields: dict[str, Any] = {"set": dict(change.set), "unset": list(change.unset), "env": dict(change.env)}
    return fields if live is None else fields | {"live": live}


def _yaml(path: Path, fields: dict[str, Any]) -> None:
    path.write_text(yaml.safe_dump(fields, sort_keys=False, allow_unicode=True, width=120), encoding="utf-8")


def _lines(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    if rows:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
