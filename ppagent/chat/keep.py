"""Writes what a target holds as a recording: every artifact that is there, secrets masked, and the user's words."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from ppagent.chat.home import private_folder
from ppagent.chat.session import Session
from ppagent.errors import ExitStatus, NotRecorded, ToolError, UserError
from ppagent.evidence.evidence import Evidence, FactValue
from ppagent.evidence.masking import mask
from ppagent.targets.target import Artifact, Shared, Target

MEASURES = "bench.run"
_BENCH_NAMES = {"concurrency": "max_concurrency", "achieved_concurrency": "concurrency"}
"""Facts of a level, and what bench_serving calls them."""

LARGEST_SOURCE_FILES = 400
"""A recording may hold parts of the package; all of it is for the store of published versions."""


def keep_recording(session: Session, folder: Path) -> list[str]:
    """Writes the recording; names of what was kept. Raises UserError where the folder cannot be written or is used."""
    if folder.exists() and any(folder.iterdir()):
        raise UserError(f"{folder} is not empty.", "Name a folder that is not there yet.")
    target = session.desk.context.target
    kept: list[str] = []
    for name, text in _with_measured(session, _texts(target)):
        _write(folder / name, mask(text))
        kept.append(name)
    _write(folder / "incident.yaml", _incident(session, folder.name))
    return [*kept, "incident.yaml"]


def _texts(target: Target) -> Iterator[tuple[str, str]]:
    """Every artifact that the target has, by its path in a recording."""
    for host in target.hosts:
        for artifact in Artifact:
            yield from _there(f"hosts/{host}/{artifact.value}", lambda a=artifact, h=host: target.text(h, a))  # type: ignore[misc]
        try:
            scrapes = target.scrapes(host)
        except ToolError:
            scrapes = ()
        yield from ((f"hosts/{host}/{name}", text) for name, text in scrapes)
        yield from _source(target, host)
    yield from _there(Shared.BENCH.value, lambda: target.shared(Shared.BENCH))


def _with_measured(session: Session, texts: Iterator[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The texts, the levels that were measured in the session behind those that the target holds."""
    rows = [
        json.dumps({_BENCH_NAMES.get(key, key): value for key, value in row.items()} | {"tool": "ppagent"})
        for item in session.desk.ledger.evidence
        if item.tool == MEASURES
        for row in _levels(item)
    ]
    added = "".join(f"{row}\n" for row in rows)
    known = False
    for name, text in texts:
        known = known or name == Shared.BENCH.value
        yield name, f"{text.rstrip()}\n{added}" if name == Shared.BENCH.value else text
    if added and not known:
        yield Shared.BENCH.value, added


def _levels(item: Evidence) -> list[dict[str, FactValue]]:
    rows = item.facts.get("bench.levels")
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _there(name: str, read: Callable[[], str]) -> Iterator[tuple[str, str]]:
    """The artifact, or nothing where it is not there or cannot be read: what is missing was not recorded."""
    try:
        yield name, read()
    except ToolError:
        return


def _source(target: Target, host: str) -> Iterator[tuple[str, str]]:
    try:
        tree = target.source(host)
        files = tree.files()
    except ToolError:
        return
    if len(files) > LARGEST_SOURCE_FILES:
        return
    for path in files:
        yield from _there(f"hosts/{host}/source/{path}", lambda p=path: tree.read(p))  # type: ignore[misc]


def _incident(session: Session, name: str) -> str:
    """What this is, and the user's own words."""
    facts, target = session.desk.facts(), session.desk.context.target
    known: dict[str, Any] = _recorded_incident(target)
    stack = {"engine": "sglang", "version": facts.text("engine.version"), "gpus": facts.text("recording.gpus")}
    words = [mask(text) for text in session.words]
    document = {
        "schema_version": 1,
        "id": name,
        "title": known.get("title") or f"{target.name}, {datetime.now(UTC):%Y-%m-%d}",
        "question": words[0] if words else known.get("question", ""),
        "stated": [*known.get("stated", []), *words[1:]],
        "origin": known.get("origin") or {"kind": "measured"},
        "stack": known.get("stack") or {key: value for key, value in stack.items() if value},
    }
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120)


def _recorded_incident(target: Target) -> dict[str, Any]:
    """The head of the recording that the target is; empty for a live one."""
    try:
        document = yaml.safe_load(target.shared(Shared.INCIDENT))
    except (NotRecorded, yaml.YAMLError):
        return {}
    return document if isinstance(document, dict) else {}


def _write(path: Path, text: str) -> None:
    private_folder(path.parent)
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        wrong = f"{path} cannot be written: {error.strerror or error}."
        raise UserError(wrong, "Name a folder that is yours.", ExitStatus.FAILURE) from error
