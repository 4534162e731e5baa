"""`ppagent check`: would this SGLang take this launch command?"""

import argparse
import json
import sys
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ppagent.errors import ExitStatus

if TYPE_CHECKING:
    from ppagent.cli.check_target import Subject
    from ppagent.sglang.legality.problem import Problem

NAME = "check"
HELP = "Tells whether an SGLang version would accept a launch command, and what to write instead where not."
WIDTH = 80
_VERDICT = {True: "accepts this launch command", False: "refuses this launch command"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds this command's arguments."""
    target = "a recording's folder, a file with a launch command, - for pasted text, or the command itself in quotes"
    parser.add_argument("target", metavar="TARGET|'COMMAND'", help=target)
    parser.add_argument("--version", metavar="X", help="the SGLang version, such as 0.5.10")
    parser.add_argument("--tree", metavar="DIR", type=Path, help="the folder of the sglang package; it is not imported")
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    """Prints the problems; the status is 1 where the server would refuse."""
    from ppagent.cli.check_target import subjects
    from ppagent.sglang.legality.check import is_accepted

    checked = [(subject, problems_of(subject)) for subject in subjects(args.target, args.version, args.tree)]
    if args.format == "json":
        sys.stdout.write(json.dumps(as_json(checked), indent=1, ensure_ascii=False) + "\n")
    else:
        sys.stdout.write("\n".join(as_text(subject, problems) for subject, problems in checked))
    accepted = all(is_accepted(problems) for _, problems in checked)
    return ExitStatus.OK if accepted else ExitStatus.FAILURE


def problems_of(subject: "Subject") -> "tuple[Problem, ...]":
    """What is wrong with one launch command."""
    from ppagent.cli.check_target import catalogue_for
    from ppagent.cli.common import note
    from ppagent.sglang.launch.command import parse_launch
    from ppagent.sglang.legality.check import check

    catalogue = catalogue_for(subject)
    for sentence in catalogue.unread:
        note(sentence)
    found = check(
        parse_launch(subject.text, catalogue),
        subject.version,
        catalogue,
        subject.tree,
        subject.architectures,
        subject.layers,
        subject.gpu,
    )
    return tuple(_fit_to_show(problem) for problem in found)


def _fit_to_show(problem: "Problem") -> "Problem":
    """A problem repeats words of the launch text, which may hold secrets and whatever somebody put into it."""
    from ppagent.evidence.masking import mask
    from ppagent.report.plain import plain

    texts = (problem.flag, problem.says, problem.write_instead)
    flag, says, instead = (mask(plain(text)) for text in texts)
    return replace(problem, flag=flag, says=says, write_instead=instead)


def as_json(checked: "list[tuple[Subject, tuple[Problem, ...]]]") -> dict[str, Any]:
    """One document for all hosts; a problem names its host where there are several."""
    versions = list(dict.fromkeys(subject.version for subject, _ in checked))
    several = len(checked) > 1
    problems = [
        {
            "kind": problem.kind,
            "flag": problem.flag,
            "says": problem.says,
            "write_instead": problem.write_instead,
            "source": problem.source,
            **({"host": subject.host} if several else {}),
        }
        for subject, found in checked
        for problem in found
    ]
    accepted = all(problem["kind"] != "refused" for problem in problems)
    return {"version": ", ".join(versions), "accepted": accepted, "problems": problems}


def as_text(subject: "Subject", problems: "tuple[Problem, ...]") -> str:
    """The verdict first, then a paragraph a problem."""
    accepted = all(problem.kind != "refused" for problem in problems)
    where = f"{subject.host}: " if subject.host else ""
    lines = [f"{where}SGLang {subject.version} {_VERDICT[accepted]}.", ""]
    for problem in problems:
        lines += [f"{problem.kind:<9}{problem.flag}"]
        lines += _indented("", problem.says)
        if problem.write_instead:
            lines += _indented("write: ", problem.write_instead)
        lines += [*_indented("from: ", problem.source), ""]
    return "\n".join(lines if problems else lines[:-1]) + "\n" * (not problems)


def _indented(label: str, text: str) -> list[str]:
    """The text behind its label, wrapped to the width; a word is never broken, so that flags can be copied."""
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=" " * 9 + label,
        subsequent_indent=" " * (9 + len(label)),
        break_long_words=False,
        break_on_hyphens=False,
    )
