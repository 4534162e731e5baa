"""The report on a terminal: 80 columns hold, no colour is needed to read it, commands can be copied."""

from collections.abc import Iterator, Sequence
from itertools import chain

from ppagent.model.waterfall import Step as Bar
from ppagent.model.waterfall import draw_waterfall
from ppagent.report.document import Document
from ppagent.report.lines import BLANK, Line, Tone, raw, wrapped
from ppagent.report.parts import CauseSection, Note, Reason
from ppagent.report.room import NARROWEST
from ppagent.report.steps import Step

NARROWEST_TABLE = 72
"""Below it a cause stands over several lines."""
WIDEST = 100


def text_lines(document: Document, width: int = 80) -> list[Line]:
    """The report as lines, for a terminal of `width` columns."""
    width = max(NARROWEST, min(width, WIDEST))
    blocks = chain(
        [_head(document, width)],
        [_verdict(document, width)],
        [_table(document.causes, width)],
        (_why(cause, width) for cause in document.causes),
        [_waterfall(document.waterfall, width)],
        (_step(step, width) for step in document.steps),
        [list(_closing(document, width))],
        [wrapped(document.footer, width, "  ", tone="dim")],
    )
    lines: list[Line] = []
    for block in blocks:
        if block:
            lines += [BLANK, *block] if lines else block
    return lines


def as_text(document: Document, width: int = 80) -> str:
    """The report as plain text."""
    return "\n".join(line.text.rstrip() for line in text_lines(document, width)) + "\n"


def tagged(says: str, cites: Sequence[str]) -> str:
    """A statement and the evidence it stands on."""
    return f"{says} [{' '.join(cites)}]" if cites else says


def _head(document: Document, width: int) -> list[Line]:
    lines = wrapped(document.headline, width, tone="title")
    for about in (document.provenance, document.nodes):
        lines += wrapped(about, width, tone="dim") if about else []
    return lines


def _verdict(document: Document, width: int) -> list[Line]:
    first = f"{document.verdict}  "
    rest = " " * 11 if len(first) > 14 else None
    lines = wrapped(document.summary, width, first, rest, "verdict")
    if document.run_next is None:
        return lines
    command, does = document.run_next.label, document.run_next.says
    return [*lines, BLANK, Line(f"  RUN NEXT      {command}", "good"), *wrapped(does, width, " " * 16)]


def _table(causes: Sequence[CauseSection], width: int) -> list[Line]:
    """The supported causes, one line each where there is room."""
    if width < NARROWEST_TABLE:
        return [line for cause in causes for line in _entry(cause, width)]
    if not causes:
        return []
    names = max(len(cause.name) for cause in causes)
    widest = max(len(cause.gain) for cause in causes)
    costs = max(widest, len("cured alone")) if widest else 0
    cost_column = f"{'cured alone':<{costs}}  " if costs else ""
    lines = [Line(f"  {'cause':<{names + 7}}  conf.  {cost_column}evidence", "dim")]
    for cause in causes:
        start = f"  {cause.id}  {cause.name:<{names}}  {cause.confidence:5.2f}  "
        lines += wrapped(" ".join(cause.cites), width, f"{start}{f'{cause.gain:<{costs}}  ' if costs else ''}")
    return lines


def _entry(cause: CauseSection, width: int) -> list[Line]:
    """A row of the table for a terminal that is too narrow for one."""
    told = [f"confidence {cause.confidence:.2f}", *([f"cured alone {cause.gain}"] if cause.gain else [])]
    name = wrapped(f"{cause.name}, {', '.join(told)}", width, f"  {cause.id}  ")
    return [*name, *wrapped(" ".join(cause.cites), width, " " * 9, tone="dim")]


def _why(cause: CauseSection, width: int) -> list[Line]:
    lines = [Line(f"  why {cause.id}", "heading")]
    for reason in cause.because:
        lines += _reason(reason, width, "    ")
    for reason in cause.against:
        lines += _reason(reason, width, "    against: ")
    for question in cause.open:
        lines += wrapped(question, width, "    open: ", " " * 6)
    return lines


def _reason(reason: Reason, width: int, first: str) -> list[Line]:
    """The observation, then the words it was read from."""
    source = f" in {', '.join(reason.artifacts)}" if reason.artifacts else ""
    lines = wrapped(f"{tagged(reason.says, reason.cites)}{source}", width, first, " " * 6)
    quote = [Line(f"      > {reason.quote[: width - 8]}", "dim")] if reason.quote else []
    return lines + quote


ORDER_COUNTS = (
    "losses are taken away from the top down, so each depends on those above it; what curing a cause alone would give "
    "stands beside the cause"
)


def _waterfall(bars: Sequence[Bar], width: int) -> list[Line]:
    """From the ceiling down to what was observed."""
    if not bars:
        return []
    drawn = draw_waterfall(bars, width - 2)
    heading = Line(f"  where the speed goes, {bars[0].unit}", "heading")
    return [heading, *wrapped(ORDER_COUNTS, width, "  "), *(Line(f"  {row}") for row in drawn)]


def _step(step: Step, width: int) -> list[Line]:
    heading = f"  {step.heading}  ({step.id}: {' '.join(step.causes)})"
    lines = [Line(heading, "heading")] if len(heading) <= width else wrapped(heading, width, "  ", "      ", "heading")
    lines += wrapped(tagged(step.title, step.cites), width, "    ")
    for line in step.diff.splitlines():
        lines.append(Line(f"    {line}", _diff_tone(line)))
    lines += [BLANK, *raw(step.command, "    ")] if step.command else []
    lines += [BLANK] if step.command and step.notes else []
    for label, text in step.notes:
        lines += wrapped(text, width, f"    {label + ':':<10}")
    return lines


def _diff_tone(line: str) -> Tone:
    return "good" if line.startswith("+") else "bad" if line.startswith("-") else "dim"


def _closing(document: Document, width: int) -> Iterator[Line]:
    """What is not the cure, what is ruled out, what stays open, what was not allowed."""
    yield from _notes("NOT THE CURE", document.declined, (), width)
    yield from _notes("RULED OUT", document.ruled_out, document.also_ruled_out, width)
    yield from _notes("CANNOT TELL", document.cannot_tell, document.also_undecided, width)
    yield from _notes("MODEL ADDS", document.own, (), width)
    yield from _notes("LOOK NEXT", document.probes, (), width)
    yield from _notes("DENIED", document.denied, (), width)
    unanswered = " · ".join(f"{note.label}: {note.says}" for note in document.missing)
    yield from wrapped(unanswered, width, f"  {'NO ANSWER':<14}", tone="dim") if unanswered else ()


def _notes(heading: str, notes: Sequence[Note], more: Sequence[str], width: int) -> Iterator[Line]:
    first = f"  {heading:<14}"
    for note in notes:
        yield from wrapped(f"{note.label}: {tagged(note.says, note.cites)}", width, first, " " * 18)
        first = " " * 16
    if more:
        yield from wrapped(f"and {' '.join(more)}", width, first, " " * 18)
