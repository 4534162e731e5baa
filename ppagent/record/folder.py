"""Writing a recording's folder so that whatever is in it is whole, however the writing ends."""

import errno
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ppagent.errors import ExitStatus, UserError
from ppagent.targets.recording import KNOWN, holds_artifacts

SHARED_FILES = ("incident.yaml", "bench.jsonl", "relaunches.jsonl")
"""What a new recording takes the place of beside the hosts; an answer stays, since a person wrote it."""


ROOM_BYTES = 1 << 16
_ROOM = ".room"
"""Kept free for the last word: where the disk fills up, incident.yaml can still say what is missing."""


class CannotWrite(UserError):
    """The disk is full, or the folder may not be written to. What was written before stays and is whole."""

    def __init__(self, path: Path, error: OSError) -> None:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        why = "the disk is full" if full else error.strerror or str(error)
        advice = "Make room, or name a folder on another disk." if full else "Name a folder that is yours."
        super().__init__(f"{path} cannot be written: {why}.", advice, ExitStatus.FAILURE)


class Folder:
    """A recording in the making. Each file is written beside its place and then moved there."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, place: str, text: str) -> int:
        """Writes one file; returns its size in bytes. Undecodable bytes that `text` carries along are written as they
        were. Raises CannotWrite."""
        path = self.root / place
        part = path.with_name(f".{path.name}.part")
        data = text.encode("utf-8", errors="surrogateescape")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            part.write_bytes(data)
            part.replace(path)
        except OSError as error:
            raise CannotWrite(path, error) from error
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)
        return len(data)

    def take_out(self, place: str) -> None:
        """Takes out a folder of which only a part could be written."""
        shutil.rmtree(self.root / place, ignore_errors=True)

    @contextmanager
    def room_kept(self) -> Iterator[Callable[[], None]]:
        """Inside, some room of the disk is kept until the function that is given frees it. Raises CannotWrite."""
        path = self.root / _ROOM

        def free() -> None:
            with suppress(OSError):
                path.unlink(missing_ok=True)

        try:
            path.write_bytes(bytes(ROOM_BYTES))
        except OSError as error:
            free()
            raise CannotWrite(path, error) from error
        try:
            yield free
        finally:
            free()


def prepare(root: Path, *, force: bool) -> Folder:
    """The folder to write to, made where it is not there. Raises UserError where it holds something, unless `force`:
    an earlier recording is then taken out of it, and nothing else."""
    if root.exists() and not root.is_dir():
        raise UserError(f"{root} is a file.", "Name a new folder.")
    try:
        held = sorted(path.name for path in root.iterdir()) if root.is_dir() else []
        if held and not force:
            raise UserError(f"{root} holds {_few(held)}.", "Name a new or empty folder, or give --force.")
        root.mkdir(parents=True, exist_ok=True)
        _take_out(root)
    except OSError as error:
        raise CannotWrite(root, error) from error
    return Folder(root)


def _take_out(root: Path) -> None:
    """An earlier recording, artifact by artifact. Links are taken away themselves, never followed."""
    for name in (*SHARED_FILES, _ROOM):
        (root / name).unlink(missing_ok=True)
    hosts = root / "hosts"
    for host in sorted(hosts.iterdir()) if hosts.is_dir() and not hosts.is_symlink() else ():
        if host.is_symlink() or not holds_artifacts(host):
            continue
        for name in sorted(KNOWN | {"traces"}):
            path = host / name
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)


def _few(names: list[str]) -> str:
    return f"{', '.join(names[:3])}{' and more' if len(names) > 3 else ''}"
