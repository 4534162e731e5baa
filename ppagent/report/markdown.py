"""The report as Markdown, for a ticket. Text of the server stays text: it is escaped, or stands in a code fence."""

import re
from collections.abc import Iterator, Sequence

from ppagent.model.waterfall import draw_waterfall
from ppagent.report.document import Document
from ppagent.report.parts import CauseSection, Note
from ppagent.report.steps import Step
from ppagent.report.text import tagged

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|!~])")


def as_markdown(document: Document) -> str:
    """The whole report."""
    return "\n".join(_lines(document)).rstrip() + "\n"


def _lines(document: Document) -> Iterator[str]:
    yield f"# {escaped(document.headline)}"
    yield ""
    for about in (document.provenance, document.nodes):
        if about:
            yield f"*{escaped(about)}*"
            yield ""
    yield f"**{document.verdict}** {escaped(document.summary)}"
    yield ""
    yield from _table(document.causes)
    for cause in document.causes:
        yield from _why(cause)
    if document.waterfall:
        yield fenced("\n".join(draw_waterfall(document.waterfall)))
        yield ""
    for step in document.steps:
        yield from _step(step)
    yield from _notes("Not the cure", document.declined, ())
    yield from _notes("Ruled out", document.ruled_out, document.also_ruled_out)
    yield from _notes("Cannot tell", document.cannot_tell, document.also_undecided)
    yield from _notes("The model adds", document.own, ())
    yield from _notes("Look next", document.looks, ())
    yield from _notes("Denied", document.denied, ())
    yield from _notes("No answer", document.missing, ())
    yield f"<sub>{escaped(document.footer)}</sub>"


def escaped(text: str) -> str:
    """`text` with every character that Markdown or HTML would read as markup made plain, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split())).replace("&", "&amp;")


def fenced(text: str, language: str = "") -> str:
    """`text` in a code fence that is longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _table(causes: Sequence[CauseSection]) -> Iterator[str]:
    if not causes:
        return
    yield "| cause | name | confidence | cured alone | evidence |"
    yield "|---|---|---|---|---|"
    for cause in causes:
        cells = (cause.id, cause.name, f"{cause.confidence:.2f}", cause.gain, " ".join(cause.cites))
        yield f"| {' | '.join(escaped(cell) for cell in cells)} |"
    yield ""


def _why(cause: CauseSection) -> Iterator[str]:
    yield f"## Why {cause.id}"
    yield ""
    for reason in cause.because:
        yield f"- {escaped(tagged(reason.says, reason.cites))}"
    for reason in cause.against:
        yield f"- against: {escaped(tagged(reason.says, reason.cites))}"
    for question in cause.open:
        yield f"- open: {escaped(question)}"
    yield ""


def _step(step: Step) -> Iterator[str]:
    yield f"## {step.id}: {step.heading}"
    yield ""
    yield escaped(tagged(step.title, step.cites))
    yield ""
    if step.diff:
        yield fenced(step.diff, "diff")
        yield ""
    if step.command:
        yield fenced(step.command, "sh")
        yield ""
    for label, text in step.notes:
        yield f"- {label}: {escaped(text)}"
    yield ""


def _notes(heading: str, notes: Sequence[Note], more: Sequence[str]) -> Iterator[str]:
    if not notes:
        return
    yield f"## {heading}"
    yield ""
    for note in notes:
        yield f"- **{escaped(note.label)}**: {escaped(tagged(note.says, note.cites))}"
    if more:
        yield f"- and {' '.join(more)}"
    yield ""
