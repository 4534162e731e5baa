"""A deployment as it was: a folder in the recording format, or the log of one server."""

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import IO

from ppagent.errors import NotRecorded, ToolError
from ppagent.targets.files import file_inside, inside, join_text, lines, read_text
from ppagent.targets.source_files import SourceFiles
from ppagent.targets.target import Artifact, Shared

KNOWN = frozenset({artifact.value for artifact in Artifact} | {"server.log.gz", "metrics", "source", "traces"})
"""What a host's folder may hold; anything else in it is left alone."""

ENDED_EARLY = "The recording ended early: "
"""How a note in incident.yaml begins that tells why there is less in a recording than there was on the server."""

_NODE_RANK = re.compile(r"--node[-_]rank[ =](\d+)|\"node_rank\": ?(\d+)")
_PP_TAG = re.compile(rb"^\[[^\]]*\bPP(\d+)")
_LINES_FOR_RANK = 5000


class Recording:
    """A folder in the recording format. `answer.yaml` is not for a diagnosis: it is never read."""

    kind = "recording"

    def __init__(self, root: Path) -> None:
        self.root = root
        self.name = root.resolve().name

    @cached_property
    def _folders(self) -> dict[str, str]:
        """Host to its folder, relative to the recording. A folder of bare artifacts is a recording of one host."""
        hosts = self.root / "hosts"
        found = sorted(path.name for path in hosts.iterdir() if holds_artifacts(path)) if hosts.is_dir() else []
        if not found and holds_artifacts(self.root):
            return {self.name: "."}
        return {name: f"hosts/{name}" for name in found}

    @cached_property
    def hosts(self) -> tuple[str, ...]:
        """Host labels, the one with pipeline stage 0 first: by node rank, by the stages its log speaks of, by name."""
        return tuple(sorted(self._folders, key=lambda host: (self._rank(host), host)))

    def text(self, host: str, artifact: Artifact) -> str:
        if artifact is Artifact.SERVER_LOG:
            return join_text(self.log(host), artifact.value)
        return read_text(self.root, self._path(host, artifact.value))

    def log(self, host: str) -> Iterator[bytes]:
        plain = self._path(host, "server.log")
        try:
            return lines(file_inside(self.root, plain))
        except NotRecorded:
            pass
        try:
            return lines(file_inside(self.root, self._path(host, "server.log.gz")))
        except NotRecorded:
            raise NotRecorded(f"{plain} was not recorded") from None

    def scrapes(self, host: str) -> tuple[tuple[str, str], ...]:
        folder = inside(self.root, self._path(host, "metrics"))
        try:
            names = sorted((path.name for path in folder.glob("*.prom")), key=_number_first)
        except OSError as error:
            raise ToolError(f"metrics cannot be read: {error.strerror or error}") from error
        if not names:
            raise NotRecorded("metrics were not recorded")
        return tuple((f"metrics/{name}", read_text(self.root, self._path(host, f"metrics/{name}"))) for name in names)

    def traces(self, host: str) -> tuple[str, ...]:
        folder = inside(self.root, self._path(host, "traces"))
        try:
            names = sorted(path.name for path in folder.glob("*.trace.json.gz"))
        except OSError as error:
            raise ToolError(f"traces cannot be read: {error.strerror or error}") from error
        if not names:
            raise NotRecorded("no profiler trace was recorded")
        return tuple(f"traces/{name}" for name in names)

    def open_trace(self, host: str, name: str) -> IO[bytes]:
        path = file_inside(self.root, self._path(host, name))
        try:
            return path.open("rb")
        except OSError as error:
            raise ToolError(f"{name} cannot be read: {error.strerror or error}") from error

    def source(self, host: str) -> SourceFiles:
        tree = SourceFiles(inside(self.root, self._path(host, "source")))
        if not tree.files():
            raise NotRecorded("the installed source was not recorded")
        return tree

    def shared(self, artifact: Shared) -> str:
        return read_text(self.root, artifact.value)

    def _path(self, host: str, name: str) -> str:
        folder = self._folders.get(host)
        if folder is None:
            raise ToolError(f"there is no host {host!r} in {self.name}")
        return f"{folder}/{name}"

    def _rank(self, host: str) -> float:
        for artifact in (Artifact.LAUNCH, Artifact.SERVER_INFO):
            try:
                match = _NODE_RANK.search(self.text(host, artifact))
            except ToolError:  # said by the tool that is asked for it; the order of hosts is not the place
                continue
            if match is not None:
                return int(match[1] or match[2])
        return self._lowest_stage(host)

    def _lowest_stage(self, host: str) -> float:
        """The lowest pipeline rank in the first lines of the host's log; infinite where it names none."""
        try:
            tags = [_PP_TAG.match(line) for line in islice(self.log(host), _LINES_FOR_RANK)]
        except ToolError:
            return float("inf")
        return min((int(tag[1]) for tag in tags if tag is not None), default=float("inf"))


class LogFile:
    """The log of one server, alone. Its artifact is called server.log, whatever the file's name."""

    kind = "recording"
    hosts = ("server",)

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.name

    def text(self, host: str, artifact: Artifact) -> str:
        if artifact is Artifact.SERVER_LOG:
            return join_text(self.log(host), artifact.value)
        raise NotRecorded(f"{artifact.value} was not recorded: there is only a log")

    def log(self, host: str) -> Iterator[bytes]:
        return lines(self.path)

    def scrapes(self, host: str) -> tuple[tuple[str, str], ...]:
        raise NotRecorded("metrics were not recorded: there is only a log")

    def source(self, host: str) -> SourceFiles:
        raise NotRecorded("the installed source was not recorded: there is only a log")

    def shared(self, artifact: Shared) -> str:
        raise NotRecorded(f"{artifact.value} was not recorded: there is only a log")


def holds_artifacts(folder: Path) -> bool:
    """Whether a folder holds anything that a host of a recording holds, or may not be looked into."""
    try:
        return folder.is_dir() and any((folder / name).exists() for name in KNOWN)
    except PermissionError:
        return True


def _number_first(name: str) -> tuple[float, str]:
    digits = re.match(r"\d+", name)
    return (int(digits.group()) if digits else float("inf"), name)
