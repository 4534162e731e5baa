"""The installed sglang package on a host: listed, searched and read there, never left, never copied whole."""

import io
import re
import tarfile
from collections.abc import Iterable
from functools import cached_property
from pathlib import PurePosixPath

from ppagent.errors import NotRecorded, ToolError
from ppagent.targets.remote.link import End, Link, Ran, run
from ppagent.targets.remote.sections import script
from ppagent.targets.source_files import LONGEST_LINE, MOST_HITS, compile_safely
from ppagent.targets.target import SourceHit

LARGEST_FILE = 8 << 20
LARGEST_BUNDLE = 64 << 20
_LIST_S = 30.0
_GREP_S = 20.0
_READ = (
    'r=$(readlink -f -- "$2") && case $r in "$1"/*) exec cat -- "$r";; *) echo "it leads out of $1" >&2; exit 1;; esac'
)


class RemoteSource:
    """The package of one host. `inside` goes before each command (`docker exec ...` for a container)."""

    def __init__(self, link: Link, package: str, inside: Iterable[str] = (), python: str = "python3") -> None:
        if PurePosixPath(package).name != "sglang":
            raise ToolError(f"{package} is no package of sglang")
        self._link = link
        self._package = PurePosixPath(package)
        self._inside = tuple(inside)
        self._python = python
        self._held: dict[str, str] = {}

    @cached_property
    def _paths(self) -> tuple[str, ...]:
        argv = ["find", str(self._package), "-type", "f", "-not", "-path", "*/__pycache__/*", "-print0"]
        ran = self._run(argv, _LIST_S)
        if ran.end is not End.EXITED:
            raise ToolError(f"the installed source ({self._package}) was not listed: {ran.complaint}")
        if not ran.ok and not ran.stdout:
            raise NotRecorded(f"the installed source ({self._package}) cannot be listed: {ran.complaint}")
        return tuple(sorted(self._relative(path) for path in ran.text.split("\0") if path))

    def files(self) -> tuple[str, ...]:
        """Every file there is, as `sglang/...`, sorted."""
        return self._paths

    def read(self, path: str) -> str:
        """The file's text. Raises NotRecorded when it is not there, ToolError when the path leaves the package."""
        inside_package(path)
        if path in self._held:
            return self._held[path]
        argv = ["sh", "-c", _READ, "ppagent", str(self._package), str(self._absolute(path))]
        ran = self._run(argv, _LIST_S, limit=LARGEST_FILE)
        if not ran.ok:
            kind = NotRecorded if "No such file" in ran.complaint or not ran.stderr else ToolError
            raise kind(f"{path} of {self._link.name} cannot be read: {ran.complaint}")
        self._held[path] = ran.text
        return ran.text

    def fetch(self, paths: Iterable[str]) -> None:
        """Reads many files in one go, so that `read` finds them here."""
        known = frozenset(self._paths)
        wanted = [path for path in paths if path not in self._held and path in known and "\n" not in path]
        if not wanted:
            return
        argv = ["tar", "-C", str(self._package.parent), "-czf", "-", "-T", "-"]
        names = "".join(f"{path}\n" for path in wanted).encode()
        ran = self._run(argv, _LIST_S, limit=LARGEST_BUNDLE, stdin=names)
        try:
            with tarfile.open(fileobj=io.BytesIO(ran.stdout), mode="r:gz") as bundle:
                for member in bundle:
                    file = bundle.extractfile(member) if member.isfile() and member.size <= LARGEST_FILE else None
                    if file is not None and member.name in wanted:
                        self._held[member.name] = file.read().decode("utf-8-sig", errors="replace")
        except (tarfile.TarError, EOFError, OSError) as error:
            raise ToolError(f"the installed source could not be fetched: {ran.complaint or error}") from error

    def grep(self, pattern: str, under: str = "sglang", limit: int = 200) -> tuple[SourceHit, ...]:
        """Lines that match a regular expression, at most `limit`, in the files under a path of the package.

        Searched on the host with whatever is there (rg, grep -P, Python); each line is matched again here, so that the
        dialect is Python's. Raises ToolError for a pattern that is none, or that could take for ever.
        """
        expression = compile_safely(pattern)
        inside_package(under)
        argv = ["sh", "-c", script("grep.sh"), "ppagent", pattern, str(self._absolute(under)), self._python]
        ran = self._run(argv, _GREP_S, stdin=script("grep_tree.py").encode())
        hits: list[SourceHit] = []
        for row in ran.text.splitlines():
            match = re.match(r"(?P<path>[^\0]*?)[\0:](?P<line>\d+):(?P<text>.*)", row)
            if match is None or not expression.search(match["text"][:LONGEST_LINE]):
                continue
            text = match["text"].strip()[:LONGEST_LINE]
            hits.append(SourceHit(self._relative(match["path"]), int(match["line"]), text))
        if not hits and ran.exit not in (0, 1):
            raise ToolError(f"searching for {pattern!r} on {self._link.name} failed: {ran.complaint}")
        return tuple(sorted(hits, key=lambda hit: (hit.path, hit.line))[: min(limit, MOST_HITS)])

    def _run(self, argv: list[str], timeout_s: float, *, limit: int = 16 << 20, stdin: bytes = b"") -> Ran:
        return run(self._link, [*self._inside, *argv], timeout_s=timeout_s, limit=limit, stdin=stdin)

    def _absolute(self, path: str) -> PurePosixPath:
        return self._package.parent / path

    def _relative(self, path: str) -> str:
        return PurePosixPath(path).relative_to(self._package.parent).as_posix()


def inside_package(path: str) -> None:
    """Raises ToolError for a path that is not `sglang` or beneath it."""
    parts = PurePosixPath(path).parts
    if parts[:1] != ("sglang",) or ".." in parts or "\0" in path:
        raise ToolError(f"{path!r} is not inside the sglang package")
