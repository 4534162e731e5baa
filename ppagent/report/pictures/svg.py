"""SVG by hand: elements out of numbers and escaped text, one picture inside a page, several as a file of their own."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files

WIDE, NARROW = 880.0, 360.0
"""Widths of a picture in px: for a screen or paper, and for a phone, where a shrunk picture could not be read."""

TEXT_PX = 12.0
_MEAN_GLYPH = 0.56
"""Width of a mean character of a sans-serif face over its size."""


@dataclass(frozen=True)
class Picture:
    """One drawing. `says` tells it in words to whoever cannot see it; `css` are its class names."""

    width: float
    height: float
    body: str
    says: str
    css: str = ""


def style() -> str:
    """The style of all pictures, light and dark: in a page once, in a file of its own each time."""
    return files(__package__).joinpath("pictures.css").read_text("utf-8")


def number(value: float) -> str:
    """A coordinate, to a tenth of a pixel."""
    return f"{round(value, 1) + 0.0:g}"


def element(name: str, content: str = "", **attributes: str | float) -> str:
    """One element around `content`, which is markup. Attribute values are escaped; `_` in a name stands for `-`, and
    `css` for `class`."""
    written = "".join(f' {_attribute(key)}="{_value(value)}"' for key, value in attributes.items() if value != "")
    return f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>"


def _attribute(key: str) -> str:
    return "class" if key == "css" else key.rstrip("_").replace("_", "-")


def _value(value: str | float) -> str:
    return escape(value) if isinstance(value, str) else number(value)


def text(x: float, y: float, words: str, css: str = "", anchor: str = "") -> str:
    """A line of text with its baseline at `y`; `anchor` is middle or end, else it starts at `x`."""
    return element("text", escape(words), x=x, y=y, css=css, text_anchor=anchor)


def rect(x: float, y: float, width: float, height: float, css: str, hint: str = "", radius: float = 0) -> str:
    """A box; `hint` is shown where a pointer rests on it."""
    inside = element("title", escape(hint)) if hint else ""
    rounded: dict[str, str | float] = {"rx": radius} if radius else {}
    return element("rect", inside, x=x, y=y, width=max(width, 0), height=max(height, 0), css=css, **rounded)


def line(x1: float, y1: float, x2: float, y2: float, css: str) -> str:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, css=css)


def polyline(points: Sequence[tuple[float, float]], css: str) -> str:
    return element("polyline", points=_points(points), css=css)


def polygon(points: Sequence[tuple[float, float]], css: str) -> str:
    return element("polygon", points=_points(points), css=css)


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{number(x)},{number(y)}" for x, y in points)


def dot(x: float, y: float, radius: float, css: str, hint: str = "") -> str:
    inside = element("title", escape(hint)) if hint else ""
    return element("circle", inside, cx=x, cy=y, r=radius, css=css)


def width_of(words: str, size_px: float = TEXT_PX) -> float:
    """About how wide a line of text is, in px."""
    return len(words) * size_px * _MEAN_GLYPH


def inline(picture: Picture) -> str:
    """The picture as an element of a page that holds `style()`."""
    box = f"0 0 {number(picture.width)} {number(picture.height)}"
    return element(
        "svg",
        picture.body,
        css=f"pic {picture.css}".strip(),
        viewBox=box,
        width=picture.width,
        height=picture.height,
        role="img",
        aria_label=picture.says,
    )


def standalone(pictures: Sequence[tuple[str, Picture, Sequence[str]]]) -> str:
    """Pictures with heading and caption lines, one under the other, as one SVG file that needs nothing else."""
    margin, y = 24.0, 24.0
    parts: list[str] = []
    for heading, picture, captions in pictures:
        parts.append(text(margin, y + 12, heading, "heading"))
        y += 28
        parts.append(element("g", picture.body, transform=f"translate({number(margin)},{number(y)})"))
        y += picture.height + 16
        for caption in captions:
            parts.append(text(margin, y, caption, "dim"))
            y += 17
        y += 20
    width = max(picture.width for _, picture, _ in pictures) + 2 * margin
    body = element("style", escape(style(), quote=False)) + rect(0, 0, width, y, "paper") + "".join(parts)
    return element(
        "svg",
        body,
        xmlns="http://www.w3.org/2000/svg",
        css="pic",
        viewBox=f"0 0 {number(width)} {number(y)}",
        width=width,
        height=y,
        role="img",
        aria_label=". ".join(picture.says for _, picture, _ in pictures),
    )
