"""The one moving line: what is being done, and for how long already."""

from contextlib import AbstractContextManager, nullcontext
from time import monotonic

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.text import Text

from ppagent.chat.wording import duration
from ppagent.report.plain import plain

FRAMES_PER_SECOND = 8
DOTS = "⠋⠙⠹⠸⠼⠴⠦⠧"
ASCII = "|/-\\"


class Working:
    """Rendered anew for every frame; never more than one line."""

    def __init__(self, what: str) -> None:
        self._what = plain(what)
        self._started = monotonic()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        elapsed_s = monotonic() - self._started
        frames = DOTS if console.encoding.lower().startswith("utf") else ASCII
        frame = frames[int(elapsed_s * FRAMES_PER_SECOND) % len(frames)]
        line = Text(f"{frame} {self._what}  {duration(elapsed_s)}  (Ctrl-C stops it)", "dim")
        line.truncate(max(options.max_width - 1, 1))
        yield line


def spinner(console: Console, what: str) -> AbstractContextManager[object]:
    """A line that turns as long as it is entered, and is gone afterwards; it can be entered again."""
    if not console.is_terminal or console.is_dumb_terminal:
        return nullcontext()
    return Live(Working(what), console=console, transient=True, refresh_per_second=FRAMES_PER_SECOND)
