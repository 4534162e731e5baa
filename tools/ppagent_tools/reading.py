"""What the built-in tools share: artifacts host by host, their texts as JSON, CSV and lines, and excerpts of them."""

import csv
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ppagent.errors import NotRecorded, ToolError
from ppagent.evidence.evidence import FactValue, Finding
from ppagent.evidence.json_text import read_json
from ppagent.evidence.kept import DEEPEST
from ppagent.evidence.ledger import EXCERPT_LIMIT
from ppagent.plugins import ToolContext
from ppagent.targets.target import Artifact

Row = Mapping[str, str]

_NUMBER = re.compile(r"\s*(-?[0-9]{1,15}(?:,[0-9]{3}(?![0-9]))*)(?:[.,]([0-9]+))?(?![0-9x]|[eE][+-]?[0-9])")
_MOST_ROWS = 30_000
_JSON_VALUE = r'(?:"(?:\\.|[^"\\])*"|\[[^\[\]]*\]|[^,\[\]{}]+|[\[{].{0,160})'
"""A plain JSON value, a list of them, or the beginning of something larger."""


@dataclass(frozen=True)
class Document:
    """One artifact as text, and where it lies."""

    text: str
    artifact: str
    host: str = ""

    @property
    def place(self) -> str:
        """The artifact as a person finds it."""
        return f"{self.artifact} of {self.host}" if self.host else self.artifact

    def finding(
        self, facts: Mapping[str, FactValue], excerpt: str = "", *, authority: int = 1, at: str = ""
    ) -> Finding:
        return Finding(self.artifact, facts, excerpt, self.host, at, authority)

    def error(self, why: str, line: int | None = None) -> ToolError:
        """What a reader of this document raises: the file, the line, the reason."""
        return ToolError(f"{self.place}{f', line {line}' if line else ''}: {why}")


@dataclass(frozen=True)
class CsvRow:
    """A row of a CSV file by column, and the line it was."""

    cells: Row
    line: str
    number: int


def document(context: ToolContext, host: str, artifact: Artifact) -> Document:
    """One host's artifact. Raises NotRecorded, and ToolError where it is empty."""
    found = Document(context.target.text(host, artifact), artifact.value, host)
    if not found.text.strip():
        raise found.error("the file is empty")
    return found


def on_each_host(context: ToolContext, read: Callable[[str], Iterable[Finding]]) -> tuple[Finding, ...]:
    """What `read` finds on every host. Raises what it raised where no host gave anything; a host that fails beside
    others that answer is a finding of its own."""
    found: list[Finding] = []
    failed: list[tuple[str, ToolError]] = []
    for host in context.target.hosts:
        try:
            found.extend(read(host))
        except ToolError as error:
            failed.append((host, error))
    broken = [(host, error) for host, error in failed if not isinstance(error, NotRecorded)]
    if not found:
        raise (broken or failed)[0][1] if failed else NotRecorded("the target has no host")
    for host, reason in broken:
        found.append(Finding("", {"tool.unread": [str(reason)]}, host=host))
    return tuple(found)


def parse_json(found: Document) -> object:
    """The document as JSON. Raises ToolError with the line where it is none."""
    try:
        return read_json(found.text)
    except json.JSONDecodeError as error:
        raise found.error(f"no JSON: {error.msg}", error.lineno) from error
    except ValueError as error:
        raise found.error(f"no JSON: {error}") from error


def json_object(found: Document) -> dict[str, object]:
    """The document as a JSON object."""
    value = parse_json(found)
    if not isinstance(value, dict):
        raise found.error(f"a JSON object was expected, not {type(value).__name__}", 1)
    return value


def as_fact(value: object, deepest: int = DEEPEST) -> FactValue:
    """A value out of JSON as a fact can hold it; what lies too deep is unknown."""
    match value:
        case float() if not math.isfinite(value):
            return None
        case None | str() | int() | float():
            return value
        case list() | tuple():
            return [as_fact(item, deepest - 1) for item in value] if deepest else None
        case dict():
            return {str(key): as_fact(item, deepest - 1) for key, item in value.items()} if deepest else None
        case _:
            return str(value)


def csv_rows(found: Document, names: Callable[[str], str] = str.strip) -> list[CsvRow]:
    """The rows under a CSV header, its column names put through `names`; cells may be parted by semicolons or tabs.

    A header that comes again, as in a file that several queries were appended to, and a row that was cut off are left
    out, and of more rows than can be held those before the newest. Raises ToolError where there is no header, or a row
    has more cells than columns.
    """
    lines = [(number, line) for number, line in enumerate(found.text.splitlines(), 1) if line.strip()]
    head = lines[0][1] if lines else ""
    del lines[1:-_MOST_ROWS]
    parted_by = max(",;\t", key=head.count)
    header = [names(cell) for cell in _cells(found, head, 1, parted_by)]
    if len(header) < 2 or all(re.fullmatch(r"[\d.\s]*", cell) for cell in header):
        raise found.error("a header with column names was expected", 1)
    rows = []
    for number, line in lines[1:]:
        row = _cells(found, line, number, parted_by)
        if len(row) > len(header):
            raise found.error(f"{len(row)} cells under {len(header)} columns", number)
        if len(row) == len(header) and line != head:
            rows.append(CsvRow(dict(zip(header, row, strict=True)), line, number))
    if not rows:
        raise found.error("no whole row under the header")
    return rows


def _cells(found: Document, line: str, number: int, parted_by: str) -> list[str]:
    """The cells of one line: none goes over a line's end, so that an odd quote spoils no more than its own row."""
    if '"' not in line:
        return [cell.strip() for cell in line.split(parted_by)]
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=parted_by, skipinitialspace=True))]
    except csv.Error as error:
        raise found.error(f"no CSV: {error}", number) from error


def number(text: str | None) -> float | None:
    """The number a cell holds, its unit left out; None for an empty cell and for `N/A`. A comma before one or two
    digits is a decimal one, before three it parts thousands."""
    match = _NUMBER.match(text or "")
    if match is None:
        return None
    return float(match[1].replace(",", "") + (f".{match[2]}" if match[2] else ""))


def tidy(value: float) -> float:
    """Whole numbers without a decimal point."""
    return int(value) if math.isfinite(value) and value == int(value) else value


def line_with(text: str, pattern: str) -> str:
    """The first line that `pattern` is found in, cut to an excerpt around it; empty where there is none."""
    match = re.search(pattern, text)
    return around(text, match.start()) if match else ""


def around(text: str, place: int, width: int = EXCERPT_LIMIT) -> str:
    """The line at `place`; of a long line, the part of it that begins there."""
    start = text.rfind("\n", 0, place) + 1
    stop = text.find("\n", place)
    stop = len(text) if stop < 0 else stop
    if stop - start <= width:
        return text[start:stop].strip()
    begin = max(start, min(place, stop - width))
    return text[begin : min(stop, begin + width)].strip()


def json_spans(text: str, keys: Iterable[str]) -> dict[str, tuple[int, int]]:
    """Where `"key": value` first stands in JSON text, for the keys that do, up to the end of a plain value."""
    spans = {}
    for key in keys:
        match = re.search(rf'"{re.escape(key)}"\s*:\s*{_JSON_VALUE}', text)
        if match is not None:
            spans[key] = match.span()
    return spans


def clusters(
    text: str, spans: Mapping[str, tuple[int, int]], width: int = EXCERPT_LIMIT
) -> list[tuple[str, tuple[str, ...]]]:
    """Pieces of `text` no longer than an excerpt that hold the spans between them, each with the names it holds."""
    ordered = sorted(spans, key=lambda name: spans[name])
    pieces: list[tuple[str, tuple[str, ...]]] = []
    names: list[str] = []
    for name in ordered:
        if names and spans[name][1] - spans[names[0]][0] > width:
            pieces.append(_piece(text, spans, names, width))
            names = []
        names.append(name)
    return [*pieces, _piece(text, spans, names, width)] if names else pieces


def _piece(
    text: str, spans: Mapping[str, tuple[int, int]], names: Sequence[str], width: int
) -> tuple[str, tuple[str, ...]]:
    start, stop = spans[names[0]][0], max(spans[name][1] for name in names)
    return text[start : min(stop, start + width)].strip(), tuple(names)
