"""Other commands of ppagent, run from inside a session: their words come back as text, their progress is shown."""

import argparse
import io
import shlex
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import NoReturn

from ppagent.chat.consent import Deed
from ppagent.chat.session import Session
from ppagent.errors import UserError


@dataclass(frozen=True)
class Ended:
    """How a command ended, and what it wrote."""

    status: int
    output: str
    remarks: str = ""
    """What it wrote beside its output, where that was caught."""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong instead of ending the process."""

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{self.prog}: {message}.", f"`{self.prog} --help` lists the options.")


def parse(name: str, argv: Sequence[str]) -> argparse.Namespace:
    """The command's own reading of `argv`. Raises UserError where there is no such command, or it takes no such
    options."""
    parser = _Parser(prog=f"ppagent {name}", allow_abbrev=False, add_help=False)
    _module(name).add_arguments(parser)
    args = parser.parse_args(list(argv))
    args.unknown = []
    return args


def run(name: str, argv: Sequence[str], *, quietly: bool = False) -> Ended:
    """Runs the command. `quietly` catches its remarks too, and then it finds nobody to ask."""
    args, out, beside = parse(name, argv), io.StringIO(), io.StringIO()
    with redirect_stdout(out):
        if not quietly:
            return Ended(int(_module(name).run(args)), out.getvalue())
        with redirect_stderr(beside):
            status = int(_module(name).run(args))
    return Ended(status, out.getvalue(), beside.getvalue())


def command_line(name: str, argv: Sequence[str]) -> str:
    """The command as one would type it."""
    return shlex.join(["ppagent", name, *argv])


def allowed(session: Session, deed: Deed) -> bool:
    """Whether the deed may be done: by the ceiling, or by the person, who is shown it first."""
    if deed.grade <= session.desk.ceiling:
        return True
    decision = session.consent.decide(deed)
    session.record("approval", tool=deed.name, grade=deed.grade, allowed=decision.allowed)
    return decision.allowed


def _module(name: str) -> ModuleType:
    from ppagent.cli.main import COMMANDS

    if name not in COMMANDS:
        raise UserError(f"This version of ppagent has no `ppagent {name}`.", "/help lists what a session can do.")
    return import_module(COMMANDS[name][0])
