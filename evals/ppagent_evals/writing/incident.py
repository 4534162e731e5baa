"""An incident and its answer, as files."""

import gzip
import json
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

import yaml

from ppagent_evals.writing.log import Log
from ppagent_evals.writing.server import Server

Verdict = Literal["diagnosed", "healthy", "not_enough_evidence"]
Fix = dict[str, object]


def fix(unset: tuple[str, ...] = (), env: Mapping[str, str] | None = None, **flags: str) -> Fix:
    """A change that counts as a cure; `tp_size="2"` sets `--tp-size`. Nothing at all stands for an operator's act."""
    return {
        "set": {"--" + name.replace("_", "-"): value for name, value in flags.items()},
        "unset": list(unset),
        "env": dict(env or {}),
    }


OPERATOR = fix()


@dataclass(frozen=True)
class Answer:
    """What is known to be right. Fields as in the recording format."""

    verdict: Verdict
    note: str
    ref: str
    causes: tuple[str, ...] = ()
    also_accepted: tuple[str, ...] = ()
    must_not_support: tuple[str, ...] = ()
    ruled_out: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()
    forbidden_changes: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    predicted: Mapping[str, object] | None = None

    def document(self) -> dict[str, object]:
        body: dict[str, object] = {"schema_version": 1, "verdict": self.verdict}
        for name in (
            "causes",
            "also_accepted",
            "must_not_support",
            "ruled_out",
            "fixes",
            "forbidden_changes",
            "evidence",
        ):
            body[name] = list(getattr(self, name))
        if self.predicted is not None:
            body["predicted"] = dict(self.predicted)
        return {**body, "note": self.note, "ref": self.ref}


@dataclass(frozen=True)
class Incident:
    """A recording with its answer. `hosts` maps a host's label to its artifacts; `single` is a log by itself."""

    id: str
    title: str
    question: str
    origin: Literal["reconstructed", "synthetic"]
    stack: Mapping[str, str]
    tags: tuple[str, ...]
    answer: Answer
    hosts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    """Artifacts of the whole recording: bench.jsonl, relaunches.jsonl."""
    stated: tuple[str, ...] = ()
    single: str = ""

    def paths(self) -> dict[str, str]:
        """Every file by its path below the folder of incidents."""
        answer = self.answer.document()
        if self.single:
            extra = {"question": self.question, "stack": dict(self.stack)}
            return {f"{self.id}.log": self.single, f"{self.id}.answer.yaml": _yaml({**answer, **extra})}
        found = {"incident.yaml": _yaml(self._document()), "answer.yaml": _yaml(answer), **self.files}
        for host, artifacts in self.hosts.items():
            found.update({f"hosts/{host}/{name}": text for name, text in artifacts.items()})
        return {f"{self.id}/{path}": text for path, text in found.items()}

    def _document(self) -> dict[str, object]:
        return {
            "schema_version": 1,
            "id": self.id,
            "title": self.title,
            "question": self.question,
            "stated": list(self.stated),
            "origin": {"kind": self.origin},
            "stack": dict(self.stack),
            "tags": list(self.tags),
        }


def stack(server: Server, gpus: str, model: str) -> dict[str, str]:
    return {"engine": "sglang", "version": server.version, "gpus": gpus, "model": model}


def new_log(server: Server, seed: str, start: str) -> Log:
    """A log that always comes out the same for a seed."""
    return Log(server, datetime.fromisoformat(start), random.Random(seed))


def artifacts(server: Server, log: str, **more: str) -> dict[str, str]:
    """What every recording of a server holds; `more` are further artifacts, `__` for a dot in their names."""
    found = {"launch.txt": server.launch() + "\n", "sglang_version.txt": server.version + "\n"}
    if log:
        found["server.log"] = log
    if server.model.config:
        found["model_config.json"] = json.dumps(server.model.config, indent=1) + "\n"
    if server.env:
        found["environment.txt"] = "".join(f"{name}={value}\n" for name, value in server.env.items())
    return {**found, **{name.replace("__", "."): text for name, text in more.items()}}


def as_bytes(path: str, text: str) -> bytes:
    """A file as it lies on disk: traces are packed, without the time of it."""
    data = text.encode()
    return gzip.compress(data, mtime=0) if path.endswith(".gz") else data


def as_text(path: str, data: bytes) -> str:
    """What `as_bytes` was given, whichever zlib packed it."""
    return (gzip.decompress(data) if path.endswith(".gz") else data).decode()


def _yaml(document: Mapping[str, object]) -> str:
    return yaml.safe_dump(dict(document), sort_keys=False, width=110, allow_unicode=True, default_flow_style=None)
