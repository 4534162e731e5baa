"""The bundle that SGLang's own triage skill collects from a server's HTTP API, read as a recording.

Layout as `collect-bundle` of `.claude/skills/sglang-prod-incident-triage/scripts/incident_artifact_tool.py` in
sgl-project/sglang writes it: one folder, `metadata.json`, the text of /metrics, and each JSON answer wrapped with the
status it came with. A `server.log` that somebody laid beside them is read too.
"""

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from ppagent.errors import NotRecorded, ToolError
from ppagent.targets.files import file_inside, join_text, lines, read_text
from ppagent.targets.source_files import SourceFiles
from ppagent.targets.target import Artifact, Shared

_METADATA = "metadata.json"
_KIND = "incident_bundle"
_METRICS = "metrics.txt"
_COLLECTED = "%Y%m%d_%H%M%S"
_FILES = {
    Artifact.SERVER_INFO: ("server_info.json",),
    Artifact.LOADS: ("loads_all.json", "loads_core_queues_disagg.json"),
}
_ONLY = "a triage bundle holds only what a server says over HTTP"


def is_triage_bundle(folder: Path) -> bool:
    """Whether a folder is such a bundle: its metadata says so."""
    try:
        told = json.loads(read_text(folder, _METADATA))
    except (ToolError, ValueError, RecursionError):
        return False
    return isinstance(told, dict) and told.get("artifact_type") == _KIND


class TriageBundle:
    """One server's answers over HTTP, at one moment."""

    kind = "recording"
    hosts = ("server",)

    def __init__(self, root: Path) -> None:
        self.root = root
        self.name = root.resolve().name

    def text(self, host: str, artifact: Artifact) -> str:
        match artifact:
            case Artifact.SERVER_LOG:
                return join_text(self.log(host), artifact.value)
            case Artifact.SERVER_INFO | Artifact.LOADS:
                return json.dumps(self._answer(artifact), ensure_ascii=False)
            case Artifact.VERSION:
                return f"{self._version()}\n"
            case _:
                raise NotRecorded(f"{artifact.value} was not recorded: {_ONLY}")

    def log(self, host: str) -> Iterator[bytes]:
        return lines(file_inside(self.root, "server.log"))

    def scrapes(self, host: str) -> tuple[tuple[str, str], ...]:
        """The one there is; it gives no rates."""
        failed = self.root / f"{_METRICS}.error.json"
        if failed.is_file():
            raise NotRecorded(_failure("/metrics", _read_json(self.root, failed.name)))
        return ((_METRICS, f"{self._collected_at()}{read_text(self.root, _METRICS)}"),)

    def source(self, host: str) -> SourceFiles:
        raise NotRecorded(f"the installed source was not recorded: {_ONLY}")

    def shared(self, artifact: Shared) -> str:
        raise NotRecorded(f"{artifact.value} was not recorded: {_ONLY}")

    def _answer(self, artifact: Artifact) -> Any:
        """The first answer that was one. Raises NotRecorded with what the server said instead."""
        why = f"{artifact.value} is not in the bundle"
        for name in _FILES[artifact]:
            try:
                told = _read_json(self.root, name)
            except NotRecorded:
                continue
            if isinstance(told, dict) and "json" in told:
                return told["json"]
            why = _failure(name, told)
        raise NotRecorded(why)

    def _version(self) -> str:
        info = self._answer(Artifact.SERVER_INFO)
        version = info.get("version") if isinstance(info, dict) else None
        if not isinstance(version, str) or not version.strip():
            raise NotRecorded("the server does not say its version")
        return version.strip()

    def _collected_at(self) -> str:
        """The line that heads a scrape; empty where the metadata does not tell the time."""
        told = _read_json(self.root, _METADATA)
        try:
            at = datetime.strptime(str(told["collected_at"]), _COLLECTED)
        except (ValueError, KeyError, TypeError):
            return ""
        return f"# scraped_at: {at.isoformat()}\n"


def _read_json(root: Path, name: str) -> Any:
    try:
        return json.loads(read_text(root, name))
    except (ValueError, RecursionError) as error:
        raise ToolError(f"{name} is no JSON") from error


def _failure(name: str, told: Any) -> str:
    """Why a request failed when the bundle was collected."""
    if not isinstance(told, dict):
        return f"{name} holds no answer"
    place, status = told.get("path", name), told.get("status")
    said = str(told.get("error") or told.get("decode_error") or "").strip()[:200]
    return f"{place} answered {status} when the bundle was collected: {said or 'it says no more'}"
