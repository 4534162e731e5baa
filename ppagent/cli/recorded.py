"""What commands read from a recording beside a diagnosis: through the target's door, so within its folder only."""

import csv
import sys
from pathlib import Path
from typing import Any

from ppagent.errors import ExitStatus, NotRecorded, UserError
from ppagent.evidence.json_text import read_json
from ppagent.targets.files import LARGEST_TEXT_MIB
from ppagent.targets.open import named_path
from ppagent.targets.recording import Recording
from ppagent.targets.target import Artifact, Target


def open_recorded(text: str, advice: str) -> Recording:
    """The recording in the folder `text`. Raises UserError where there is none."""
    folder = named_path(text)
    try:
        if not text or not folder.is_dir():
            raise UserError(f"{text} is not a recording's folder.", advice)
        next(folder.iterdir(), None)
        recording = Recording(folder)
        recording.hosts  # noqa: B018 - whether the folders may be looked into shows here
    except OSError as error:
        raise UserError(f"{text} cannot be read: {error.strerror or error}.", advice) from error
    return recording


def recorded(target: Target, host: str, artifact: Artifact) -> str:
    """A host's artifact; empty where it was not recorded. Raises ToolError where it cannot be read."""
    if not host:
        return ""
    try:
        return target.text(host, artifact)
    except NotRecorded:
        return ""


def recorded_object(target: Target, host: str, artifact: Artifact) -> dict[str, Any]:
    """A host's JSON object; empty where it was not recorded. Raises UserError where it is none."""
    text = recorded(target, host, artifact)
    try:
        value = read_json(text or "{}")
    except ValueError as error:
        raise UserError(f"{artifact.value} is no JSON.", "Record it again, or remove it.") from error
    if not isinstance(value, dict):
        raise UserError(f"{artifact.value} is no JSON object.", "Record it again, or remove it.")
    return value


def first_gpu(table: str) -> str:
    """The model of the first card of gpus.csv; empty where it names none."""
    rows = csv.DictReader(table.splitlines(), skipinitialspace=True)
    try:
        return next((name for row in rows if (name := row.get("name"))), "")
    except csv.Error:
        return ""


def named_text(path: Path) -> str:
    """The text of a file that the user named. Raises UserError where it cannot be read or is no text to be held."""
    try:
        if path.stat().st_size > LARGEST_TEXT_MIB << 20:
            raise UserError(f"{path} is larger than {LARGEST_TEXT_MIB} MiB.", "Name the file with the launch command.")
        return path.read_bytes().decode("utf-8-sig", errors="replace")
    except OSError as error:
        why = f"{path} cannot be read: {error.strerror or error}."
        raise UserError(why, "Name a file that is yours to read.", ExitStatus.FAILURE) from error


def piped_text() -> str:
    """All of the standard input, whatever its bytes."""
    raw = getattr(sys.stdin, "buffer", None)
    return raw.read().decode("utf-8-sig", errors="replace") if raw is not None else sys.stdin.read()
