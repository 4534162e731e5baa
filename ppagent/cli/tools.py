"""ppagent tools: what can be asked, where it comes from, and how much it disturbs."""

import argparse
import json
import sys
from dataclasses import asdict, dataclass

from ppagent.cli.common import note
from ppagent.report.plain import plain

NAME = "tools"
HELP = """The tools found, with their origin, grade and state.

Grades, by what a tool does: 0 reads a file or a recording, 1 asks the server over HTTP, 2 runs a
command on its host that only reads, 3 disturbs the server, 4 puts load on it, 5 restarts it."""
LEAST_ROOM = 30
"""Columns beside the table in which a sentence can be read."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", choices=("text", "json"), default="text", help="form of the list (text)")


@dataclass(frozen=True)
class Row:
    """One tool, or one source of tools that did not load."""

    name: str
    origin: str
    grade: int | None
    state: str
    summary: str

    def cells(self) -> tuple[str, ...]:
        grade = "" if self.grade is None else str(self.grade)
        return (self.name, self.origin, grade, self.state, self.summary)


def run(args: argparse.Namespace) -> int:
    from ppagent.agent.toolbox import open_toolbox
    from ppagent.plugins import discover

    sources = discover()
    box = open_toolbox(sources, "local")
    rows = [Row(o.name, o.origin, int(o.grade), "ready", _first_sentence(o.tool.summary)) for o in box]
    rows += [Row(s.name, s.origin, None, f"not loaded: {s.error}", "") for s in sources if s.error]
    shown = json.dumps([asdict(row) for row in rows], indent=2) + "\n" if args.format == "json" else _table(rows)
    sys.stdout.write(shown)
    for warning in box.warnings:
        note(warning)
    return 0


def _table(rows: list[Row]) -> str:
    """A row a tool, aligned; what it tells stands below where there is little room beside."""
    from ppagent.report.lines import wrapped
    from ppagent.report.room import columns

    cells = [("tool", "origin", "grade", "state", "what it tells"), *(tuple(map(plain, row.cells())) for row in rows)]
    widths = [max(len(row[n]) for row in cells if n < 3 or row[4]) for n in range(4)]
    lines: list[str] = []
    for row in cells:
        head = "  ".join(f"{text:<{w}}" for text, w in zip(row[:4], widths, strict=True))
        beside = columns() - len(head) >= LEAST_ROOM
        lines += [] if beside else [head.rstrip()]
        lines += [line.text for line in wrapped(row[4], columns(), f"{head}  " if beside else "    ") if line.text]
    return "".join(f"{line}\n" for line in lines)


def _first_sentence(summary: str) -> str:
    return " ".join(summary.split()).split(". ", 1)[0].rstrip(".")
