"""One script of read-only commands in, its sections out: everything one look needs goes over the line once."""

import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import resources

from ppagent.errors import NotRecorded, ToolError
from ppagent.targets.remote.link import End, Link, run

_PRELUDE = """LC_ALL=C; export LC_ALL; M=$1; shift; exec 3>&1
s() { printf '\\n%s {%s\\n' "$M" "$1"; shift; e=$({ "$@" 1>&3; } 2>&1); printf '\\n%s }%s %s\\n' "$M" "$?" "$e"; }
"""
"""`s NAME COMMAND ...` runs a command as a section: its output as it is, then its status and what it complained of.
The mark `M` is new for each run, so that no output can pass for a section's end."""


@dataclass(frozen=True)
class Section:
    """What one command of a script gave."""

    output: bytes
    exit: int
    complaints: str

    @property
    def text(self) -> str:
        return self.output.decode("utf-8", errors="replace")

    @property
    def denied(self) -> bool:
        """Whether rights were missing."""
        return re.search(r"(?i)permission denied|not permitted|insufficient permissions", self.complaints) is not None


class Sections:
    """The sections of a script by name. A section that is not there was lost with the connection, or with the time."""

    def __init__(self, found: Mapping[str, Section], why_cut: str, host: str = "the host") -> None:
        self._found = found
        self._why_cut = why_cut
        self._host = host

    def __getitem__(self, name: str) -> Section:
        """Raises ToolError for a section that did not come."""
        found = self._found.get(name)
        if found is None:
            raise ToolError(f"{name} of {self._host} was not read: {self._why_cut or 'the script does not have it'}")
        return found

    def must_have(self, name: str) -> None:
        """Raises ToolError where a section did not come: what it lacks then says nothing of rights."""
        self[name]

    def __contains__(self, name: object) -> bool:
        return name in self._found

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def text(self, name: str) -> str:
        """A section's output; empty where it did not come."""
        return self._found[name].text if name in self._found else ""

    def output(self, name: str, what: str) -> str:
        """A section's output. Raises NotRecorded with the command's complaint where it has none."""
        section = self[name]
        if section.output.strip():
            return section.text
        raise NotRecorded(f"{what}: {section.complaints or 'nothing is said of it'}")


def script(name: str) -> str:
    """The text of a script that lies beside this module."""
    return resources.files("ppagent.targets.remote").joinpath(name).read_text(encoding="utf-8")


@dataclass(frozen=True)
class Early:
    """What is told of a script before it ends: `tell` gets the sections before the one named `until`."""

    until: str
    tell: Callable[[Sections], None]


def run_sections(link: Link, body: str, *arguments: str, timeout_s: float, early: Early | None = None) -> Sections:
    """Runs a script of sections with `sh` on the host. What came before an early end is kept."""
    mark = f"@@{secrets.token_hex(16)}"
    words = ["sh", "-s", "--", mark, *arguments]
    watch = _Watch(mark, early) if early is not None else None
    ran = run(link, words, timeout_s=timeout_s, stdin=(_PRELUDE + body).encode(), watch=watch)
    found = parse_sections(ran.stdout, mark)
    if not found and ran.end is not End.LOST:
        raise ToolError(f"{link.name} answers no commands: {ran.complaint}")
    return Sections(found, "" if ran.end is End.EXITED else ran.complaint, link.name)


class _Watch:
    """Waits for a section to begin: what comes before it is whole by then."""

    def __init__(self, mark: str, early: Early) -> None:
        self._mark = mark
        self._early = early
        self._begins = f"\n{mark} {{{early.until}\n".encode()
        self._held = b""
        self._told = False

    def __call__(self, piece: bytes) -> None:
        if self._told:
            return
        before = len(self._held)
        self._held += piece
        if self._begins in self._held[max(0, before - len(self._begins)) :]:
            self._told = True
            self._early.tell(Sections(parse_sections(self._held, self._mark), "it is not read yet"))


def parse_sections(output: bytes, mark: str) -> dict[str, Section]:
    """The whole sections of a script's output, by name."""
    begun = re.escape(mark.encode())
    pattern = re.compile(
        rb"\n" + begun + rb" \{(?P<name>[^\n]*)\n(?P<output>.*?)\n" + begun
        + rb" \}(?P<exit>\d+) (?P<complaints>.*?)(?=\n" + begun + rb" |\Z)",
        re.DOTALL,
    )  # fmt: skip
    return {
        match["name"].decode(): Section(
            match["output"], int(match["exit"]), match["complaints"].decode("utf-8", errors="replace").strip()
        )
        for match in pattern.finditer(output)
    }
