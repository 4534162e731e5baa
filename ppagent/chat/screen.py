"""Where a session writes: finished lines for good, and at the very end, on a terminal, what is being done right now.

Finished text is never painted over, so that the terminal's own scrollback, search and copying work. Whatever is shown
passes through `plain_command` first: text of a server or of a model cannot steer the terminal.
"""

import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol, TextIO

from ppagent.chat.glyphs import fitting
from ppagent.chat.keys import hushed
from ppagent.report.lines import STYLES, Line
from ppagent.report.plain import plain_command

NARROWEST, WIDEST = 36, 100
"""Columns that text is wrapped to, however narrow or wide the terminal is."""


class Screen(Protocol):
    """What the session shows its lines on."""

    @property
    def width(self) -> int:
        """Columns that text is wrapped to."""
        ...

    def show(self, lines: Iterable[Line]) -> None:
        """Lines that stay."""
        ...

    def working(self, what: str) -> AbstractContextManager[None]:
        """While it lasts, says what is being done and for how long."""
        ...

    def markdown(self, pieces: Iterable[str]) -> str:
        """Shows Markdown as its pieces come in; the whole text. Ctrl-C ends it, and what had come stays."""
        ...

    def control(self, sequence: str) -> bool:
        """Sends a sequence of ppagent's own to the terminal; False where there is none to send it to."""
        ...


def width_now() -> int:
    """Columns of the terminal, within reason."""
    return max(NARROWEST, min(shutil.get_terminal_size().columns, WIDEST))


class PlainScreen:
    """A pipe or a file: no colour, nothing that moves."""

    width = 80

    def __init__(self, out: TextIO | None = None) -> None:
        self._out = sys.stdout if out is None else out
        self._encoding = getattr(self._out, "encoding", None)

    def show(self, lines: Iterable[Line]) -> None:
        for line in lines:
            self._out.write(fitting(plain_command(line.text).rstrip(), self._encoding) + "\n")
        self._out.flush()

    @contextmanager
    def working(self, what: str) -> Iterator[None]:
        yield

    def markdown(self, pieces: Iterable[str]) -> str:
        text = "".join(pieces)
        self._out.write(fitting(plain_command(text).rstrip(), self._encoding) + "\n")
        self._out.flush()
        return text

    def control(self, sequence: str) -> bool:
        return False


class TerminalScreen:
    """A terminal. `rich` is loaded with it and not before."""

    def __init__(self, out: TextIO | None = None) -> None:
        from rich.console import Console

        self.console = Console(file=sys.stdout if out is None else out, highlight=False, markup=False, emoji=False)
        self._moving: AbstractContextManager[object] = nullcontext()

    @property
    def width(self) -> int:
        return width_now()

    def show(self, lines: Iterable[Line]) -> None:
        from rich.text import Text

        for line in lines:
            text = Text(fitting(plain_command(line.text).rstrip(), self.console.encoding), STYLES[line.tone])
            self.console.print(text, soft_wrap=True)

    @contextmanager
    def working(self, what: str) -> Iterator[None]:
        from ppagent.chat.progress import spinner

        self._moving = spinner(self.console, what)
        try:
            with hushed(), self._moving:
                yield
        finally:
            self._moving = nullcontext()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """While it lasts nothing moves, so that a person can be asked something."""
        moving = self._moving
        moving.__exit__(None, None, None)
        try:
            yield
        finally:
            moving.__enter__()

    def markdown(self, pieces: Iterable[str]) -> str:
        from ppagent.chat.markdown import stream_markdown

        with hushed():
            return stream_markdown(self.console, pieces)

    def control(self, sequence: str) -> bool:
        self.console.file.write(sequence)
        self.console.file.flush()
        return True
