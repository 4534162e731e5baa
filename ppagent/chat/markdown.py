"""Markdown on a terminal while it comes in.

Each finished block is printed for good; only the open tail is transient. Code is printed line by line as it is, never
wrapped or padded, so that a command copied from the screen is whole.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from time import monotonic

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.markdown import Heading, Markdown
from rich.segment import Segment, Segments
from rich.text import Text

from ppagent.chat.blocks import Block, finished, rest
from ppagent.chat.glyphs import fitting
from ppagent.chat.progress import FRAMES_PER_SECOND, spinner
from ppagent.report.plain import plain_command

KEPT_FREE = 4
"""Lines of the screen that the open tail leaves free."""


class Tail:
    """The open end of the answer, its last lines only: what is longer than the screen would be repeated in the
    scrollback at every frame."""

    def __init__(self) -> None:
        self.text = ""
        self._painted = 0.0

    def paint(self, live: Live) -> None:
        """Paints a frame where one is due. By this thread and no other: one that paints by the clock would meet what is
        being printed, and lines would be lost."""
        now = monotonic()
        if now - self._painted >= 1 / FRAMES_PER_SECOND:
            self._painted = now
            live.refresh()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        most = max(console.size.height - KEPT_FREE, 1)
        yield from _segments(_rendered(console, self.text, options)[-most:])


def stream_markdown(console: Console, pieces: Iterable[str]) -> str:
    """Shows `pieces` as they come; the whole text. What had come stays on the screen where it is cut short (Ctrl-C)."""
    said: list[str] = []
    tail = Tail()
    coming = iter(pieces)
    with spinner(console, "waiting for the first word"):
        first = next(coming, "")
    with Live(tail, console=console, transient=True, auto_refresh=False, vertical_overflow="crop") as live:
        try:
            for piece in chain([first], coming):
                said.append(piece)
                blocks, tail.text = finished(tail.text + piece)
                _show(console, blocks)
                tail.paint(live)
        except BaseException:
            _show(console, rest(tail.text))
            console.print(Text("(cut short)", "dim"))
            tail.text = ""
            raise
        last, tail.text = rest(tail.text), ""
        _show(console, last)
    return "".join(said)


def _show(console: Console, blocks: Iterable[Block]) -> None:
    for block in blocks:
        if block.code:
            for line in plain_command(block.text).split("\n"):
                console.print(Text(fitting(line, console.encoding), "bold"), soft_wrap=True)
        else:
            console.print(Segments(_segments(_rendered(console, block.text, console.options))), end="")
        console.print()


def _rendered(console: Console, text: str, options: ConsoleOptions) -> list[list[Segment]]:
    """Lines of a piece of prose, without empty ones at its ends."""
    lines = console.render_lines(_LeftMarkdown(plain_command(text), hyperlinks=False), options, pad=False)
    filled = [n for n, line in enumerate(lines) if "".join(segment.text for segment in line).strip()]
    return [_trimmed(line, console.encoding) for line in lines[filled[0] : filled[-1] + 1]] if filled else []


def _trimmed(line: list[Segment], encoding: str) -> list[Segment]:
    """Without the spaces at its end, which a copied line would carry along, and in signs that the terminal has."""
    kept = [segment._replace(text=fitting(segment.text, encoding)) for segment in line]
    while kept and not kept[-1].text.strip():
        kept.pop()
    if kept:
        kept[-1] = kept[-1]._replace(text=kept[-1].text.rstrip())
    return kept


def _segments(lines: Iterable[list[Segment]]) -> Iterator[Segment]:
    for line in lines:
        yield from line
        yield Segment.line()


class _LeftHeading(Heading):
    """A heading like any other line, in bold; not in the middle, and in no box."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.justify = "left"
        self.text.stylize("bold")
        yield self.text


class _LeftMarkdown(Markdown):
    elements = {**Markdown.elements, "heading_open": _LeftHeading}
