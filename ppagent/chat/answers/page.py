"""What a cause is and why it matters, out of its page."""

import re

from ppagent.agent.board import Hypothesis
from ppagent.causes.catalog import page
from ppagent.report.lines import BLANK, Line, wrapped

WANTED = ("What it is", "Why it matters")
_SECTION = re.compile(r"^(?P<title>[A-Z][\w' ]+)\n(?P<text>(?: {4}.*\n?|\n)+)", re.M)


def page_lines(hypotheses: tuple[Hypothesis, ...], width: int) -> list[Line]:
    """The first paragraphs of each page, and where the rest is."""
    lines: list[Line] = []
    for hypothesis in hypotheses:
        cause = hypothesis.judgement.cause
        lines += [BLANK] * bool(lines) + [Line(f"{cause.id}  {cause.name}", "heading")]
        for text in sections(page(cause)):
            lines += wrapped(text, width, "  ")
        lines.append(Line(f"  /why {cause.id} tells how it looks here, ppagent explain {cause.id} all of it", "dim"))
    return lines


def sections(text: str) -> list[str]:
    """The wanted paragraphs of a page, in their order."""
    return [match["text"] for match in _SECTION.finditer(f"{text}\n") if match["title"].strip() in WANTED]
