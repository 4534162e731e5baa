"""Would this SGLang take this launch command? A rule is a small function: what is wrong, what to write instead."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from ppagent.sglang.flags.flag import Catalogue
from ppagent.sglang.flags.history import catalogue_of
from ppagent.sglang.flags.reader import read_tree
from ppagent.sglang.flags.source import SourceTree
from ppagent.sglang.launch.command import LaunchCommand
from ppagent.sglang.legality import backends, models, parallel, pipeline, serving
from ppagent.sglang.legality.asserts import failed_asserts
from ppagent.sglang.legality.case import Case
from ppagent.sglang.legality.flags import every_flag
from ppagent.sglang.legality.problem import Problem
from ppagent.sglang.legality.renames import as_meant
from ppagent.sglang.scheduler_facts.code import open_tree
from ppagent.sglang.versions import parse_version

Rule = Callable[[Case], Iterator[Problem]]

RULES: tuple[Rule, ...] = (
    *pipeline.RULES,
    *models.RULES,
    *parallel.RULES,
    *serving.RULES,
    *backends.RULES,
)
_ORDER = {"refused": 0, "ignored": 1, "warning": 2}


def check(
    command: LaunchCommand,
    version: str,
    catalogue: Catalogue | None = None,
    tree: Path | SourceTree | None = None,
    model_architectures: tuple[str, ...] = (),
    num_layers: int | None = None,
    gpu: str | None = None,
) -> tuple[Problem, ...]:
    """What this version would refuse, ignore or warn of, the refusals first. The command has to be read with the same
    catalogue.

    With a tree its own source decides whether a rule holds, and its assertions are read as well. What is not known
    (the model, its layers, the card, a variable's value) is left out, never guessed. Raises UserError for a version
    that is none.
    """
    source = open_tree(tree)
    flags = catalogue or (read_tree(source) if source is not None else catalogue_of(version))
    written = Case(command, parse_version(version), flags, source, model_architectures, num_layers, gpu)
    case = replace(written, command=as_meant(command, flags))
    found = [*every_flag(written), *(problem for rule in RULES for problem in rule(case))]
    refused = {problem.flag for problem in found if problem.kind == "refused"}
    for refusal, problem in failed_asserts(case):
        if not refused & {case.written(dest) for dest in refusal.fields}:
            found.append(problem)
    return tuple(sorted(dict.fromkeys(found), key=lambda problem: _ORDER[problem.kind]))


def is_accepted(problems: tuple[Problem, ...]) -> bool:
    """Whether the server would start."""
    return all(problem.kind != "refused" for problem in problems)
