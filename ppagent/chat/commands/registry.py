"""All commands of a session. Help, completion and documentation are made from this list."""

from difflib import get_close_matches

from ppagent.chat.commands import acting, changing, keeping, looking, managing
from ppagent.chat.commands.command import Command
from ppagent.chat.session import Session
from ppagent.errors import UserError
from ppagent.report.lines import BLANK, Line, wrapped

COLUMN = 16
"""Characters of the synopses in the help."""

WORDS_HELP = (
    "Anything else is a question in your own words: why is it slow? is it the KV cache? what should I change? what if "
    "the limit is 2 at C=16? what does --pp-async-batch-depth do? how does it compare with before?"
)


def _help(session: Session, words: str) -> None:
    """The commands, or one of them."""
    name = words.removeprefix("/")
    session.screen.show(help_lines(session.screen.width, name))


COMMANDS: tuple[Command, ...] = (
    *looking.COMMANDS,
    *changing.COMMANDS,
    *acting.COMMANDS,
    *keeping.COMMANDS,
    *managing.COMMANDS,
    Command("help", "[COMMAND]", "Lists the commands, or tells about one.", _help, "commands"),
)

BY_NAME = {command.name: command for command in COMMANDS}


def help_lines(width: int, name: str = "") -> list[Line]:
    """The help; of one command where it is named. Raises UserError where there is no such command."""
    chosen = [_find(name)] if name else list(COMMANDS)
    lines = [line for command in chosen for line in _about(command, width)]
    if name:
        return lines
    keys = "Ctrl-C stops what runs, and asks to leave where nothing does; Ctrl-D leaves; Tab completes."
    return [*lines, BLANK, *wrapped(WORDS_HELP, width, "  "), *wrapped(keys, width, "  ")]


def _about(command: Command, width: int) -> list[Line]:
    """Synopsis and sentence, beside each other where there is room."""
    if len(command.synopsis) <= COLUMN:
        return wrapped(command.does, width, f"  {command.synopsis:<{COLUMN}}  ")
    return [Line(f"  {command.synopsis}"), *wrapped(command.does, width, " " * (COLUMN + 4))]


def run_command(session: Session, text: str) -> None:
    """Runs one command line. Raises UserError where there is no such command."""
    name, _, words = text.strip().removeprefix("/").partition(" ")
    _find(name).run(session, words.strip())


def _find(name: str) -> Command:
    command = BY_NAME.get(name.lower())
    if command is not None:
        return command
    close = get_close_matches(name.lower(), BY_NAME, n=1)
    raise UserError(f"There is no command /{name}.", f"Did you mean /{close[0]}?" if close else "/help lists them.")
