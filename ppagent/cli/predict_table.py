"""The tables of `ppagent predict` in a terminal: every forecast as its range, in the columns there are."""

from collections.abc import Iterator, Sequence

from ppagent.changes.shapes import SOURCE, Shapes
from ppagent.cli.predict_answer import Answer, Cell
from ppagent.model.shapes import Shape
from ppagent.report.lines import wrapped
from ppagent.report.room import columns

_NAME = 8
_CELL = 12
BOUND = "C=1 max is what one request alone cannot pass"
LIMITS_HEADING = "tok/s by slot limit and requests in flight"


def by_limit(answer: Answer) -> Iterator[str]:
    """tok/s of every slot limit at every load; as many loads beside one another as there is room for."""
    loads = sorted({cell.load for cell in answer.cells})
    cells = {(cell.limit, cell.load): cell for cell in answer.cells}
    ranges = any(cell.low != cell.high for cell in answer.cells)
    yield from _wrapped(LIMITS_HEADING + ("; two figures are the range of a forecast" if ranges else ""))
    at_once = (columns() - _NAME) // _CELL
    for some in (loads[at:][:at_once] for at in range(0, len(loads), at_once)):
        yield _row("limit", [f"C={load}" for load in some])
        for limit in sorted({cell.limit for cell in answer.cells}):
            yield _row(str(limit), [_range_of(cells.get((limit, load))) for load in some])


def by_shape(shapes: Shapes) -> Iterator[str]:
    """What other shapes of the cards would give, or why that is not known."""
    if shapes.lacking:
        yield from _wrapped(f"other TPxPP shapes of these cards are not priced: {shapes.lacking}")
        return
    yield from _wrapped(f"{shapes_heading(shapes)}, as ranges; {BOUND}")
    rows = shape_rows(shapes)
    wide = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    gap = 3 if sum(wide) + 3 * (len(wide) - 1) <= columns() else 1
    for name, *values in rows:
        cells = (f"{value:>{width + gap}}" for value, width in zip(values, wide[1:], strict=True))
        yield f"{name:<{wide[0]}}" + "".join(cells)
    yield from _wrapped(f"{SOURCE}.", "  ")


def shapes_heading(shapes: Shapes) -> str:
    return f"tok/s by shape of these {shapes.cards} cards, TP ranks by PP stages"


def shape_rows(shapes: Shapes) -> list[tuple[str, ...]]:
    """The table's cells, its head first: one request, its bound, the load asked for, tokens of KV."""
    loaded = shapes.at > 1 and any(each.loaded is not None for each in shapes.shapes)
    head = ("shape", "C=1", "C=1 max", *([f"C={shapes.at}"] if loaded else []), "KV")
    measured = ("measured", _figure(shapes.alone), "", *([_figure(shapes.loaded)] if loaded else []), "")
    return [head, measured, *(_shape_row(each, loaded) for each in shapes.shapes)]


def _shape_row(each: Shape, loaded: bool) -> tuple[str, ...]:
    if each.kv_tokens == 0:
        return (each.name, "too big", "", *([""] if loaded else []), "none")
    more = [] if not loaded else [span(*each.loaded) if each.loaded is not None else "?"]
    return (each.name, span(*each.alone), f"{each.alone_most:.0f}", *more, _tokens(each.kv_tokens))


def _figure(tokens_per_s: float | None) -> str:
    return "?" if tokens_per_s is None else span(tokens_per_s, tokens_per_s)


def _tokens(count: int | None) -> str:
    if count is None:
        return "?"
    return f"{count / 1e6:.2f}M" if count >= 1e6 else f"{count / 1e3:.0f}k"


def span(low: float, high: float) -> str:
    """A range in about three digits; one figure where its ends are the same in print."""
    ends = tuple(f"{value:.0f}" if high >= 100 else f"{value:.1f}" for value in (low, high))
    return ends[0] if ends[0] == ends[1] else f"{ends[0]}-{ends[1]}"


def _range_of(cell: Cell | None) -> str:
    return "?" if cell is None else span(cell.low, cell.high)


def _row(name: str, values: Sequence[str]) -> str:
    return f"{name:<{_NAME}}" + "".join(f"{value:>{_CELL}}" for value in values)


def _wrapped(text: str, first: str = "") -> list[str]:
    return [line.text for line in wrapped(text, columns(), first)]
