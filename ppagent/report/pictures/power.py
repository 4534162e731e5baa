"""Power of each GPU over time against its limit: what tells work from waiting, which utilisation does not."""

from dataclasses import dataclass

from ppagent.report.pictures.axis import Scale, frame, ticks
from ppagent.report.pictures.svg import Picture, dot, line, polygon, polyline, rect, text

HEIGHT = 250.0
LEFT, RIGHT, ABOVE, BELOW = 44.0, 12.0, 28.0, 44.0

Row = tuple[float | None, ...]


@dataclass(frozen=True)
class Power:
    """Samples of one host. `seconds` counts from the first sample; without times, samples count one by one."""

    host: str
    seconds: tuple[float, ...]
    timed: bool
    watts: dict[str, Row]
    limit_w: float | None
    cites: tuple[str, ...] = ()

    def at(self, index: int) -> list[float]:
        """What was read on the cards at one moment."""
        return [value for row in self.watts.values() if (value := row[index]) is not None]

    @property
    def highest_w(self) -> float:
        return max(value for row in self.watts.values() for value in row if value is not None)

    @property
    def says(self) -> str:
        """What is seen, in words."""
        lows, highs = zip(*((min(at), max(at)) for i in range(len(self.seconds)) if (at := self.at(i))), strict=True)
        limit = f" of {self.limit_w:g} W" if self.limit_w else ""
        return f"{len(self.watts)} GPUs, {min(lows):.0f} to {max(highs):.0f} W{limit}"


def draw_power(power: Power, width: float) -> Picture:
    """Lines over time, each card thin, their range shaded, the mean bold; bars where there is one moment only."""
    top = max(power.highest_w, power.limit_w or 0.0, 1.0)
    up = Scale(0, 1.06 * top, HEIGHT - BELOW, ABOVE)
    one = len(power.seconds) == 1
    body = _bars(power, up, width) if one else _lines(power, up, width)
    if power.limit_w:
        y = up.px(power.limit_w)
        body += line(LEFT, y, width - RIGHT, y, "l-limit")
        body += text(width - RIGHT, y - 5, f"limit {power.limit_w:g} W", "t-warn", "end")
    return Picture(width, HEIGHT, body, f"Power over time: {power.says}")


def _lines(power: Power, up: Scale, width: float) -> str:
    across = Scale(power.seconds[0], power.seconds[-1], LEFT, width - RIGHT)
    most = 5 if width < 500 else 9
    name = "seconds from the first sample" if power.timed else "samples"
    parts = [frame(across, up, ticks(across.low, across.high, most), name, "W")]
    seen = [(across.px(second), power.at(index)) for index, second in enumerate(power.seconds)]
    seen = [(x, at) for x, at in seen if at]
    edge = [(x, up.px(max(at))) for x, at in seen] + [(x, up.px(min(at))) for x, at in reversed(seen)]
    parts.append(polygon(edge, "haze"))
    for row in power.watts.values():
        points = [(across.px(s), up.px(v)) for s, v in zip(power.seconds, row, strict=True) if v is not None]
        parts.append(polyline(points, "l-thin"))
    means = [(x, up.px(sum(at) / len(at))) for x, at in seen]
    parts.append(polyline(means, "l-now"))
    parts += [dot(x, y, 2.5, "f-now") for x, y in means]
    return "".join(parts)


def _bars(power: Power, up: Scale, width: float) -> str:
    across = Scale(0, len(power.watts), LEFT, width - RIGHT)
    parts = [frame(across, up, (), "GPU", "W")]
    for place, (index, row) in enumerate(power.watts.items()):
        x, room = across.px(place), across.px(1) - across.px(0)
        value = row[0]
        if value is not None:
            y = up.px(value)
            parts.append(rect(x + 0.15 * room, y, 0.7 * room, up.start - y, "f-now", f"{value:g} W"))
        parts.append(text(x + room / 2, up.start + 17, index, "tick", "middle"))
    return "".join(parts)
