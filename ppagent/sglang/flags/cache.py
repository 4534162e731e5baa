"""Keeps what was read from a tree, so that a tree is parsed once. Wrong or unreadable entries are read again."""

import contextlib
import json
import logging
import os
import tempfile
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from ppagent.sglang.flags.flag import Catalogue
from ppagent.sglang.flags.rows import from_row, to_row
from ppagent.sglang.flags.source import SERVER_ARGS, SourceTree, digest, read_version

_LOG = logging.getLogger(__name__)


def cache_folder() -> Path:
    """Where catalogues are kept: below XDG_CACHE_HOME, else ~/.cache."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".cache") / "ppagent" / "flags"


def entry_path(tree: SourceTree) -> Path:
    """The entry of a tree: its version, its server_args.py and the code that reads it name the file."""
    version = read_version(tree) or "unknown"
    tree.read(SERVER_ARGS.as_posix())
    key = digest(f"{tree.digests[SERVER_ARGS.as_posix()]} {_reader_digest()}".encode())
    return cache_folder() / f"{version.replace('/', '_')}-{key}.json"


def load(path: Path, tree: SourceTree) -> Catalogue | None:
    """The catalogue kept at `path`, if every file it was read from is still the same."""
    try:
        document = json.loads(path.read_text("utf-8"))
        if any(digest(_bytes(tree.package / name)) != kept for name, kept in document["files"].items()):
            return None
        flags = tuple(from_row(row) for row in document["flags"])
        unsure, partial = frozenset(document["unsure"]), document["partial"] is True
        return Catalogue(document["version"], flags, str(tree.package), tuple(document["unread"]), unsure, partial)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        _LOG.debug("cache entry %s is not usable: %s", path, error)
        return None


def save(path: Path, tree: SourceTree, catalogue: Catalogue) -> None:
    """Keeps `catalogue` at `path`. A cache that cannot be written costs time, not answers, so that is only logged."""
    plain = replace(catalogue, origin="")
    document: dict[str, Any] = {
        "version": plain.version,
        "unread": list(plain.unread),
        "unsure": sorted(plain.unsure),
        "partial": plain.partial,
        "files": tree.digests,
        "flags": [to_row(flag) for flag in plain],
    }
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, suffix=".tmp", delete=False) as file:
            json.dump(document, file, separators=(",", ":"))
        _replace(Path(file.name), path)
    except OSError as error:
        _LOG.debug("cache entry %s cannot be written: %s", path, error)


def _replace(temporary: Path, path: Path) -> None:
    try:
        temporary.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


@lru_cache(maxsize=1)
def _reader_digest() -> str:
    """Changes whenever the code or the table that a catalogue depends on does."""
    here = Path(__file__).parent
    files = sorted(path for path in here.iterdir() if path.suffix in (".py", ".json"))
    return digest(b"".join(path.read_bytes() for path in files))
