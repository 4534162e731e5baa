"""The source files of an SGLang tree: found, parsed when needed, never imported."""

import ast
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Protocol, runtime_checkable

from ppagent.errors import ToolError, UserError
from ppagent.sglang.flags.bindings import Index

SERVER_ARGS = Path("srt/server_args.py")
_VERSION_FILES = ("_version.py", "version.py")
_VERSION_LITERAL = re.compile(r"""^(?:__version__|version)\b[^\n"']*=\s*["']([^"']+)["']""", re.MULTILINE)
_METADATA_VERSION = re.compile(r"^Version:\s*(\S+)", re.MULTILINE)
LARGEST_FILE = 4 << 20
"""No file of SGLang comes near it; reading a larger one as Python could take for ever."""


class PackageFiles(Protocol):
    """The files of an sglang package, wherever it lies. Paths start with `sglang/`."""

    def files(self) -> tuple[str, ...]:
        """Every file there is. Raises ToolError where they cannot be listed."""
        ...

    def read(self, path: str) -> str:
        """The text of a file. Raises ToolError where there is none, or where it cannot be read."""
        ...


@runtime_checkable
class InOneGo(Protocol):
    """A package elsewhere, which fetches many files at once so that reading them is quick."""

    def fetch(self, paths: Iterable[str]) -> None: ...


@dataclass(frozen=True, eq=False)
class Module:
    """One parsed file of the tree."""

    dotted: str
    is_package: bool
    text: str
    body: list[ast.stmt]

    @cached_property
    def index(self) -> Index:
        return Index(self.body)

    def absolute(self, imported: ast.ImportFrom) -> str:
        """The dotted name that `from ... import` means in this file."""
        if not imported.level:
            return imported.module or ""
        parts = self.dotted.split(".")
        kept = parts[: len(parts) - imported.level + (1 if self.is_package else 0)]
        return ".".join([*kept, *([imported.module] if imported.module else [])])


@dataclass(eq=False)
class SourceTree:
    """The `sglang` package at `package`, or in `files` where those are given. `digests` names every file looked at, so
    that a cache can tell a change."""

    package: Path
    digests: dict[str, str] = field(default_factory=dict)
    """Path relative to the package -> digest of its bytes, or "" where there is no such file."""
    files: PackageFiles | None = None
    _modules: dict[str, Module | None] = field(default_factory=dict)

    @classmethod
    def over(cls, files: PackageFiles) -> "SourceTree":
        """The package whose files somebody else reads."""
        return cls(Path("sglang"), files=files)

    def module(self, dotted: str) -> Module | None:
        """The module of that dotted name, or None where the tree has none that can be parsed."""
        if dotted not in self._modules:
            self._modules[dotted] = self._load(dotted)
        return self._modules[dotted]

    def _load(self, dotted: str) -> Module | None:
        if dotted != "sglang" and not dotted.startswith("sglang."):
            return None
        relative = "/".join(dotted.split(".")[1:])
        for candidate, is_package in ((f"{relative}.py", False), (f"{relative}/__init__.py", True)):
            data = self.read(candidate.lstrip("/"))
            if data is None:
                continue
            if len(data) > LARGEST_FILE:
                return None
            try:
                text = data.decode("utf-8")
                return Module(dotted, is_package, text, ast.parse(text).body)
            except (SyntaxError, ValueError, RecursionError):
                return None
        return None

    def read(self, relative: str) -> bytes | None:
        """The bytes of a file of the package, or None where it is not there."""
        data = self._on_disk(relative) if self.files is None else self._elsewhere(self.files, relative)
        self.digests[relative] = digest(data)
        return data

    def submodules(self, relative: str) -> list[str]:
        """Dotted names of the plain modules in a folder of the package, in order of name."""
        dotted = ".".join(("sglang", *Path(relative).parts))
        return [f"{dotted}.{stem}" for stem in sorted(self._stems(relative)) if stem[:2] != "__"]

    def metadata(self) -> list[str]:
        """Metadata of the installed distribution, where it lies beside the package."""
        found = self.package.parent.glob("sglang-*.dist-info/METADATA") if self.files is None else ()
        return [path.read_text("utf-8", "replace") for path in sorted(found)]

    def _on_disk(self, relative: str) -> bytes | None:
        path = self.package / relative
        return path.read_bytes() if path.is_file() else None

    def _elsewhere(self, files: PackageFiles, relative: str) -> bytes | None:
        path = f"sglang/{relative}"
        if path not in self._listed:
            return None
        try:
            return files.read(path).encode("utf-8", "replace")
        except ToolError:  # what cannot be read tells as little as what is not there
            return None

    @cached_property
    def _listed(self) -> frozenset[str]:
        return frozenset(self.files.files()) if self.files is not None else frozenset()

    def _stems(self, relative: str) -> list[str]:
        if self.files is None:
            return [path.stem for path in (self.package / relative).glob("*.py")]
        below = Path("sglang", relative)
        paths = (Path(path) for path in self._listed)
        return [path.stem for path in paths if path.parent == below and path.suffix == ".py"]


def digest(data: bytes | None) -> str:
    """A short fingerprint of a file's bytes; "" for a file that is not there."""
    return "" if data is None else hashlib.blake2b(data, digest_size=12).hexdigest()


def find_package(tree: Path) -> Path:
    """The `sglang` package in `tree`: the folder itself, or one below it as a checkout or an installation lays it.

    Raises UserError where there is no SGLang.
    """
    if not tree.is_dir():
        raise UserError(
            f"There is no folder {tree}.", "Name the folder of the sglang package, or one that contains it."
        )
    for candidate in (tree, tree / "sglang", tree / "python" / "sglang"):
        if (candidate / SERVER_ARGS).is_file():
            return candidate
    raise UserError(
        f"{tree} is not SGLang: it has no sglang/{SERVER_ARGS.as_posix()}.",
        "Name the folder of the sglang package, or one that contains it.",
    )


def read_version(tree: SourceTree) -> str:
    """The version the tree says it is, or "" where it does not say (a checkout that was never built)."""
    for name in _VERSION_FILES:
        data = tree.read(name)
        found = _VERSION_LITERAL.search(data.decode("utf-8", "replace")) if data else None
        if found:
            return found.group(1)
    for metadata in tree.metadata():
        found = _METADATA_VERSION.search(metadata)
        if found:
            return found.group(1)
    return ""
