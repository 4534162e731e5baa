"""The files of sessions: one each, written as it happens, opened again to go on."""

import fcntl
import json
import os
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ppagent.chat.home import private_folder
from ppagent.errors import ExitStatus, UserError
from ppagent.sessions import Session as Saved
from ppagent.sessions import read_session, sessions_folder

CHAT = "chat"
"""Key of a session's head that a conversation has and a single diagnosis has not; it holds the target as named."""

MOST_LISTED = 20


class ChatFile:
    """A session's file, held by one ppagent at a time. Takes lines of the form that `ppagent.sessions` reads."""

    def __init__(self, path: Path) -> None:
        """Opens or makes the file. Raises UserError where another ppagent has it, or it cannot be written."""
        self.path = path
        private_folder(path.parent)
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            self._file = os.fdopen(descriptor, "a", encoding="utf-8", errors="backslashreplace")
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _drop_cut_line(descriptor)
        except BlockingIOError as error:
            raise UserError(f"The session {path.stem} is open elsewhere.", "Leave it there first.") from error
        except OSError as error:
            wrong = f"The session {path} cannot be written: {error.strerror or error}."
            raise UserError(wrong, "Set XDG_STATE_HOME to a folder that is yours.", ExitStatus.FAILURE) from error

    def write(self, kind: str, /, **data: Any) -> None:
        """Puts one line on the disk."""
        row = {"kind": kind, "at": datetime.now(UTC).isoformat(timespec="milliseconds"), **data}
        self._file.write(json.dumps(row, ensure_ascii=False, default=str) + "\n")
        self._file.flush()

    def close(self) -> None:
        self._file.close()

    def discard(self) -> None:
        """Closes and removes the file of a session in which nothing was said."""
        self._file.close()
        self.path.unlink(missing_ok=True)


@dataclass(frozen=True)
class Listed:
    """One kept conversation, as a list shows it."""

    id: str
    target: str
    at: str
    question: str
    evidence: int


def session_path(session_id: str, environ: Mapping[str, str] | None = None) -> Path:
    """The file of a session. Raises UserError for an id that is none."""
    if not session_id or not all(c.isalnum() or c in "-_" for c in session_id):
        raise UserError(f"{session_id!r} is no session's id.", "`/sessions` lists them.")
    return sessions_folder(environ) / f"{session_id}.jsonl"


def open_saved(session_id: str, environ: Mapping[str, str] | None = None) -> Saved:
    """A kept conversation; the newest where `session_id` is empty. Raises UserError where there is none."""
    wanted = session_id or next((saved.id for saved in conversations(environ)), "")
    if not wanted:
        raise UserError("No session was kept yet.", "Begin one: ppagent chat TARGET.")
    path = session_path(wanted, environ)
    if not path.is_file():
        close = ", ".join(saved.id for saved in list(conversations(environ))[:3])
        raise UserError(f"There is no session {wanted}.", f"The newest: {close}." if close else "None was kept yet.")
    saved = read_session(path)
    if CHAT not in saved.head:
        raise UserError(f"{wanted} is a diagnosis, not a conversation.", "Begin one: ppagent chat TARGET.")
    return saved


def conversations(environ: Mapping[str, str] | None = None) -> Iterator[Listed]:
    """Kept conversations, newest first. A file that cannot be read is none."""
    for path in sorted(sessions_folder(environ).glob("*.jsonl"), reverse=True):
        try:
            saved = read_session(path)
        except UserError:  # another program's or another version's file: opening it by name says what is wrong
            continue
        if CHAT in saved.head:
            yield _listed(path.stem, saved)


def newest_about(target: str, environ: Mapping[str, str] | None = None) -> str:
    """The id of the newest conversation about a target, by its lasting name. Raises UserError where there is none."""
    found = next((saved.id for saved in conversations(environ) if saved.target == target), None)
    if found is None:
        raise UserError(f"No session about {target} was kept.", f"Begin one: ppagent chat {shlex.quote(target)}.")
    return found


def _listed(session_id: str, saved: Saved) -> Listed:
    asked = [str(row.get("text", "")) for row in saved.of("said") if row.get("who") == "user"]
    evidence = sum(len(row.get("evidence") or ()) for row in saved.of("tool"))
    return Listed(
        session_id, str(saved.head[CHAT]), str(saved.head.get("at", ""))[:16], asked[0] if asked else "", evidence
    )


def _drop_cut_line(descriptor: int) -> None:
    """Ends the file at its last whole line: a process that was killed may have left a piece of one."""
    size = os.fstat(descriptor).st_size
    keep = os.pread(descriptor, size, 0).rfind(b"\n") + 1
    if keep < size:
        os.ftruncate(descriptor, keep)
