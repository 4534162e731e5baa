"""A launch command in a systemd unit: `ExecStart=` and the `Environment=` lines."""

import re

from ppagent.sglang.launch.assignments import Assignment
from ppagent.sglang.launch.regions import whole
from ppagent.sglang.launch.shell import assignment_name, commands
from ppagent.sglang.launch.site import Site, find_in_shell

_LOGICAL_LINE = r"(?:\\\r?\n|[^\n])*"
_EXEC_START = re.compile(rf"^[ \t]*ExecStart[ \t]*=[ \t]*({_LOGICAL_LINE})", re.MULTILINE)
_ENVIRONMENT = re.compile(rf"^[ \t]*Environment[ \t]*=[ \t]*({_LOGICAL_LINE})", re.MULTILINE)


def is_unit(text: str) -> bool:
    """Whether `text` looks like a systemd unit."""
    return _EXEC_START.search(text) is not None


def find_in_unit(text: str) -> Site | None:
    """The first `ExecStart=` of the unit that starts SGLang."""
    lines = _ENVIRONMENT.finditer(text)
    assignments = tuple(one for line in lines for one in _assignments(text, line.start(1), line.end(1)))
    for line in _EXEC_START.finditer(text):
        site = find_in_shell(whole(text, line.start(1), line.end(1)), assignments, "systemd")
        if site is not None:
            return site
    return None


def _assignments(text: str, start: int, end: int) -> list[Assignment]:
    found = []
    for words in commands(whole(text, start, end), {}):
        for word in words:
            if assignment_name(word.value):
                name, _, value = word.value.partition("=")
                found.append(Assignment(name, value, word.start, word.end, "systemd", word.writer, word.opaque))
    return found
