"""One launch command before one version: what its rules may look at."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from packaging.version import Version

from ppagent.sglang.flags.flag import Catalogue, FlagValue
from ppagent.sglang.flags.source import SourceTree
from ppagent.sglang.launch.command import LaunchCommand
from ppagent.sglang.launch.options import Option
from ppagent.sglang.legality.problem import Kind, Problem
from ppagent.sglang.scheduler_facts.code import functions, has
from ppagent.sglang.scheduler_facts.era import since

SERVER_ARGS = "srt/server_args.py"
HOOKS = "srt/arg_groups/"


@dataclass(frozen=True)
class Stated:
    """Where versions state a rule: a piece of its message or condition, the function, and the file since 0.5.19."""

    fragment: str
    function: str
    later_file: str = HOOKS + "validation_hook.py"
    later_function: str = ""
    file: str = SERVER_ARGS
    moved: str = "0.5.19"

    def place(self, case: "Case") -> tuple[str, str]:
        """File and function in the case's version."""
        if case.since(self.moved):
            return self.later_file, self.later_function or self.function
        return self.file, self.function


@dataclass(frozen=True)
class Case:
    """The command, the version, and what else is known of the deployment."""

    command: LaunchCommand
    version: Version | None
    catalogue: Catalogue
    tree: SourceTree | None = None
    model_architectures: tuple[str, ...] = ()
    num_layers: int | None = None
    gpu: str | None = None

    def since(self, bound: str) -> bool:
        """Whether the version is `bound` or later, post releases told apart."""
        return since(self.version, bound)

    def given(self, dest: str) -> bool:
        """Whether the command sets the field, with a value that the text tells."""
        option = self.command.option(dest)
        return option is not None and not option.opaque

    def value(self, dest: str) -> FlagValue:
        """The field as given, else the version's default; None also where it stands in an unknown variable."""
        option = self.command.option(dest)
        if option is not None:
            return None if option.opaque else self.command.args.get(dest)
        flag = self.catalogue.by_dest.get(dest)
        return flag.default if flag is not None else None

    def number(self, dest: str) -> int | None:
        """A whole number, None for anything else."""
        value = self.value(dest)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def text(self, dest: str) -> str | None:
        """A text, None for anything else."""
        value = self.value(dest)
        return value if isinstance(value, str) else None

    def on(self, dest: str) -> bool:
        """Whether a switch is on."""
        return self.value(dest) is True

    @property
    def pipelined(self) -> bool:
        """Whether the command asks for more than one stage."""
        return (self.number("pp_size") or 1) > 1

    def written(self, dest: str) -> str:
        """The flag of a field as the user wrote it, else as the version spells it."""
        option = self.command.option(dest)
        if option is not None and option.written:
            return option.written
        flag = self.catalogue.by_dest.get(dest)
        return flag.name if flag is not None else "--" + dest.replace("_", "-")

    def spelled(self, dest: str) -> str:
        """The flag of a field as the user may write it in this version: in his own words where they are understood."""
        written = self.written(dest)
        if self.catalogue.match(written).flag is not None:
            return written
        option = self.command.option(dest)
        return option.spelling if option is not None and option.spelling else written

    def source_of(self, stated: Stated) -> str | None:
        """The rule's place; None where the tree at hand does not state it, so that it does not hold there."""
        file, function = stated.place(self)
        if self.tree is None or not has(self.tree, file):
            return f"{file}: {function} (table by version)"
        for found_file, found in functions(self.tree, *dict.fromkeys((file, stated.later_file, stated.file))):
            for line in _lines_with(found, stated.fragment):
                return f"{found_file}: {found.name}, line {line}"
        return None

    def problems(self, kind: Kind, dest: str, says: str, instead: str, stated: Stated) -> Iterator[Problem]:
        """The problem, unless the tree at hand shows that the rule is not there."""
        source = self.source_of(stated)
        if source is not None:
            yield Problem(kind, self.written(dest), says, instead, source)


def _lines_with(function: ast.FunctionDef, fragment: str) -> Iterator[int]:
    """Lines of the function whose messages or conditions hold the fragment."""
    for node in ast.walk(function):
        match node:
            case ast.Constant(value=str(text)) if fragment in text:
                yield node.lineno
            case ast.Assert(test=test) | ast.If(test=test) if fragment in _bare(test):
                yield node.lineno


def _bare(test: ast.expr) -> str:
    """A condition without the names of the object that holds the arguments."""
    text = ast.unparse(test)
    for owner in ("self.", "cfg.", "view.", "server_args."):
        text = text.replace(owner, "")
    return text


def option_text(option: Option) -> str:
    """The option with its values as one string."""
    if option.inline:
        return f"{option.written}={option.values[0]}"
    return " ".join((option.written, *option.values))
