"""Commands about what to change."""

from pathlib import Path

from ppagent.changes.proposal import Proposal
from ppagent.chat.answers.forecast import what_if_lines
from ppagent.chat.answers.proposals import diff_lines, proposal_lines
from ppagent.chat.answers.setting import read_setting
from ppagent.chat.clipboard import LARGEST_BYTES, osc52, tmux_buffer
from ppagent.chat.commands.command import Command
from ppagent.chat.home import private_folder, state_home, write_private
from ppagent.chat.looking import know
from ppagent.chat.session import Session
from ppagent.chat.spelling import as_meant
from ppagent.errors import UserError
from ppagent.report.lines import Line
from ppagent.report.plain import plain_command


def propose(session: Session, words: str) -> None:
    """The proposals with their commands."""
    know(session)
    session.shown = words.upper()
    session.say(proposal_lines(session.found(), words.upper(), session.screen.width))


def diff(session: Session, words: str) -> None:
    """What a proposal changes in the launch command."""
    know(session)
    session.shown = words.upper()
    session.say(diff_lines(session.found(), words.upper()))


def predict(session: Session, words: str) -> None:
    """What a setting would give."""
    know(session)
    session.say(what_if_lines(session.found(), read_setting(as_meant(words)), session.screen.width))


def copy(session: Session, words: str) -> None:
    """A proposal's command to the clipboard and into a file."""
    know(session)
    proposal = _chosen(session, words.upper() or session.shown)
    text = plain_command(proposal.commands)
    path = private_folder(state_home() / "copied") / f"{session.id}-{proposal.id}.txt"
    write_private(path, f"{text}\n")
    session.say(_said(session, proposal, text, path))


def _said(session: Session, proposal: Proposal, text: str, path: Path) -> list[Line]:
    """What was copied, and what to do where a terminal takes nothing."""
    sequence = osc52(text)
    size = f"{len(text)} characters, {text.count(chr(10)) + 1} line{'s' if chr(10) in text else ''}"
    sent = bool(sequence) and session.screen.control(sequence)
    if sent and tmux_buffer(text):
        head = f"  {proposal.id} is in tmux's buffer and on the clipboard ({size}), and in"
    elif sent:
        head = f"  {proposal.id} is on the clipboard ({size}), where your terminal allows it, and in"
    elif sequence:
        head = f"  {proposal.id} ({size}) is in"
    else:
        head = f"  {proposal.id} ({size}) is too long for a clipboard ({LARGEST_BYTES} bytes); it is in"
    return [Line(head), Line(f"  {path}", "command")]


def _chosen(session: Session, wanted: str) -> Proposal:
    proposals = session.found().plan.proposals
    ready = [proposal for proposal in proposals if proposal.command]
    if not ready:
        raise UserError("There is no command to copy.", "/propose shows what there is.")
    chosen = [proposal for proposal in ready if wanted in ("", proposal.id)]
    if not chosen:
        ids = " ".join(proposal.id for proposal in ready)
        raise UserError(f"There is no command {wanted}.", f"There is {ids}.")
    return chosen[0]


COMMANDS = (
    Command("propose", "[P1]", "Shows what to change, with the whole command.", propose, "proposals"),
    Command("diff", "[P1]", "Shows what a proposal changes in the launch command.", diff, "proposals"),
    Command(
        "predict",
        "SETTING",
        "Tells what a setting would give: /predict limit 2 at C=16, graphs on.",
        predict,
        "settings",
    ),
    Command("copy", "[P1]", "Puts a proposal's command on the clipboard and into a file.", copy, "proposals"),
)
