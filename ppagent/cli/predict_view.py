"""How `ppagent predict` shows its answer in a terminal and in JSON."""

from collections.abc import Iterator

from ppagent.changes.shapes import SOURCE, Shapes
from ppagent.cli.predict_answer import Answer
from ppagent.cli.predict_table import by_limit, by_shape
from ppagent.model.timeline import draw_timeline
from ppagent.model.whatif import Settings
from ppagent.report.lines import wrapped
from ppagent.report.pictures.captions import given_timeline_caption, timeline_caption
from ppagent.report.pictures.characters import chart
from ppagent.report.room import columns

TURNS_DRAWN = 2.0


def as_json(answer: Answer) -> dict[str, object]:
    """The forecast as in a proposal, what it rests on, and the numbers behind the pictures."""
    forecast = answer.forecast
    return {
        "predicted": forecast.predicted(),
        "effect": str(forecast.effect),
        "untold": answer.untold,
        "regime": forecast.regime,
        "assumptions": list(forecast.assumptions),
        "table": [
            {
                "slot_limit": cell.limit,
                "max_concurrency": cell.load,
                "tokens_per_s": cell.middle,
                "low": cell.low,
                "high": cell.high,
            }
            for cell in answer.cells
        ],
        "timelines": [
            {
                "name": lane.name,
                "filled_slots": lane.timeline.filled,
                "turn_ms": round(lane.timeline.turn_ms, 2),
                "stage_taken": [round(share, 3) for share in lane.timeline.busy],
            }
            for lane in answer.lanes
        ],
        "shapes": _shapes(answer.shapes),
        "own_record": answer.record,
    }


def _shapes(shapes: Shapes | None) -> dict[str, object] | None:
    """Rates as [low, high]; null where not known."""
    if shapes is None:
        return None
    rows = [
        {
            "tp_size": each.tp,
            "pp_size": each.stages,
            "at_1": _rounded(each.alone),
            "at_1_most": round(each.alone_most, 1),
            "at_load": _rounded(each.loaded),
            "kv_tokens": each.kv_tokens,
        }
        for each in shapes.shapes
    ]
    return {"max_concurrency": shapes.at, "rows": rows, "source": SOURCE, "lacking": shapes.lacking}


def _rounded(rates: tuple[float, float] | None) -> list[float] | None:
    return None if rates is None else [round(rate, 1) for rate in rates]


def as_text(answer: Answer) -> str:
    """Forecast, chart, table and timelines, in the columns there are."""
    return "\n".join(line.rstrip() for line in _lines(answer)) + "\n"


def _lines(answer: Answer) -> Iterator[str]:
    forecast = answer.forecast
    yield from _wrapped(answer.title)
    yield ""
    yield from _wrapped(
        f"at C={forecast.at_concurrency}: {forecast.low:.1f}-{forecast.high:.1f} tok/s "
        f"(now {forecast.baseline:.1f}): {forecast.effect}"
    )
    if answer.untold:
        yield from _wrapped(f"{answer.untold}.", "  ")
    yield from _wrapped(forecast.regime, "  ")
    for note in forecast.assumptions:
        yield from _wrapped(note, "  assumes: ")
    if answer.record:
        yield from _wrapped(answer.record, "  own record: ")
    yield ""
    yield "tok/s by requests in flight"
    yield from chart(answer.curves, columns())
    yield ""
    yield from by_limit(answer)
    yield ""
    if answer.shapes is not None:
        yield from by_shape(answer.shapes)
        yield ""
    yield from _timelines(answer)


def describe(settings: Settings) -> str:
    """The settings in a few words."""
    parts = [f"limit {settings.slot_limit}" if settings.slot_limit else "no limit in force"]
    if settings.async_depth:
        parts.append(f"async depth {settings.async_depth}")
    parts.append("graphs on" if settings.graph else "graphs off")
    if settings.split:
        parts.append("layers " + ",".join(str(count) for count in settings.split))
    return ", ".join(parts)


def _timelines(answer: Answer) -> Iterator[str]:
    span_ms = TURNS_DRAWN * max(lane.timeline.turn_ms for lane in answer.lanes)
    yield from _wrapped(f"which stage works when, {span_ms:.4g} ms: a digit is a slot, a dot waits, % is taken")
    for lane in answer.lanes:
        yield ""
        yield from _wrapped(f"{lane.name}, {lane.gives}")
        yield from draw_timeline(lane.timeline, span_ms, columns())
    yield ""
    yield from _wrapped(lanes_caption(answer), "  ")


def lanes_caption(answer: Answer) -> str:
    """What the timelines show and assume."""
    if not answer.measured:
        return given_timeline_caption(answer.came_about)
    return timeline_caption(answer.lanes, answer.came_about, answer.fill_said, answer.divided_by)


def _wrapped(text: str, first: str = "") -> list[str]:
    return [line.text for line in wrapped(text, columns(), first)]
