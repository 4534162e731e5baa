"""Prints a report: coloured on a terminal, plain into a pipe or a file."""

import os
import sys
from typing import TextIO

from ppagent.report.document import Document
from ppagent.report.lines import STYLES
from ppagent.report.room import columns
from ppagent.report.text import WIDEST, as_text, text_lines


def print_report(document: Document, stream: TextIO | None = None) -> None:
    """Writes the report to `stream`, by default the standard output."""
    out = sys.stdout if stream is None else stream
    if not out.isatty():
        out.write(as_text(document, columns()))
        return
    from rich.console import Console
    from rich.text import Text

    unknown = not os.environ.get("TERM")  # nobody says that it knows colours
    console = Console(file=out, highlight=False, markup=False, emoji=False, no_color=True if unknown else None)
    for line in text_lines(document, columns(WIDEST)):
        console.print(Text(line.text.rstrip(), STYLES[line.tone]), soft_wrap=True)
