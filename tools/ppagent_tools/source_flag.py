"""One launch flag as the installed source itself declares it: what a fork added stands in no table of versions."""

import re
from collections.abc import Sequence

from pydantic import BaseModel, Field

from ppagent.errors import NotRecorded, ToolError
from ppagent.evidence.evidence import FactValue, Finding
from ppagent.plugins import Grade, Tool, ToolContext
from ppagent.sglang.flags.flag import Flag
from ppagent.sglang.flags.successors import nearest
from ppagent.targets.target import SourceTree
from ppagent_tools.source import source_of
from ppagent_tools.source_flags import flags_of

_DECLARED_IN = "sglang/srt"


class FlagArguments(BaseModel, extra="forbid"):
    """Which flag."""

    flag: str = Field(description="its spelling with the dashes, for example --pp-size", max_length=80)


class SourceFlag:
    name = "source.flag"
    summary = "Whether the installed source declares a launch flag, and how: type, default, choices."
    grade = Grade.READ_HOST
    provides: tuple[str, ...] = ("source.flag",)
    arguments: type[BaseModel] = FlagArguments

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        host, tree = source_of(context)
        if tree is None:
            raise NotRecorded("the installed source was not recorded")
        asked = FlagArguments.model_validate(arguments.model_dump()).flag
        found = flags_of(context, host)
        if found is None or not found.from_source:
            why = " ".join(found.says) if found is not None else "its version is not known either"
            raise ToolError(f"the flags of the installed source cannot be read: {why or 'server_args.py is not there'}")
        catalogue = found.catalogue
        flag = catalogue.by_spelling.get(asked)
        if flag is None:
            close = ", ".join(nearest(asked, catalogue))
            raise ToolError(f"the installed source has no flag {asked}" + (f"; it has {close}" if close else ""))
        return [_finding(flag, asked, tree, host)]


def tools() -> tuple[Tool, ...]:
    return (SourceFlag(),)


def _finding(flag: Flag, asked: str, tree: SourceTree, host: str) -> Finding:
    facts: dict[str, FactValue] = {
        "source.flag": {
            "name": asked,
            "dest": flag.dest,
            "type": flag.type,
            "takes_value": flag.takes_value,
            "default": flag.default,
            "choices": list(flag.choices) if flag.choices is not None else None,
            "deprecated": flag.deprecated,
        }
    }
    path, line = _declaration(flag, tree)
    return Finding(f"source/{path}" if path else "source", facts, line, host, authority=2)


def _declaration(flag: Flag, tree: SourceTree) -> tuple[str, str]:
    """The line that declares it, by its spelling or its field, and the file."""
    for pattern in (re.escape(flag.name), rf"\b{re.escape(flag.dest)}\b"):
        for hit in tree.grep(pattern, _DECLARED_IN, 50):
            if "server_args" in hit.path or "arg_groups" in hit.path:
                return hit.path, hit.text
    return "", ""
