"""Profiler traces that a server wrote on its host: listed, fetched and taken away again, nothing else touched."""

import re
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import IO

from ppagent.errors import ToolError
from ppagent.targets.remote.link import LARGEST_ERROR, End, Link, run

LIST_S = 60.0
FETCH_S = 300.0
_LIST = (
    'cd -- "$1" 2>/dev/null || { [ -e "$1" ] && echo "no right to look into it" >&2 && exit 1; exit 3; }; '
    "for f in *.trace.json.gz; do "
    '[ -f "$f" ] && [ ! -L "$f" ] && printf "%s %s\\n" "$(wc -c <"$f")" "$f"; '
    "done; exit 0"
)
_REMOVE = 'cd -- "$1" && shift && rm -f -- "$@" && cd / && rmdir -- "$0"'
_NOT_THERE = 3
_ROW = re.compile(r"\s*(\d{1,15}) ([\w.-]{1,200})")


@dataclass(frozen=True)
class TraceFile:
    """A trace on a host."""

    name: str
    size: int
    """Bytes, packed; it grows while the server writes it."""


class TraceFolder:
    """A folder of one host, or of the container there, that the server was asked to write its traces to."""

    def __init__(self, link: Link, path: str, container: str = "") -> None:
        self.path = path
        self._link = link
        self._inside = ("docker", "exec", "-i", container) if container else ()

    @property
    def place(self) -> str:
        """Where it is, for a person."""
        inside = f" in container {self._inside[-1][:12]}" if self._inside else ""
        return f"{self.path} of {self._link.name}{inside}"

    def files(self) -> tuple[TraceFile, ...]:
        """What is there now, by name; nothing where the folder is not there yet. Raises ToolError."""
        ran = run(self._link, [*self._inside, "sh", "-c", _LIST, "ppagent", self.path], timeout_s=LIST_S)
        if ran.end is End.EXITED and ran.exit == _NOT_THERE:
            return ()
        if not ran.ok:
            raise ToolError(f"{self.place} cannot be listed: {ran.complaint}")
        rows = filter(None, map(_ROW.fullmatch, ran.text.splitlines()))
        return tuple(sorted((TraceFile(row[2], int(row[1])) for row in rows), key=lambda file: file.name))

    def fetch(self, file: TraceFile, into: IO[bytes]) -> None:
        """Copies one trace into an open file. Raises ToolError where it does not come as long as it was listed."""
        argv = [*self._inside, "cat", "--", f"{self.path}/{file.name}"]
        size, said = 0, b""
        with closing(self._link.start(argv, timeout_s=FETCH_S)) as running:
            for is_error, piece in running.pieces():
                if is_error:
                    said = (said + piece)[:LARGEST_ERROR]
                    continue
                size += len(piece)
                if size > file.size:
                    break
                into.write(piece)
        if size != file.size:
            why = said.decode("utf-8", errors="replace").strip() or f"{size} of {file.size} bytes came"
            raise ToolError(f"{file.name} of {self.place} cannot be fetched: {why}")
        into.seek(0)

    def remove(self, names: Sequence[str]) -> None:
        """Takes these traces away, and the folder if it is empty then. Raises ToolError."""
        if not names:
            return
        argv = [*self._inside, "sh", "-c", _REMOVE, self.path, self.path, *names]
        ran = run(self._link, argv, timeout_s=LIST_S)
        if not ran.ok:
            raise ToolError(f"{self.place} cannot be taken away: {ran.complaint}")
