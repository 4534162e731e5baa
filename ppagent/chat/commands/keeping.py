"""Commands that make something to keep or to hand on out of the session."""

from dataclasses import dataclass
from pathlib import Path

from ppagent.chat import transcript
from ppagent.chat.case import answer_of, ask_causes, ask_cure, ask_question, case_lines, confirmed_causes
from ppagent.chat.commands.command import Command
from ppagent.chat.home import write_private
from ppagent.chat.looking import at_work, know
from ppagent.chat.record import outcome_lines, record_target, said_before
from ppagent.chat.session import Session
from ppagent.errors import ExitStatus, UserError
from ppagent.record.outcome import End, Outcome
from ppagent.report.document import document_of
from ppagent.report.html import as_html
from ppagent.report.lines import Line
from ppagent.report.markdown import as_markdown

MARKDOWN, HTML = (".md",), (".html", ".htm")
_ADVICE = "Write /export FILE.md, FILE.html, recording DIR, or case DIR [CAUSES]."


@dataclass(frozen=True)
class Wanted:
    """What to export, where to, and what else was said."""

    form: str
    path: Path
    more: tuple[str, ...]


def export(session: Session, words: str) -> None:
    """The session as a report, as a recording, or as an eval case."""
    wanted = _wanted(session, words)
    know(session)
    match wanted.form:
        case "recording":
            _keep(session, wanted.path)
        case "case":
            _case(session, wanted)
        case _:
            write_private(wanted.path, _report(session, wanted.form))
            session.say(
                [Line("  the report, with the conversation behind it, is in"), Line(f"  {wanted.path}", "command")]
            )


def _wanted(session: Session, words: str) -> Wanted:
    parts = words.split()
    match parts:
        case []:
            return Wanted("markdown", Path(f"ppagent-{session.id}.md"), ())
        case ["md" | "markdown"]:
            return Wanted("markdown", Path(f"ppagent-{session.id}.md"), ())
        case ["html"]:
            return Wanted("html", Path(f"ppagent-{session.id}.html"), ())
        case ["recording" | "case" as form, folder, *more]:
            return Wanted(form, Path(folder).expanduser(), tuple(more))
        case [file] if Path(file).suffix in (*MARKDOWN, *HTML):
            return Wanted("html" if Path(file).suffix in HTML else "markdown", Path(file).expanduser(), ())
        case _:
            raise UserError(f"/export does not know what to make of {words}.", _ADVICE)


def _report(session: Session, form: str) -> str:
    document = document_of(session.found())
    if form == "markdown":
        return as_markdown(document) + transcript.as_markdown(session.said)
    before, end, after = as_html(document).rpartition("</main>")
    return f"{before}{transcript.as_html(session.said)}{end}{after}"


def _case(session: Session, wanted: Wanted) -> None:
    """Asks for the answer first: without one there is no case."""
    found, dialog = session.found(), session.consent.dialog
    if wanted.more:
        causes, cures = confirmed_causes(wanted.more), tuple[str, ...]()
    elif dialog is None:
        raise UserError("A case needs the answer that you confirm.", "Write /export case DIR PP001 CG001.")
    else:
        causes = ask_causes(found, dialog, session.screen.width)
        cures = ask_cure(found, dialog)
    ask_question(session)
    outcome = _keep(session, wanted.path)
    if outcome.end is not End.FINISHED:
        raise UserError("No case was made of a recording that ended early.", "Write /export case again.")
    answer = answer_of(found, causes, cures, wanted.path)
    write_private(wanted.path / "answer.yaml", answer)
    session.say(case_lines(str(wanted.path), answer, session.screen.width))


def record(session: Session, words: str) -> None:
    """The target as a recording."""
    if not words:
        raise UserError("/record needs a folder.", "Write /record DIR.")
    _keep(session, Path(words).expanduser())


def _keep(session: Session, folder: Path) -> Outcome:
    """Records, and says what came of it. Raises UserError where nothing of a server is in it."""
    with at_work(session), session.screen.working(said_before(session)):
        outcome = record_target(session, folder)
    if not outcome.saw_server:
        wrong = f"Nothing of an SGLang server could be read; {folder} holds the rest."
        raise UserError(wrong, "/evidence tells why.", ExitStatus.NOT_ENOUGH_EVIDENCE)
    session.say(outcome_lines(outcome, folder, session.live, session.screen.width))
    return outcome


COMMANDS = (
    Command(
        "record", "DIR", "Records the live server afresh (or copies what is no live server), secrets masked.", record
    ),
    Command(
        "export",
        "[FILE|recording DIR|case DIR]",
        "Writes the session as a Markdown or HTML report, as a recording, or as an eval case that you confirm.",
        export,
        "exports",
    ),
)
