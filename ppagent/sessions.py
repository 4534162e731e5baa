"""A session on disk: one JSON object a line, written as it happens, with secrets masked; readable by anyone, replayable
by `ppagent.replay`. There is nothing in it but text, numbers and lists."""

import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from ppagent.errors import ExitStatus, UserError

SCHEMA_VERSION = 1
FIRST_KIND = "session"
LARGEST_BYTES = 64 << 20
_FOLDER_MODE, _FILE_MODE = 0o700, 0o600


class Recorder(Protocol):
    """Takes down what happens."""

    def write(self, kind: str, /, **data: Any) -> None: ...


class Unrecorded:
    """Takes nothing down."""

    def write(self, kind: str, /, **data: Any) -> None:
        return None


def new_session() -> str:
    """An id that sorts by time and is not guessed."""
    return f"{datetime.now(UTC):%y%m%d-%H%M%S}-{secrets.token_hex(2)}"


class SessionFile:
    """A session's file, made with its first line; only its owner can read it. Each line is on disk before the next
    thing happens. Raises UserError where it cannot be written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.begun = False
        """Whether there is a file: a session without a line leaves none."""

    def write(self, kind: str, /, **data: Any) -> None:
        row = {"kind": kind, "at": datetime.now(UTC).isoformat(timespec="milliseconds"), **data}
        line = json.dumps(row, ensure_ascii=False, default=str) + "\n"
        try:
            if not self.begun:
                self.path.parent.mkdir(parents=True, exist_ok=True, mode=_FOLDER_MODE)
                os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _FILE_MODE))
                self.begun = True
            with self.path.open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(line)
        except OSError as error:
            raise UserError(
                f"The session {self.path} cannot be written: {error.strerror or error}.",
                "Set XDG_STATE_HOME to a folder that is yours.",
                ExitStatus.FAILURE,
            ) from error


def sessions_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Where sessions lie: $XDG_STATE_HOME/ppagent/sessions, by default below ~/.local/state."""
    given = (os.environ if environ is None else environ).get("XDG_STATE_HOME", "")
    home = Path(given) if Path(given).is_absolute() else Path.home() / ".local" / "state"
    return home / "ppagent" / "sessions"


@dataclass(frozen=True)
class Session:
    """A session that was read: its head, and every further line."""

    head: Mapping[str, Any]
    rows: tuple[Mapping[str, Any], ...]

    def of(self, kind: str) -> tuple[Mapping[str, Any], ...]:
        return tuple(row for row in self.rows if row["kind"] == kind)


def is_session(path: Path) -> bool:
    """Whether the file begins as a session does."""
    if path.suffix != ".jsonl":
        return False
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return _row(file.readline(1 << 20)).get("kind") == FIRST_KIND
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}.", "Name a file that is yours.") from error


def read_session(path: Path) -> Session:
    """The session in a file. A last line that was cut off is left out. Raises UserError for anything else."""
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise UserError(f"{path} is larger than any session.", "Name a session's file.")
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}.", "Name a session's file.") from error
    rows = [_row(line) for line in lines]
    while rows and not rows[-1]:
        rows.pop()
    broken = next((number for number, row in enumerate(rows, 1) if "kind" not in row), None)
    if broken is not None or not rows or rows[0]["kind"] != FIRST_KIND:
        raise UserError(f"{path}, line {broken or 1}: this is no session.", "Name a file that ppagent wrote.")
    if rows[0].get("schema_version") != SCHEMA_VERSION:
        raise UserError(f"{path} was written by another version of ppagent.", "Replay it with that one.")
    return Session(rows[0], tuple(rows[1:]))


def _row(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
