"""The conversation as Markdown or HTML, behind the report."""

from collections.abc import Iterator, Sequence
from html import escape

from ppagent.chat.session import Said
from ppagent.report.markdown import escaped, fenced
from ppagent.report.plain import plain_command


def as_markdown(said: Sequence[Said]) -> str:
    """Questions as quotes, answers as they stood on the screen."""
    return "\n".join(_markdown(said))


def as_html(said: Sequence[Said]) -> str:
    """The conversation as a section to put before the end of a page."""
    return "\n".join(_html(said))


def _markdown(said: Sequence[Said]) -> Iterator[str]:
    if not said:
        return
    yield "\n## The conversation\n"
    for message in said:
        text = plain_command(message.text)
        yield f"> {escaped(text)}\n" if message.who == "user" else f"{fenced(text)}\n"


def _html(said: Sequence[Said]) -> Iterator[str]:
    if not said:
        return
    yield "<section><h2>The conversation</h2>"
    for message in said:
        text = escape(plain_command(message.text))
        yield f"<blockquote>{text}</blockquote>" if message.who == "user" else f"<pre>{text}</pre>"
    yield "</section>"
