"""The report as one HTML file that opens offline and goes by mail: no script, no network, all text escaped."""

from collections.abc import Iterator, Sequence
from html import escape

from ppagent.model.waterfall import draw_waterfall
from ppagent.report.document import CauseSection, Document, Note, Reason
from ppagent.report.steps import Step
from ppagent.report.text import tagged

STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 54rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.1rem; } h2 { font-size: 1rem; margin-top: 2rem; }
.verdict { font-size: 1.05rem; border-left: .3rem solid; padding-left: .8rem; }
.dim { opacity: .7; }
table { border-collapse: collapse; } th, td { text-align: left; padding: .2rem 1rem .2rem 0; vertical-align: top; }
pre { overflow-x: auto; padding: .6rem; border: 1px solid; border-radius: .3rem; }
ins { text-decoration: none; color: #187a2f; } del { text-decoration: none; color: #b3261e; }
dt { font-weight: 600; } dd { margin: 0 0 .4rem 0; }
"""


def as_html(document: Document) -> str:
    """The whole page."""
    return "\n".join(_page(document)) + "\n"


def _page(document: Document) -> Iterator[str]:
    title = escape(document.headline)
    yield f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
    yield '<meta name="viewport" content="width=device-width">'
    yield '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src \'unsafe-inline\'">'
    yield f"<style>{STYLE}</style></head><body>"
    yield f"<h1>{title}</h1>"
    if document.provenance:
        yield f'<p class="dim">{escape(document.provenance)}</p>'
    yield f'<p class="verdict"><strong>{document.verdict}</strong> {escape(document.summary)}</p>'
    yield from _table(document.causes)
    for cause in document.causes:
        yield from _why(cause)
    if document.waterfall:
        yield f"<pre>{escape(chr(10).join(draw_waterfall(document.waterfall)))}</pre>"
    for step in document.steps:
        yield from _step(step)
    yield from _notes("Not the cure", document.declined, ())
    yield from _notes("Ruled out", document.ruled_out, document.also_ruled_out)
    yield from _notes("Cannot tell", document.cannot_tell, document.also_undecided)
    yield from _notes("Look next", document.probes, ())
    yield from _notes("Denied", document.denied, ())
    yield from _notes("No answer", document.missing, ())
    yield f'<p class="dim">{escape(document.footer)}</p></body></html>'


def _table(causes: Sequence[CauseSection]) -> Iterator[str]:
    if not causes:
        return
    yield "<table><tr><th>cause</th><th>confidence</th><th>cured alone</th><th>evidence</th></tr>"
    for cause in causes:
        cells = (f"{cause.id} {cause.name}", f"{cause.confidence:.2f}", cause.gain, " ".join(cause.cites))
        yield f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
    yield "</table>"


def _why(cause: CauseSection) -> Iterator[str]:
    yield f"<h2>Why {escape(cause.id)}</h2><ul>"
    for reason in cause.because:
        yield _reason(reason, "")
    for reason in cause.against:
        yield _reason(reason, "against: ")
    for question in cause.open:
        yield f"<li>open: {escape(question)}</li>"
    yield "</ul>"


def _reason(reason: Reason, start: str) -> str:
    quote = f"<pre>{escape(reason.quote)}</pre>" if reason.quote else ""
    return f"<li>{start}{escape(tagged(reason.says, reason.cites))}{quote}</li>"


def _step(step: Step) -> Iterator[str]:
    yield f"<h2>{escape(step.heading)} <span class='dim'>{escape(step.id)}: {escape(' '.join(step.causes))}</span></h2>"
    yield f"<p>{escape(tagged(step.title, step.cites))}</p>"
    if step.diff:
        yield f"<pre>{chr(10).join(_diff_line(line) for line in step.diff.splitlines())}</pre>"
    if step.command:
        yield f"<pre>{escape(step.command)}</pre>"
    yield "<dl>"
    for label, text in step.notes:
        yield f"<dt>{escape(label)}</dt><dd>{escape(text)}</dd>"
    yield "</dl>"


def _diff_line(line: str) -> str:
    if line.startswith("+"):
        return f"<ins>{escape(line)}</ins>"
    return f"<del>{escape(line)}</del>" if line.startswith("-") else escape(line)


def _notes(heading: str, notes: Sequence[Note], more: Sequence[str]) -> Iterator[str]:
    if not notes:
        return
    yield f"<h2>{heading}</h2><ul>"
    for note in notes:
        yield f"<li><strong>{escape(note.label)}</strong>: {escape(tagged(note.says, note.cites))}</li>"
    if more:
        yield f"<li>and {escape(' '.join(more))}</li>"
    yield "</ul>"
