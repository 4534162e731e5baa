"""Without a terminal: the question comes through a pipe, is answered once, and nobody is asked anything."""

from typing import TextIO

from ppagent.chat.commands.command import Leave, Switch
from ppagent.chat.commands.registry import run_command
from ppagent.chat.replies import reply
from ppagent.chat.session import Session
from ppagent.errors import UserError
from ppagent.evidence.masking import mask
from ppagent.report.lines import BLANK

WHY = "why is it slow?"


def question_from(stdin: TextIO, target_text: str) -> str:
    """What was asked. With pasted text for a target the question stands in it. Raises UserError for nothing."""
    if target_text == "-":
        return WHY
    text = stdin.read().strip()
    if not text:
        raise UserError("Nothing was asked.", f'Pipe a question in: echo "{WHY}" | ppagent chat TARGET.')
    return text


def answer_once(session: Session, text: str) -> None:
    """Answers; several commands, one a line, one after the other. Raises UserError for what cannot be answered."""
    masked = mask(text)  # before it is cut into lines: a secret may stand on the line below its name
    lines = [line.strip() for line in masked.splitlines() if line.strip()]
    commands = all(line.startswith("/") for line in lines)
    for line in lines if commands else [masked]:
        session.screen.show([BLANK])
        heard = session.hear(line)
        try:
            run_command(session, heard) if commands else reply(session, heard)
        except Leave:
            return
        except Switch as switch:
            raise UserError("/resume needs a terminal.", "Write ppagent chat --resume [ID].") from switch
