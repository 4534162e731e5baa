"""What to do: each step with its forecast, its change, the command to copy, its risks and its way back."""

from collections.abc import Collection, Iterator, Sequence
from html import escape

from ppagent.changes.proposal import Predicted
from ppagent.report.html_text import copyable, said, with_cites
from ppagent.report.steps import Step


def tiles(steps: Sequence[Step], came_about: str) -> str:
    """tok/s now and after each step that is priced, to be seen at once."""
    priced = [(s, s.predicted) for s in steps if s.predicted is not None and s.predicted.metric == "output_throughput"]
    if not priced:
        return ""
    now = priced[0][1]
    shown = [
        f'<div class="tile now"><span>now, C={now.at_concurrency:g}</span><b>{_figure(now.baseline)}</b>'
        f"<span>tok/s, {escape(came_about)}</span></div>"
    ]
    shown += [_tile(step, predicted) for step, predicted in priced]
    return f'<div class="tiles">{"".join(shown)}</div>'


def _tile(step: Step, predicted: Predicted) -> str:
    by = ""
    if predicted.baseline > 0:
        low, high = (f"{value / predicted.baseline:.1f}" for value in (predicted.low, predicted.high))
        by = f", {low}x" if low == high else f", {low}x to {high}x"
    return (
        f'<a class="tile then" href="#{escape(step.id)}"><span>{escape(step.id)}: {escape(step.heading.lower())}</span>'
        f"<b>{_figure(predicted.low)}–{_figure(predicted.high)}</b><span>tok/s, forecast{by}</span></a>"
    )


def _figure(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def step_card(step: Step, known: Collection[str]) -> str:
    """One step as a card."""
    return f'<article class="card step" id="{escape(step.id)}">{"".join(_parts(step, known))}</article>'


def _parts(step: Step, known: Collection[str]) -> Iterator[str]:
    causes = " ".join(f'<a href="#{escape(cause)}">{escape(cause)}</a>' for cause in step.causes)
    yield f'<header><h3><span class="id">{escape(step.id)}</span> {escape(step.heading.capitalize())}</h3>'
    yield f'<span class="dim">against {causes}</span></header><p>{with_cites(step.title, step.cites, known)}</p>'
    if step.diff:
        yield '<p class="label">what changes in the launch</p>'
        yield f'<pre class="diff">{chr(10).join(_diff_line(line) for line in step.diff.splitlines())}</pre>'
    if step.command:
        yield copyable(step.command, "the whole command")
    yield "<dl>"
    for label, text in step.notes:
        yield f"<dt>{escape(label)}</dt><dd>{said(text, known)}</dd>"
    yield "</dl>"


def _diff_line(line: str) -> str:
    if line.startswith("+"):
        return f"<ins>{escape(line)}</ins>"
    return f"<del>{escape(line)}</del>" if line.startswith("-") else escape(line)
