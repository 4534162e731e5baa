"""Which commands may run on a host without a person's word: by command and by option, everything else refused.

There is no list of what is forbidden. A command that is not in the table, an option that is not in its rule, an operand
that its rule does not take, or a path outside the places that may be read, is refused.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ppagent_tools.shell_paths import may_read
from ppagent_tools.shell_table import RULES, Operand, Rule

MOST_WORDS = 40
LONGEST_WORD = 400

_ODD = re.compile(r"[\x00-\x1f\x7f]|[^\x00-\x7f]")
_SHELL = re.compile(r"\$\(|`|\$\{|&&|\|\||<\(|>\(|^[;&|<>]+$|^\d*[<>]")
"""Chaining, redirection and substitution. No shell would read them here, but whoever writes them wants one."""


@dataclass(frozen=True)
class Review:
    """Why a command may not run by itself (empty where it may), and the paths it would read."""

    refusal: str
    paths: tuple[str, ...] = ()


def review(argv: Sequence[str], places: Sequence[str] = ()) -> Review:
    """Looks at a command before it is run. `places`: files and folders of the server, which may be read."""
    if not argv or len(argv) > MOST_WORDS or any(len(word) > LONGEST_WORD for word in argv):
        return Review(f"a command has 1 to {MOST_WORDS} words of at most {LONGEST_WORD} characters")
    for word in argv:
        if _ODD.search(word) or _SHELL.search(word):
            return Review(f"{word!r} is not plain: no chaining, redirection, pipe or substitution")
    rules = RULES.get(argv[0])
    if rules is None:
        return Review(f"{argv[0]} is not among the commands that only read: {', '.join(sorted(RULES))}")
    found = [_against(rule, argv[1:], places) for rule in rules]
    allowed = next((each for each in found if not each.refusal), None)
    return allowed or Review(f"{argv[0]}: {found[-1].refusal}")


def _against(rule: Rule, words: Sequence[str], places: Sequence[str]) -> Review:
    """Whether one form of a command covers these words."""
    if tuple(words[: len(rule.first)]) != rule.first:
        return Review(f"it must begin with {' '.join(rule.first)}")
    operands: list[str] = []
    rest = list(words[len(rule.first) :])
    while rest:
        word = rest.pop(0)
        if not word.startswith("-") or word == "-":
            operands.append(word)
        elif taken := _option(rule, word, rest):
            del rest[: taken - 1]
        else:
            return Review(f"the option {word} is not among those that only read")
    return _operands(rule, operands, places)


def _option(rule: Rule, word: str, rest: Sequence[str]) -> int:
    """How many words an option takes: itself, or itself and its value; 0 where it is not allowed."""
    if word in rule.flags:
        return 1
    name, equals, value = word.partition("=")
    if name in rule.valued:
        if equals:
            return 1 if rule.valued[name].fullmatch(value) else 0
        return 2 if rest and rule.valued[name].fullmatch(rest[0]) else 0
    if word.startswith("--"):
        return 0
    if word[:2] in rule.valued and len(word) > 2:
        return 1 if rule.valued[word[:2]].fullmatch(word[2:]) else 0
    return 1 if word[1:] and set(word[1:]) <= set(rule.letters) else 0


def _operands(rule: Rule, operands: Sequence[str], places: Sequence[str]) -> Review:
    if not rule.least <= len(operands) <= rule.most:
        return Review(f"it takes {rule.least} to {rule.most} operands here, not {len(operands)}")
    paths = []
    for number, word in enumerate(operands):
        kind: Operand = rule.leading if number == 0 and rule.leading is not None else rule.operand
        if isinstance(kind, str):
            if why := may_read(word, places, names_only=kind == "names"):
                return Review(why)
            paths.append(word)
        elif not kind.fullmatch(word):
            return Review(f"{word!r} is not what it takes here")
    return Review("", tuple(paths))
