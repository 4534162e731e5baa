"""The restore note: what to put back on a server, on the disk before anything is changed.

Whatever becomes of ppagent, the next run finds it: a note is removed only once the old state was read back.
"""

import hashlib
import json
import os
import re
import socket
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal

from ppagent.errors import ToolError
from ppagent.ledger import data_folder, now

NoteKind = Literal["live", "relaunch"]


@dataclass(frozen=True)
class RestoreNote:
    """How to undo one trial. `live`: set `key` to `old`. `relaunch`: start `launch` again."""

    kind: NoteKind
    server: str
    """The server as ppagent knows it again: its address, or host and port."""
    key: str = ""
    old: int = 0
    new: int = 0
    launch: Mapping[str, object] = field(default_factory=dict)
    """How the old server was started (`Launched.as_data`)."""
    run_mark: str = ""
    """Which run of the server it was, where it says so: a restarted server has lost the setting by itself."""
    at: str = field(default_factory=now)
    pid: int = field(default_factory=os.getpid)
    pid_started: str = field(default_factory=lambda: _process_start(os.getpid()))
    machine: str = field(default_factory=socket.gethostname)
    target: str = ""
    """What the user named, for the command that restores; empty where only the server is known."""

    @property
    def running(self) -> bool:
        """Whether the ppagent that wrote it is still at work on this machine."""
        return (
            self.machine == socket.gethostname()
            and bool(self.pid_started)
            and _process_start(self.pid) == self.pid_started
        )

    @property
    def says(self) -> str:
        """What was left behind, in words."""
        if self.kind == "live":
            return f"{self.key} was set from {self.old} to {self.new} on {self.server} at {self.at} and not put back"
        return f"{self.server} was being relaunched at {self.at}, and its old launch was not brought back or confirmed"

    @property
    def command(self) -> str:
        """What puts it back."""
        if self.kind == "relaunch":
            return f"ppagent try {self.launch.get('target') or 'TARGET'} --restore"
        return restoring(self.target or self.server, self.server)


def restoring(target: str, server: str) -> str:
    """The command that restores a server; it names the port, since several servers may run on a host. `target` may be
    the server's own name."""
    if target.startswith(("http://", "https://")):
        return f"ppagent try {target} --restore"
    port = re.split(r"[:/]", server)[-1]
    host = target.removesuffix(f"/{port}") if target == server else target
    return f"ppagent try {host}{f' --port {port}' if port.isdecimal() else ''} --restore"


def note_path(server: str, folder: Path | None = None) -> Path:
    """Where the note of a server lies."""
    name = hashlib.sha256(server.encode()).hexdigest()[:16]
    return (folder or data_folder()) / "restore" / f"{name}.json"


def write_note(note: RestoreNote, folder: Path | None = None) -> Path:
    """Puts the note on the disk, whole or not at all. Raises ToolError: without a note nothing may be changed, and
    where another process is at work on the server its own note is needed."""
    path = note_path(note.server, folder)
    other = read_note(note.server, folder)
    if other is not None and other.running and other.pid != note.pid:
        raise ToolError(
            f"another ppagent (process {other.pid}) is at work on {note.server} and will put it back itself"
        )
    waiting = path.with_suffix(".tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with os.fdopen(os.open(waiting, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump(asdict(note), file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        waiting.rename(path)
        _sync_folder(path.parent)
    except OSError as error:
        raise ToolError(f"the restore note {path} cannot be written: {error.strerror or error}") from error
    return path


def give_up(server: str, folder: Path | None = None) -> None:
    """Marks the note of a server as nobody's: this process lives on, but has stopped trying to put things back."""
    left = read_note(server, folder)
    if left is not None:
        write_note(replace(left, pid_started=""), folder)


def read_note(server: str, folder: Path | None = None) -> RestoreNote | None:
    """The note of a server; None where there is none. Raises ToolError where it cannot be read."""
    path = note_path(server, folder)
    try:
        return _read(path) if path.exists() else None
    except OSError as error:
        raise ToolError(f"the restore notes in {path.parent} cannot be read: {error.strerror}") from error


def _read(path: Path) -> RestoreNote:
    try:
        return RestoreNote(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise ToolError(f"the restore note {path} cannot be read: {error}") from error


def all_notes(folder: Path | None = None) -> tuple[RestoreNote, ...]:
    """Every note there is. Raises ToolError where one cannot be read."""
    restore = (folder or data_folder()) / "restore"
    try:
        places = sorted(restore.glob("*.json"))
    except OSError as error:
        raise ToolError(f"the restore notes in {restore} cannot be read: {error.strerror}") from error
    return tuple(_read(path) for path in places)


def remove_note(server: str, folder: Path | None = None) -> None:
    """Removes the note of a server, the old state being back. Raises ToolError where it cannot be removed."""
    path = note_path(server, folder)
    try:
        path.unlink(missing_ok=True)
        if path.parent.is_dir():
            _sync_folder(path.parent)
    except OSError as error:
        raise ToolError(f"the restore note {path} cannot be removed: {error.strerror or error}") from error


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _process_start(pid: int) -> str:
    """When a process of this machine started, in clock ticks since boot; empty where it is not there."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]
