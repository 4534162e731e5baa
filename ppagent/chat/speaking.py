"""Puts a question to the model and shows its answer, with what of it the evidence does not hold."""

from collections.abc import Iterable, Iterator

from ppagent.brains.llm.model import ModelFailed
from ppagent.chat.looking import at_work, know
from ppagent.chat.session import Session
from ppagent.chat.voice import unbacked
from ppagent.errors import UserError
from ppagent.report.lines import Line, wrapped


def speak(session: Session, text: str) -> None:
    """Shows the model's answer as it comes. Raises UserError where there is no model or nothing left to spend."""
    voice = session.voice
    if voice is None:
        raise UserError("No model is named.", "/model NAME names one.")
    know(session)
    over = session.model_used_up()
    if over:
        raise UserError(f"The model was not asked: {over}.", "Begin anew, or raise --max-cost.")
    view = session.desk.view(session.state)
    width = session.screen.width
    heard: list[str] = []
    pieces = voice.answer(text, view, session.found().plan, session.said[:-1])
    with at_work(session):
        try:
            session.screen.markdown(_kept(pieces, heard))
        except ModelFailed as error:
            session.say(wrapped(f"The model failed: {error}", width, tone="bad"))
            return
        finally:
            session.note_answer("".join(heard))
    wrong = unbacked("".join(heard), view)
    lines = [line for says in wrong for line in wrapped(says, width, "  unbacked  ", tone="bad")]
    session.say(lines or [Line("  The model's own words; its figures stand in the evidence it cites.", "dim")])


def _kept(pieces: Iterable[str], heard: list[str]) -> Iterator[str]:
    """The pieces, each noted before it is shown: an answer that is cut short is kept as far as it came."""
    for piece in pieces:
        heard.append(piece)
        yield piece
