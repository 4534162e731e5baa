"""The installed sglang package as files in a folder: listed, read and searched, never left."""

import re
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from ppagent.errors import NotRecorded, ToolError
from ppagent.targets.files import inside, read_text
from ppagent.targets.target import SourceHit

LONGEST_PATTERN = 200
MOST_REPEATS = 3
MOST_HITS = 1000
LONGEST_LINE = 400
SEARCH_SECONDS = 5.0

_ATOM = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|(?P<repeat>[*+]|\{\d*,?\d*\})|.", re.DOTALL)


@dataclass(frozen=True)
class SourceFiles:
    """A folder that holds `sglang/...`, or parts of it."""

    root: Path

    @cached_property
    def _paths(self) -> tuple[str, ...]:
        found = (path for path in self.root.glob("sglang/**/*") if path.is_file() and "__pycache__" not in path.parts)
        try:
            home = self.root.resolve()
            kept = [path for path in found if path.resolve().is_relative_to(home)]
        except OSError as error:
            raise ToolError(f"the installed source cannot be read: {error.strerror or error}") from error
        return tuple(sorted(path.relative_to(self.root).as_posix() for path in kept))

    def files(self) -> tuple[str, ...]:
        """Every file there is, as `sglang/...`, sorted. Raises ToolError where the folder cannot be looked into."""
        return self._paths

    def read(self, path: str) -> str:
        """The file's text. Raises NotRecorded when it is not there, ToolError when the path leaves the package."""
        parts = PurePosixPath(path).parts
        if parts[:1] != ("sglang",) or ".." in parts:
            raise ToolError(f"{path!r} is not inside the sglang package")
        inside(self.root, path)
        if path not in self._paths:
            raise NotRecorded(f"{path} was not recorded")
        return read_text(self.root, path)

    def grep(self, pattern: str, under: str = "sglang", limit: int = 200) -> tuple[SourceHit, ...]:
        """Lines that match a regular expression, at most `limit`, in the files under a path of the package.

        Raises ToolError for a pattern that is no regular expression, or one that could take for ever.
        """
        expression = compile_safely(pattern)
        parts = PurePosixPath(under).parts
        if parts[:1] != ("sglang",) or ".." in parts:
            raise ToolError(f"{under!r} is not inside the sglang package")
        until = time.monotonic() + SEARCH_SECONDS
        hits: list[SourceHit] = []
        for path in self._paths:
            if PurePosixPath(path).parts[: len(parts)] != parts:
                continue
            for number, line in enumerate(read_text(self.root, path).splitlines(), 1):
                if time.monotonic() > until:
                    raise ToolError(f"searching for {pattern!r} took longer than {SEARCH_SECONDS:g} s")
                if expression.search(line[:LONGEST_LINE]):
                    hits.append(SourceHit(path, number, line.strip()[:LONGEST_LINE]))
                if len(hits) >= min(limit, MOST_HITS):
                    return tuple(hits)
        return tuple(hits)


def compile_safely(pattern: str) -> re.Pattern[str]:
    """A regular expression from elsewhere. Raises ToolError where it is none, or where matching could take for ever:
    too long, a repeated group, or more than a few repeats (matching a line is then bounded by its length)."""
    if len(pattern) > LONGEST_PATTERN:
        raise ToolError(f"the pattern has {len(pattern)} characters, {LONGEST_PATTERN} are allowed")
    try:
        expression = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise ToolError(f"{pattern!r} is no regular expression: {error}") from error
    repeats, before = 0, ""
    for atom in _ATOM.finditer(pattern):
        if atom["repeat"]:
            repeats += 1
            if before == ")":
                raise ToolError(f"{pattern!r} repeats a group, which is not searched for")
        before = atom.group()
    if repeats > MOST_REPEATS:
        raise ToolError(f"{pattern!r} has {repeats} repeats, {MOST_REPEATS} are allowed")
    return expression
