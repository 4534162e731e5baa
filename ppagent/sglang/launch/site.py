"""Where a launch command stands in a text: its program, its arguments, and the assignments it runs under."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ppagent.errors import UserError
from ppagent.sglang.launch.assignments import Assignment, note_assignments, prefix_assignments
from ppagent.sglang.launch.regions import Region
from ppagent.sglang.launch.shell import Value, assignment_name, commands
from ppagent.sglang.launch.words import ShellWriter, Word, Writer

Form = Literal["shell", "docker", "systemd", "yaml"]

_MODULES = ("sglang.launch_server", "sglang.cli.main")
_PYTHON = re.compile(r"(?:.*/)?[-@:+!]*(?:python|pypy)[\d.]*(?:\.exe)?\Z")
_WRAPPERS = frozenset(
    ["nohup", "exec", "time", "setsid", "numactl", "taskset", "nice", "ionice", "stdbuf", "timeout", "env"]
)
_CONTAINER = re.compile(r"(?:docker|podman|nerdctl)\Z")


class NoLaunchCommand(UserError):
    """The text holds no command that starts an SGLang server."""

    def __init__(self) -> None:
        super().__init__(
            "There is no SGLang launch command in this text.",
            "Give it as it was run: python -m sglang.launch_server --model-path ... or sglang serve ...",
        )


@dataclass(frozen=True)
class Home:
    """Where a container's environment would be written when it has none: in front of its command's key."""

    start: int
    flow: bool
    kubernetes: bool


@dataclass(frozen=True)
class Site:
    """A launch command in its text."""

    form: Form
    program: tuple[Word, ...]
    """`python3 -m sglang.launch_server` or `sglang serve`; empty where the image supplies it."""
    arguments: tuple[Word, ...]
    assignments: tuple[Assignment, ...] = ()
    """In the order they take effect: the last of a name counts."""
    prefix: tuple[Word, ...] = ()
    """The words of the same command in front of the program."""
    home: Home | None = None


def program_span(values: Sequence[str]) -> tuple[int, int] | None:
    """First and past-the-last position of the words that start SGLang, None where no word does."""
    for at, value in enumerate(values):
        if value == "sglang" or value.endswith("/sglang"):
            if values[at + 1 : at + 2] == ["serve"]:
                return at, at + 2
        elif value == "-m" and at + 1 < len(values) and values[at + 1] in _MODULES:
            return _interpreter(values, at), at + (3 if values[at + 2 : at + 3] == ["serve"] else 2)
        elif re.match(r"-msglang\.launch_server\Z|(?:.*/)?launch_server\.py\Z", value):
            return _interpreter(values, at), at + 1
    return None


def _interpreter(values: Sequence[str], module: int) -> int:
    """Position of the Python that runs the word at `module`, its own options passed over."""
    for at in range(module - 1, -1, -1):
        if _PYTHON.match(values[at]):
            return at
    return module


def find_in_shell(region: Region, outer: tuple[Assignment, ...] = (), form: Form = "shell") -> Site | None:
    """The first launch command among the commands of `region`, quoted scripts within them included."""
    variables: dict[str, Value] = {}
    exported: dict[str, Assignment] = {}
    for words in commands(region, variables):
        site = find_in_words(words, (*outer, *exported.values()), form)
        if site is not None:
            return site
        note_assignments(words, variables, exported)
    return None


def find_in_words(words: tuple[Word, ...], outer: tuple[Assignment, ...] = (), form: Form = "shell") -> Site | None:
    """The launch command in one command's words."""
    values = [word.value for word in words]
    span = program_span(values)
    if span is None:
        return _find_quoted(words, outer, form)
    prefix = words[: span[0]]
    assignments = (*outer, *prefix_assignments(prefix))
    return Site(_form(prefix, form), words[span[0] : span[1]], words[span[1] :], assignments, prefix)


def _find_quoted(words: tuple[Word, ...], outer: tuple[Assignment, ...], form: Form) -> Site | None:
    """The launch command inside a word that is a script of its own: `bash -c "..."`."""
    for at, word in enumerate(words):
        if word.inner is None or not re.search(r"sglang|launch_server\.py", word.value):
            continue
        assignments = (*outer, *prefix_assignments(words[:at]))
        site = find_in_shell(word.inner, assignments, _form(words[:at], form))
        if site is not None:
            return site if container_run(words[:at]) is None else replace(site, prefix=words[:at])
    return None


def _form(prefix: Sequence[Word], form: Form) -> Form:
    return "docker" if form == "shell" and container_run(prefix) is not None else form


def container_run(prefix: Sequence[Word]) -> Word | None:
    """The `run` or `exec` of a container command among `prefix`."""
    for at, word in enumerate(prefix):
        if _CONTAINER.search(word.value):
            return next((w for w in prefix[at + 1 :] if w.value in ("run", "exec")), None)
    return None


def starts_command(prefix: Sequence[Word]) -> bool:
    """Whether an assignment may simply stand in front of the whole command and still reach the server."""
    plain = [word.value for word in prefix if not word.value.startswith("-") and not assignment_name(word.value)]
    return not plain or plain[0].rpartition("/")[2] in _WRAPPERS


def shell_writer(site: Site) -> Writer:
    """How words beside the program are written; plain shell where the site has none."""
    words = site.program or site.arguments
    return words[0].writer if words else ShellWriter()


def all_words(site: Site) -> tuple[Word, ...]:
    """Prefix, program and arguments in one row."""
    return (*site.prefix, *site.program, *site.arguments)
