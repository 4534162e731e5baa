"""The whole launch command with everything put right that the version would refuse, where what to write is known."""

import re
import shlex
from collections.abc import Callable, Sequence

from ppagent.sglang.flags.flag import Catalogue
from ppagent.sglang.launch.change import CannotEdit, Change
from ppagent.sglang.launch.command import LaunchCommand, parse_launch
from ppagent.sglang.launch.edit import edit_launch
from ppagent.sglang.legality.problem import Problem

MOST_ROUNDS = 4
"""Putting one thing right may show another that was hidden by it."""
_LEAVE_OUT = "leave it out"
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*")


def corrected(
    text: str, catalogue: Catalogue, problems: Sequence[Problem], check: Callable[[LaunchCommand], Sequence[Problem]]
) -> str:
    """The user's own text with each refusal answered by what its problem says to write. Empty where nothing is
    refused, where a person has to decide, or where the version would still refuse the outcome."""
    refused = [problem for problem in problems if problem.kind == "refused"]
    if not refused:
        return ""
    for _ in range(MOST_ROUNDS):
        changes = [_change(problem, catalogue) for problem in refused]
        try:
            for change in changes:
                if change is None:
                    return ""
                text = edit_launch(parse_launch(text, catalogue), change, catalogue)
        except CannotEdit:
            return ""
        refused = [problem for problem in check(parse_launch(text, catalogue)) if problem.kind == "refused"]
        if not refused:
            return text
    return ""


def _taken(option: str, catalogue: Catalogue) -> bool:
    """Whether the version takes the option: a variable then allows it, and does not stand in its place."""
    flag = catalogue.match(option).flag
    return flag is not None and not flag.stops_with


def _change(problem: Problem, catalogue: Catalogue) -> Change | None:
    """What the problem says to write, as a change; None where its words are no command line."""
    if not problem.flag.startswith("--"):
        return None
    instead = problem.write_instead
    if instead == _LEAVE_OUT or instead.startswith(f"{_LEAVE_OUT}: "):
        return Change(unset=(problem.flag,))
    try:
        words = shlex.split(instead)
    except ValueError:
        return None
    if not words:
        return None
    name, _, inline = words[0].partition("=")
    if _VARIABLE.fullmatch(name) and inline and len(words) == 1:
        return Change(unset=() if _taken(problem.flag, catalogue) else (problem.flag,), env={name: inline})
    values = [inline] * bool(inline) + words[1:]
    flag = catalogue.by_spelling.get(name)
    if flag is None or flag.stops_with or "VALUE" in values or not _fits(flag.takes_value, flag.nargs, values):
        return None
    return Change({name: " ".join(values) or "true"}, (problem.flag,) if problem.flag != name else ())


def _fits(takes_value: bool, nargs: object, values: Sequence[str]) -> bool:
    if not takes_value:
        return not values
    return len(values) == 1 if nargs in (None, "?") else True
