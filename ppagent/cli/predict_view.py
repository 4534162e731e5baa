"""How `ppagent predict` shows its answer: forecast, table and timelines."""

from ppagent.model.forecast import Forecast
from ppagent.model.ring import Ring
from ppagent.model.timeline import draw_timeline, timeline_of
from ppagent.model.whatif import Settings


class Answer:
    """What was asked, what is forecast, and the rings to draw."""

    def __init__(self, title: str, forecast: Forecast, rings: tuple[Ring, Ring], settings: tuple[Settings, Settings]):
        self.title, self.forecast = title, forecast
        self.now_ring, self.then_ring = rings
        self.now, self.then = settings

    def as_json(self) -> dict[str, object]:
        """The forecast as in a proposal, with what it rests on."""
        return {
            "predicted": self.forecast.predicted(),
            "effect": str(self.forecast.effect),
            "regime": self.forecast.regime,
            "assumptions": list(self.forecast.assumptions),
            "table": _table(self.then_ring, self.forecast.at_concurrency),
        }

    def as_text(self) -> str:
        """Forecast, table and timelines."""
        forecast = self.forecast
        at = forecast.at_concurrency
        lines = [
            self.title,
            "",
            f"at C={at}: {forecast.low:.1f}-{forecast.high:.1f} tok/s (now {forecast.baseline:.1f}): {forecast.effect}",
            f"  {forecast.regime}",
            *(f"  assumes: {note}" for note in forecast.assumptions),
            "",
            "tok/s by slot limit and requests in flight, steady decoding",
            *_table_lines(self.then_ring, at),
            "",
            *_timelines(self),
        ]
        return "\n".join(lines)


def describe(settings: Settings) -> str:
    """The settings in a few words."""
    parts = [f"limit {settings.slot_limit}" if settings.slot_limit else "no limit in force"]
    if settings.async_depth:
        parts.append(f"async depth {settings.async_depth}")
    parts.append("graphs on" if settings.graph else "graphs off")
    if settings.split:
        parts.append("layers " + ",".join(str(count) for count in settings.split))
    return ", ".join(parts)


def _table(ring: Ring, at: int) -> list[dict[str, float]]:
    rows: list[dict[str, float]] = []
    for limit in _limits(ring, at):
        for requests in _loads(ring, at):
            running = min(requests, limit * ring.slots)
            filled = -(-running // limit)
            tokens_per_s = round(ring.tokens_per_s(filled, running), 1)
            rows.append({"slot_limit": limit, "max_concurrency": requests, "tokens_per_s": tokens_per_s})
    return rows


def _table_lines(ring: Ring, at: int) -> list[str]:
    loads = _loads(ring, at)
    values = {(row["slot_limit"], row["max_concurrency"]): row["tokens_per_s"] for row in _table(ring, at)}
    lines = ["limit   " + "".join(f"{'C=' + str(load):>9}" for load in loads)]
    for limit in _limits(ring, at):
        lines.append(f"{limit:<8}" + "".join(f"{values[limit, load]:>9.1f}" for load in loads))
    return lines


def _limits(ring: Ring, at: int) -> list[int]:
    return sorted({1, 2, 4, -(-at // ring.slots), at})


def _loads(ring: Ring, at: int) -> list[int]:
    stages = len(ring.stages)
    return sorted({1, max(stages // 2, 1), stages, 2 * stages, at})


def _timelines(answer: Answer) -> list[str]:
    at = answer.forecast.at_concurrency
    span_ms = 2 * answer.now_ring.turn_ms(1, at)
    lines = []
    for name, ring, settings in (("now", answer.now_ring, answer.now), ("then", answer.then_ring, answer.then)):
        limit = settings.slot_limit or at
        running = min(at, limit * ring.slots)
        filled = min(-(-running // limit), ring.slots)
        lines.append(f"{name} (F={filled}), {span_ms:.0f} ms, digits are slots")
        lines.extend(draw_timeline(timeline_of(ring, filled, running), span_ms))
    return lines
