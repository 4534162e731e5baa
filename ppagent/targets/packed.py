"""A recording in one file: a tar archive, unpacked where it can do no harm for as long as it is looked at."""

import gzip
import io
import tarfile
import tempfile
import zlib
from pathlib import Path, PurePosixPath
from typing import IO, cast

from ppagent.errors import UserError
from ppagent.targets.files import is_gzip
from ppagent.targets.recording import Recording, holds_artifacts

LARGEST_MIB = 2048
"""Unpacked, all files together."""
MOST_FILES = 20_000
_LONGEST_NAME = 400
_MOST_AT_ONCE_MIB = 16
_PIECE = 1 << 20
_ADVICE = "Have it packed again with `ppagent record ... --pack`, or unpack it yourself and name the folder."


class Packed(Recording):
    """A recording out of an archive. Its files go when it goes."""

    def __init__(self, path: Path) -> None:
        self._unpacked = tempfile.TemporaryDirectory(prefix="ppagent-packed-")
        folder = Path(self._unpacked.name)
        _unpack(path, folder)
        super().__init__(_root_of(folder))
        if not self.hosts and not (self.root / "incident.yaml").is_file():
            raise UserError(f"{path} holds no recording.", _ADVICE)


def is_archive(path: Path) -> bool:
    """Whether a file is a tar archive, packed or not. Zeros are the end of one, and no archive by themselves."""
    try:
        with _opened(path) as file:
            if not file.read(tarfile.BLOCKSIZE).strip(b"\0"):
                return False
        return tarfile.is_tarfile(path)
    except (OSError, EOFError, zlib.error, ValueError):
        return False


class _Bounded(io.RawIOBase):
    """The bytes of an archive, no more than may come, and never many at once, as a header could ask for."""

    def __init__(self, source: IO[bytes]) -> None:
        self._source = source
        self._left = (LARGEST_MIB + _MOST_AT_ONCE_MIB) << 20

    def read(self, size: int = -1, /) -> bytes:
        self._left -= size
        if not 0 <= size <= _MOST_AT_ONCE_MIB << 20 or self._left < 0:
            raise tarfile.ReadError("it is too large")
        return self._source.read(size)

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        return self._source.seek(offset, whence)

    def tell(self) -> int:
        return self._source.tell()


def _unpack(path: Path, folder: Path) -> None:
    """Plain files and folders only. Raises UserError for anything else, and for what is not a whole archive."""
    left_bytes = LARGEST_MIB << 20
    try:
        with _opened(path) as source, tarfile.open(fileobj=cast(IO[bytes], _Bounded(source)), mode="r:") as archive:
            for number, member in enumerate(archive):
                left_bytes -= member.size
                wrong = _objection(member, number, left_bytes)
                if wrong:
                    raise UserError(f"{path} is not unpacked: {wrong}.", _ADVICE)
                if member.isreg():
                    _write(archive, member, folder / PurePosixPath(member.name))
    except (tarfile.TarError, OSError, EOFError, zlib.error, ValueError) as error:
        raise UserError(f"{path} cannot be unpacked: {error}.", _ADVICE) from error


def _opened(path: Path) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(path)) if is_gzip(path) else path.open("rb")


def _objection(member: tarfile.TarInfo, number: int, left_bytes: int) -> str:
    """Why a member is not taken; empty where it is."""
    name = PurePosixPath(member.name)
    if number >= MOST_FILES or left_bytes < 0 or member.size < 0:
        return f"it holds more than {MOST_FILES} files, or more than {LARGEST_MIB} MiB"
    if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.DIRTYPE) or member.issparse():
        return f"{member.name[:80]!r} is no plain file"
    if name.is_absolute() or ".." in name.parts or len(member.name) > _LONGEST_NAME or "\0" in member.name:
        return f"{member.name[:80]!r} leads elsewhere"
    return ""


def _write(archive: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> None:
    source = archive.extractfile(member)
    if source is None:
        raise AssertionError("a plain file has content")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:
        while piece := source.read(_PIECE):
            file.write(piece)


def _root_of(folder: Path) -> Path:
    """The recording's own folder: the only one there is, unless it lies at the top."""
    entries = list(folder.iterdir())
    lone = len(entries) == 1 and entries[0].is_dir() and entries[0].name != "hosts" and not holds_artifacts(folder)
    return entries[0] if lone else folder
