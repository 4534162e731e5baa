"""Holds the pipeline model's forecasts against measured runs: `python scripts/validate_model.py [FILE] [-o TABLE.md]`.

FILE has one measured run a line (fields: `ppagent/model/validation.py`, class Row). Prints a Markdown page: the score
of each way of forecasting, split by stages, arrival, limit and depth, and every row. Whatever it says is what it says.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from statistics import fmean

from pydantic import ValidationError

from ppagent.evidence.json_text import read_json
from ppagent.model.stated_run import RunForecast
from ppagent.model.validation import Row, Scored, calibrated, from_levels, from_stage_times, read_row, scored

DEFAULT = Path("evals/lab/validation.jsonl")
WAYS = ("from the stage times", "the same after one measured row", "from levels", "from levels, after one change")
SPLITS: tuple[tuple[str, Callable[[Row], str]], ...] = (
    ("stages", lambda row: f"PP {row.pp}"),
    ("arrival", lambda row: row.arrival),
    ("limit", lambda row: "default" if row.limit is None else "queues" if _queues(row) else "set"),
    ("depth", lambda row: f"depth {row.depth}"),
    ("split", lambda row: "even stages" if row.even else "uneven stages"),
)


def main(arguments: Sequence[str]) -> int:
    """Print or write the page; 1 where the file holds no row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, default=DEFAULT)
    parser.add_argument("-o", "--output", type=Path)
    args = parser.parse_args(arguments)
    rows = read_rows(args.file)
    if not rows:
        sys.stderr.write(f"{args.file} holds no measured run.\n")
        return 1
    text = "\n".join(page(rows)) + "\n"
    if args.output is None:
        sys.stdout.write(text)
    else:
        args.output.write_text(text, encoding="utf-8")
    return 0


def read_rows(path: Path) -> list[Row]:
    """The rows of the file; a line that is none ends the program with its number."""
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            document = read_json(line)
            rows.append(read_row(document if isinstance(document, dict) else {}))
        except (ValueError, ValidationError) as error:
            raise SystemExit(f"{path}, line {number}: {error}") from error
    return rows


def page(rows: Sequence[Row]) -> Iterator[str]:
    """The Markdown page, line by line."""
    found = list(from_stage_times(rows))
    by_stages, by_levels = scored(found), from_levels(rows)
    ways = (by_stages, calibrated(by_stages), by_levels, calibrated(by_levels))
    yield f"{len(rows)} runs on the real scheduler with an emulated device."
    yield ""
    yield "| forecast | rows | mean absolute error | in range |"
    yield "|---|--:|--:|--:|"
    for name, way in zip(WAYS, ways, strict=True):
        yield f"| {name} | {score(way)} |"
    yield ""
    yield from splits(ways)
    yield ""
    yield from table(found, {id(each.row): each for each in ways[1]}, {id(each.row): each for each in by_levels})


def splits(ways: Sequence[Sequence[Scored]]) -> Iterator[str]:
    """The score of the first, second and last way, split by what the runs differ in."""
    shown = (0, 1, 3)
    yield "| split | " + " | ".join(f"{WAYS[way]}: rows | error | in range" for way in shown) + " |"
    yield "|---|" + "--:|" * 3 * len(shown)
    for _, key in SPLITS:
        for value in sorted({key(each.row) for each in ways[0]}):
            parts = (score([each for each in ways[way] if key(each.row) == value]) for way in shown)
            yield f"| {value} | " + " | ".join(parts) + " |"


def score(way: Sequence[Scored]) -> str:
    """Rows, mean absolute error and share in range, as three cells."""
    if not way:
        return "0 | | "
    error = fmean(abs(each.miss) for each in way)
    return f"{len(way)} | {error:.1%} | {fmean(each.inside for each in way):.0%}"


def table(
    found: Iterable[tuple[Row, RunForecast]], after: dict[int, Scored], levels: dict[int, Scored]
) -> Iterator[str]:
    """Every row: what was measured and what each way said."""
    yield (
        "| PP | stage ms (+ a request) | depth | limit | C | arrival | think s | measured | range of runs | forecast "
        "| range | miss | closed form | slots filled | after one row | miss | from levels | miss |"
    )
    yield "|--:|---|--:|--:|--:|---|--:|--:|---|--:|---|--:|--:|--:|--:|--:|--:|--:|"
    for row, run in found:
        each = Scored(row, run.forecast, run.tokens_per_s)
        cells = (
            f"{row.pp}",
            f"{_times(row.stage_ms)} (+ {_times(row.stage_ms_per_req)})",
            f"{row.depth}",
            "default" if row.limit is None else f"{row.limit}",
            f"{row.concurrency}",
            row.arrival,
            f"{row.think_s:g}",
            f"{row.measured_tok_s:.4g}",
            _span(row.measured_tok_s_low, row.measured_tok_s_high),
            f"{run.tokens_per_s:.4g}",
            _span(run.forecast.low, run.forecast.high) + ("" if each.inside else " **out**"),
            f"{each.miss:+.0%}",
            f"{run.closed_form:.4g}",
            f"{run.filled:.1f}",
            *_beside(after.get(id(row))),
            *_beside(levels.get(id(row))),
        )
        yield "| " + " | ".join(cells) + " |"


def _beside(each: Scored | None) -> tuple[str, str]:
    if each is None:
        return "", ""
    return f"{each.middle:.4g}" + ("" if each.inside else " **out**"), f"{each.miss:+.0%}"


def _queues(row: Row) -> bool:
    return row.limit is not None and row.limit * (row.pp + row.depth) < row.concurrency


def _times(values: Sequence[float]) -> str:
    return f"{values[0]:g}" if len({*values}) == 1 else ",".join(f"{value:g}" for value in values)


def _span(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{low:.4g}-{high:.4g}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
