"""`ppagent check`: would this SGLang take this launch command?"""

import argparse
import json
import sys
import textwrap
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ppagent.cli.common import PORT, TARGET_HELP
from ppagent.errors import ExitStatus
from ppagent.evidence.secret_values import MASK
from ppagent.report.room import columns

if TYPE_CHECKING:
    from ppagent.cli.check_target import Subject
    from ppagent.sglang.flags.installed import InstalledFlags
    from ppagent.sglang.launch.command import LaunchCommand
    from ppagent.sglang.legality.problem import Problem

NAME = "check"
HELP = "Tells whether an SGLang version would accept a launch command, and what to write instead where not."
_VERDICT = {True: "accepts this launch command", False: "refuses this launch command"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds this command's arguments."""
    target = f"{TARGET_HELP}; a file with a launch command, or the command itself in quotes"
    parser.add_argument("target", metavar="TARGET|'COMMAND'", help=target)
    parser.add_argument("--port", type=PORT, metavar="N", help="the server's HTTP port, where several run")
    parser.add_argument("--version", metavar="X", help="the SGLang version, such as 0.5.10")
    parser.add_argument("--tree", metavar="DIR", type=Path, help="the folder of the sglang package; it is not imported")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="form of the verdict (text)")


def run(args: argparse.Namespace) -> int:
    """Prints the problems; the status is 1 where the server would refuse."""
    from ppagent.cli.check_target import flags_for, subjects
    from ppagent.sglang.legality.check import is_accepted

    found = subjects(args.target, args.version, args.tree, args.port)
    checked = [checked_against(subject, flags_for(subject)) for subject in found]
    if args.format == "json":
        sys.stdout.write(json.dumps(as_json(checked), indent=1, ensure_ascii=False) + "\n")
    else:
        _note_once(checked)
        sys.stdout.write("\n".join(as_text(one) for one in checked))
    accepted = all(is_accepted(one.problems) for one in checked)
    return ExitStatus.OK if accepted else ExitStatus.FAILURE


@dataclass(frozen=True)
class Checked:
    """A launch command with what is wrong with it, and the flags it was held against."""

    subject: "Subject"
    flags: "InstalledFlags"
    problems: "tuple[Problem, ...]"
    corrected: str = ""
    """The whole command put right; empty where nothing is refused or a person has to decide."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is to be known of the flags themselves."""
        return self.flags.remarks


def checked_against(subject: "Subject", flags: "InstalledFlags") -> Checked:
    """What is wrong with one launch command."""
    from ppagent.evidence.masking import mask
    from ppagent.report.plain import plain_command
    from ppagent.sglang.launch.command import parse_launch
    from ppagent.sglang.legality.correction import corrected

    found = _problems(parse_launch(subject.text, flags.catalogue), subject, flags)
    whole = corrected(subject.text, flags.catalogue, found, lambda command: _problems(command, subject, flags))
    return Checked(subject, flags, tuple(_fit_to_show(problem) for problem in found), mask(plain_command(whole)))


def _problems(command: "LaunchCommand", subject: "Subject", flags: "InstalledFlags") -> "tuple[Problem, ...]":
    from ppagent.sglang.legality.check import check

    return check(
        command,
        subject.version,
        flags.catalogue,
        subject.tree,
        subject.architectures,
        subject.layers,
        subject.gpu,
    )


def _note_once(checked: list[Checked]) -> None:
    """Remarks on the flags go beside the verdict, each once however many hosts it is said of."""
    from ppagent.cli.common import note

    for sentence in dict.fromkeys(remark for one in checked for remark in one.remarks):
        note(sentence)


def _fit_to_show(problem: "Problem") -> "Problem":
    """A problem repeats words of the launch text, which may hold secrets and whatever somebody put into it."""
    from ppagent.evidence.masking import mask
    from ppagent.report.plain import plain

    texts = (problem.flag, problem.says, problem.write_instead)
    flag, says, instead = (mask(plain(text)) for text in texts)
    return replace(problem, flag=flag, says=says, write_instead=instead)


def as_json(checked: list[Checked]) -> dict[str, Any]:
    """One document for all hosts; a problem names its host where there are several."""
    versions = list(dict.fromkeys(one.subject.version for one in checked))
    several = len(checked) > 1
    problems = [
        {
            "kind": problem.kind,
            "flag": problem.flag,
            "says": problem.says,
            "write_instead": problem.write_instead,
            "source": problem.source,
            **({"host": one.subject.host} if several else {}),
        }
        for one in checked
        for problem in one.problems
    ]
    accepted = all(problem["kind"] != "refused" for problem in problems)
    return {
        "version": ", ".join(versions),
        "flags": "source" if all(one.flags.from_source for one in checked) else "table",
        "remarks": list(dict.fromkeys(remark for one in checked for remark in one.remarks)),
        "accepted": accepted,
        "corrected": {one.subject.host: one.corrected for one in checked if one.corrected},
        "problems": problems,
    }


def as_text(checked: Checked) -> str:
    """The verdict first, then a paragraph a problem."""
    subject, problems = checked.subject, checked.problems
    accepted = all(problem.kind != "refused" for problem in problems)
    where = f"{subject.host}: " if subject.host else ""
    used = " (flags read in its own source)" if checked.flags.from_source else ""
    lines = [*textwrap.wrap(f"{where}SGLang {subject.version} {_VERDICT[accepted]}{used}.", columns()), ""]
    for problem in problems:
        lines += [f"{problem.kind:<9}{problem.flag}"]
        lines += _indented("", problem.says)
        if problem.write_instead:
            lines += _indented("write: ", problem.write_instead)
        lines += [*_indented("from: ", problem.source), ""]
    if checked.corrected:
        masked = f"; put your own secret where {MASK} stands" if MASK in checked.corrected else ""
        says = f"the whole command, as SGLang {subject.version} would accept it{masked}:"
        lines += [*textwrap.wrap(says, columns()), "", *checked.corrected.strip("\n").split("\n"), ""]
    elif not accepted:
        says = "No whole corrected command: something above is for you to choose, or to cut by hand."
        lines += [*textwrap.wrap(says, columns()), ""]
    return "\n".join(lines if problems else lines[:-1]) + "\n" * (not problems)


def _indented(label: str, text: str) -> list[str]:
    """The text behind its label, wrapped to the width; a word is never broken, so that flags can be copied."""
    return textwrap.wrap(
        text,
        columns(),
        initial_indent=" " * 9 + label,
        subsequent_indent=" " * (9 + len(label)),
        break_long_words=False,
        break_on_hyphens=False,
    )
