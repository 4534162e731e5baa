"""Reading files that somebody else made: inside their folder only, of sane size, as bytes that may be anything."""

import gzip
import io
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from ppagent.errors import NotRecorded, ToolError

LARGEST_TEXT_MIB = 64
LONGEST_LINE_MIB = 1
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_PIECE_BYTES = 1 << 20
_NULS = bytes(LONGEST_LINE_MIB << 20)


def inside(root: Path, relative: str) -> Path:
    """`root / relative`, which need not exist. Raises ToolError where it lies outside `root`, by `..` or by a link."""
    path = root / relative
    try:
        stays = path.resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError) as error:
        raise ToolError(f"{relative} leads nowhere: {error}") from error
    if not stays:
        raise ToolError(f"{relative} leads out of {root.name}, which is not followed")
    return path


def file_inside(root: Path, relative: str) -> Path:
    """An existing file of `root`. Raises NotRecorded where there is none, ToolError where it is no plain file."""
    path = inside(root, relative)
    try:
        there, plain = path.exists(), path.is_file()
    except OSError as error:
        raise ToolError(f"{relative} cannot be read: {error.strerror or error}") from error
    if not there:
        raise NotRecorded(f"{relative} was not recorded")
    if not plain:
        raise ToolError(f"{relative} is not a file")
    return path


def read_text(root: Path, relative: str) -> str:
    """A whole text file; undecodable bytes are replaced. Raises NotRecorded and ToolError."""
    path = file_inside(root, relative)
    try:
        if path.stat().st_size > LARGEST_TEXT_MIB << 20:
            raise ToolError(f"{relative} is larger than {LARGEST_TEXT_MIB} MiB")
        return decoded(_unpacked(path, relative) if is_gzip(path) else path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise ToolError(f"{relative} cannot be read: {getattr(error, 'strerror', None) or error}") from error


def _unpacked(path: Path, relative: str) -> bytes:
    """What a gzipped file holds, as `curl` keeps an answer that came packed. Raises ToolError where it is too large."""
    with gzip.open(path) as file:
        data = file.read((LARGEST_TEXT_MIB << 20) + 1)
    if len(data) > LARGEST_TEXT_MIB << 20:
        raise ToolError(f"{relative} is larger than {LARGEST_TEXT_MIB} MiB, unpacked")
    return data


def decoded(data: bytes) -> str:
    """Text of UTF-8, or of UTF-16 where it says so at its beginning, as PowerShell writes what it redirects."""
    return data.decode("utf-16" if data[:2] in _UTF16 else "utf-8-sig", errors="replace")


def join_text(pieces: Iterator[bytes], relative: str) -> str:
    """A whole text out of its lines. Raises ToolError where it is too large to be held at once."""
    kept: list[bytes] = []
    size = 0
    for piece in pieces:
        kept.append(piece)
        size += len(piece)
        if size > LARGEST_TEXT_MIB << 20:
            raise ToolError(f"{relative} is larger than {LARGEST_TEXT_MIB} MiB")
    return b"".join(kept).decode("utf-8-sig", errors="replace")


def is_gzip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def lines(path: Path) -> Iterator[bytes]:
    """The lines of a file with their ends, unpacked where it is gzipped, read as they are asked for.

    A longer line than `LONGEST_LINE_MIB` comes in pieces. Raises ToolError at the place where reading fails.
    """
    try:
        with gzip.open(path) if is_gzip(path) else path.open("rb", buffering=_PIECE_BYTES >> 2) as file:
            begin = file.read(2)
            file.seek(0)
            if begin in _UTF16:
                yield from _utf8_lines(file)
            while line := file.readline(LONGEST_LINE_MIB << 20):
                yield line
    except (OSError, EOFError, zlib.error) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise ToolError(f"{path.name} cannot be read to its end: {why}") from error


def all_nul(piece: bytes) -> bool:
    """Whether there is nothing in a piece of a file but NUL bytes: a hole, as a power cut leaves one."""
    return _NULS.startswith(piece)


def pieces(found: Iterable[bytes]) -> Iterator[bytes]:
    """Lines joined to larger pieces, which are searched faster. Raises what `found` raises, after the lines so far."""
    held: list[bytes] = []
    size = 0
    try:
        for line in found:
            held.append(line)
            size += len(line)
            if size >= _PIECE_BYTES:
                yield b"".join(held)
                held, size = [], 0
    except ToolError:
        yield b"".join(held)
        raise
    yield b"".join(held)


def _utf8_lines(file: gzip.GzipFile | BinaryIO) -> Iterator[bytes]:
    """The lines of UTF-16 text as UTF-8."""
    text = io.TextIOWrapper(file, encoding="utf-16", errors="replace", newline="")
    while line := text.readline(LONGEST_LINE_MIB << 20):
        yield line.encode("utf-8", errors="replace")
    text.detach()
