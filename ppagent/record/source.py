"""The files of the installed sglang package that matter: in which its flags and its scheduler's facts are read."""

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass

from ppagent.errors import NotRecorded, ToolError, UserError
from ppagent.sglang.flags.reader import read_tree
from ppagent.sglang.flags.source import SERVER_ARGS, InOneGo, SourceTree
from ppagent.sglang.legality.model_source import takes_stages
from ppagent.sglang.scheduler_facts import scheduler
from ppagent.targets import target
from ppagent.targets.remote.link import LinkLost
from ppagent.targets.source_files import SourceFiles

LARGEST_FILE = 1 << 20
LARGEST_SOURCE = 6 << 20
_FIRST = (
    "sglang/version.py",
    "sglang/_version.py",
    "sglang/srt/server_args",
    "sglang/srt/arg_groups/",
    "sglang/srt/managers/scheduler_pp_mixin.py",
    "sglang/srt/managers/scheduler.py",
    "sglang/srt/model_executor/model_runner.py",
    "sglang/srt/distributed/utils.py",
)
_FACTS: tuple[Callable[[SourceTree], object], ...] = (
    scheduler.read_slots,
    scheduler.read_limit,
    scheduler.read_async_depth,
    scheduler.read_layer_split,
    scheduler.read_live_keys,
    scheduler.read_live_answer,
)
_CLASS_NAME = re.compile(r"[A-Za-z_]\w{0,80}")


@dataclass(frozen=True)
class RecordedSource:
    """Files by their path in the package, and those that would have made it too large."""

    texts: dict[str, str]
    left_out: tuple[str, ...] = ()

    def files(self) -> tuple[str, ...]:
        """Paths of what was taken, so that it can be read like the package itself."""
        return tuple(self.texts)

    def read(self, path: str) -> str:
        """The text of a file. Raises NotRecorded for one that was not taken."""
        if path not in self.texts:
            raise NotRecorded(f"{path} was not taken")
        return self.texts[path]


def recorded_source(tree: target.SourceTree, architectures: Iterable[str] = ()) -> RecordedSource:
    """What of `tree` belongs into a recording. `architectures` names the model's classes.

    All of it where it is a recording's already. Raises NotRecorded where there is none of it.
    """
    held = frozenset(tree.files())
    wanted = _Wanted(tree, held)
    if isinstance(tree, SourceFiles):
        wanted.take(held)
    else:
        wanted.take(path for path in held if path.startswith(_FIRST) and path.endswith(".py"))
        wanted.take(_model_files(tree, architectures))
        _complete(wanted, tuple(architectures))
    if not wanted.files:
        raise NotRecorded("nothing of the installed source that matters is there")
    return RecordedSource(dict(sorted(wanted.files.items())), tuple(sorted(wanted.left_out)))


class _Wanted:
    """Files taken so far, within the size that a recording's source may have."""

    def __init__(self, tree: target.SourceTree, held: frozenset[str]) -> None:
        self._tree = tree
        self._held = held
        self._size = 0
        self.files: dict[str, str] = {}
        self.left_out: set[str] = set()

    def take(self, paths: Iterable[str]) -> dict[str, str]:
        """Takes those that are there and new; returns what was taken."""
        new = sorted({path for path in paths if path in self._held} - set(self.files) - self.left_out)
        if isinstance(self._tree, InOneGo):
            self._tree.fetch(new)
        return {path: self.files[path] for path in new if self._take(path)}

    def _take(self, path: str) -> bool:
        try:
            text = self._tree.read(path)
        except LinkLost:
            raise
        except ToolError:
            self.left_out.add(path)
            return False
        size = len(text.encode("utf-8", errors="replace"))
        if size > LARGEST_FILE or self._size + size > LARGEST_SOURCE:
            self.left_out.add(path)
            return False
        self._size += size
        self.files[path] = text
        return True


def _model_files(tree: target.SourceTree, architectures: Iterable[str]) -> set[str]:
    """Where the model's classes are defined."""
    found: set[str] = set()
    for name in architectures:
        if not _CLASS_NAME.fullmatch(name):
            continue
        try:
            found |= {hit.path for hit in tree.grep(rf"^class {name}\b", "sglang/srt/models", 10)}
        except ToolError:  # without it the model's class is known by version
            continue
    return found


def _complete(wanted: _Wanted, architectures: tuple[str, ...]) -> None:
    """Reads what was taken as a diagnosis would, and takes every file that is then looked for, until none is."""
    while wanted.take(_looked_for(RecordedSource(wanted.files), architectures)):
        pass


def _looked_for(taken: RecordedSource, architectures: tuple[str, ...]) -> set[str]:
    """Files of the package that reading it asked for and did not find."""
    tree = SourceTree.over(taken)
    if f"sglang/{SERVER_ARGS}" in taken.texts:
        with suppress(UserError):  # a fork whose flags cannot be read here cannot be read from the recording either
            read_tree(tree)
    for read in _FACTS:
        read(tree)
    for architecture in architectures:
        takes_stages(tree, architecture)
    return {f"sglang/{path}" for path, digest in tree.digests.items() if not digest}
