"""The causes of a page: how sure, what a cure alone would give, what speaks for and against each."""

from collections.abc import Collection, Iterator
from html import escape

from ppagent.report.html_text import said, with_cites
from ppagent.report.parts import CauseSection, Reason
from ppagent.report.pictures.svg import element, number


def cause_card(cause: CauseSection, known: Collection[str]) -> str:
    """One cause as a card."""
    listed = "".join(_list(cause, known))
    return f'<article class="card" id="{escape(cause.id)}">{_head(cause)}<ul>{listed}</ul></article>'


def _head(cause: CauseSection) -> str:
    gain = f'<div class="fact"><span>cured alone</span><b>{escape(cause.gain)}</b></div>' if cause.gain else ""
    return (
        f'<header><h3><span class="id">{escape(cause.id)}</span> {escape(cause.name)}</h3><div class="figures">'
        f'<div class="fact"><span>confidence</span><b>{cause.confidence:.2f}</b>{_meter(cause.confidence)}</div>{gain}'
        "</div></header>"
    )


def _meter(share: float) -> str:
    bars = element("rect", width=80, height=6, rx=3, css="idle")
    bars += element("rect", width=max(80 * min(share, 1.0), 1), height=6, rx=3, css="f-now")
    label = f"{share:.2f} of 1"
    return element("svg", bars, css="pic meter", viewBox="0 0 80 6", width=number(80), height="6", aria_label=label)


def _list(cause: CauseSection, known: Collection[str]) -> Iterator[str]:
    for reason in cause.because:
        yield _reason(reason, "", known)
    for reason in cause.against:
        yield _reason(reason, "against", known)
    for question in cause.open:
        yield f'<li class="open"><span class="tag">open</span> {said(question, known)}</li>'


def _reason(reason: Reason, tag: str, known: Collection[str]) -> str:
    source = f' <span class="dim">in {escape(", ".join(reason.artifacts))}</span>' if reason.artifacts else ""
    quote = f"<code class='quote'>{escape(reason.quote)}</code>" if reason.quote else ""
    mark = f'<span class="tag">{tag}</span> ' if tag else ""
    return f"<li>{mark}{with_cites(reason.says, reason.cites, known)}{source}{quote}</li>"
