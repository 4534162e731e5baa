"""One file to send: a recording as a .tar.gz beside its folder."""

import tarfile
from contextlib import suppress
from pathlib import Path

from ppagent.errors import UserError
from ppagent.record.folder import CannotWrite


def packed_name(root: Path) -> Path:
    """Where the archive of a folder goes."""
    folder = root.resolve() if root.name in ("", "..") else root
    return folder.with_name(f"{folder.name}.tar.gz")


def refuse_taken(path: Path, *, force: bool) -> None:
    """Raises UserError where an archive is there already, unless `force`."""
    if path.exists() and not force:
        raise UserError(f"{path} is there already.", "Move it away, or give --force.")


def pack(root: Path, path: Path) -> int:
    """Packs the files of `root`, hidden ones and links left out, as `<name>/...`; returns the archive's size in bytes.

    Nobody's name goes with it, only names and times of the files. Raises CannotWrite.
    """
    part = path.with_name(f".{path.name}.part")
    name = root.resolve().name
    try:
        with tarfile.open(part, "w:gz") as archive:
            for file in sorted(root.rglob("*")):
                inner = file.relative_to(root)
                if file.is_file() and not file.is_symlink() and not any(part[0] == "." for part in inner.parts):
                    archive.add(file, f"{name}/{inner.as_posix()}", recursive=False, filter=_anonymous)
        part.replace(path)
    except OSError as error:
        raise CannotWrite(path, error) from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
    return path.stat().st_size


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mode = 0o644
    return member
