"""Sets an environment variable in a launch text, beside the variables that are already there."""

import json
import re

from ppagent.errors import UserError
from ppagent.sglang.launch.assignments import Assignment
from ppagent.sglang.launch.command import LaunchCommand
from ppagent.sglang.launch.site import Home, Site, all_words, container_run, shell_writer, starts_command
from ppagent.sglang.launch.splice import respell, splice
from ppagent.sglang.launch.words import ItemWriter


def set_variable(command: LaunchCommand, name: str, value: str) -> str:
    """The text with NAME=value for the server: rewritten where it is set, otherwise added in the form at hand."""
    text, site = command.text, command.site
    present = [assignment for assignment in site.assignments if assignment.name == name]
    if present:
        return _rewrite(text, present[-1], value)
    if site.assignments:
        return _add_beside(text, site, site.assignments[-1], name, value)
    return _add_first(text, site, name, value)


def _rewrite(text: str, old: Assignment, value: str) -> str:
    raw = text[old.start : old.end]
    if old.kind in ("yaml-map", "yaml-pair"):
        return splice(text, old.start, old.end, old.writer.spell(value))
    if old.kind == "yaml-item":
        return splice(text, old.start, old.end, old.writer.spell(f"{old.name}={value}"))
    head, equals, tail = raw.partition(f"{old.name}=")
    if not equals:
        return splice(text, old.start, old.end, f"{old.name}={old.writer.spell(value)}")
    if head.endswith(("'", '"')) or old.kind == "systemd":
        return splice(text, old.start, old.end, respell(raw, f"{old.name}={value}", old.writer))
    return splice(text, old.start, old.end, f"{head}{equals}{respell(tail, value, old.writer)}")


def _add_beside(text: str, site: Site, last: Assignment, name: str, value: str) -> str:
    """A new variable behind the last one, in the same form."""
    pair = f"{name}={last.writer.spell(value)}"
    match last.kind:
        case "prefix" | "docker":
            following = [word.start for word in all_words(site) if word.start >= last.end]
            gap = last.writer.between(text, last.end, min(following, default=last.end))
            return splice(text, last.end, last.end, gap + ("-e " if last.kind == "docker" else "") + pair)
        case "export":
            return splice(text, last.end, last.end, _export_gap(text, last) + pair)
        case "systemd":
            at = _line_end(text, last.end)
            return splice(text, at, at, f"\nEnvironment={last.writer.spell(f'{name}={value}')}")
        case _:
            return _add_in_yaml(text, last, name, value)


def _export_gap(text: str, last: Assignment) -> str:
    """A line of its own where each export has one, otherwise the same export."""
    line = text.rfind("\n", 0, last.start) + 1
    alone = re.fullmatch(r"([ \t]*)export[ \t]+", text[line : last.start])
    return f"\n{alone.group(1)}export " if alone and text[last.end : last.end + 1] in ("\n", "") else " "


def _add_in_yaml(text: str, last: Assignment, name: str, value: str) -> str:
    flow = isinstance(last.writer, ItemWriter) and last.writer.flow
    indent = last.writer.indent if isinstance(last.writer, ItemWriter) else ""
    at = last.after if flow else _line_end(text, last.after)
    quoted = json.dumps(value, ensure_ascii=False)
    key = json.dumps(name) if flow else name
    match last.kind, flow:
        case "yaml-item", _:
            new = last.writer.spell(f"{name}={value}")
            new = f", {new}" if flow else f"\n{indent}- {new}"
        case "yaml-map", True:
            new = f", {key}: {quoted}"
        case "yaml-map", False:
            new = f"\n{indent}{key}: {last.writer.spell(value)}"
        case _, True:
            new = f', {{"name": {key}, "value": {quoted}}}'
        case _:
            new = f"\n{indent}- name: {name}\n{indent}  value: {quoted}"
    return splice(text, at, at, new)


def _add_first(text: str, site: Site, name: str, value: str) -> str:
    """The first variable of a launch that sets none."""
    writer = shell_writer(site)
    pair = f"{name}={writer.spell(value)}"
    run = container_run(site.prefix)
    if site.home is not None:
        return _add_yaml_key(text, site.home, name, value)
    if site.form == "systemd":
        at = text.rfind("\n", 0, text.rfind("ExecStart", 0, site.program[0].start)) + 1
        return splice(text, at, at, f"Environment={writer.spell(f'{name}={value}')}\n")
    if run is not None:
        # Written as the words of `docker run` are: the program itself may stand inside another shell's quotes.
        return splice(text, run.end, run.end, f" -e {name}={run.writer.spell(value)}")
    if not site.program:
        raise UserError("These options name no program to set a variable for.", "Give the whole launch command.")
    if starts_command(site.prefix):
        at = all_words(site)[0].start
        return splice(text, at, at, f"{pair} ")
    return splice(text, site.program[0].start, site.program[0].start, f"env {pair} ")


def _add_yaml_key(text: str, home: Home, name: str, value: str) -> str:
    """An `env` or `environment` key of its own in front of the command's."""
    indent = " " * (home.start - text.rfind("\n", 0, home.start) - 1)
    quoted = json.dumps(value, ensure_ascii=False)
    match home.flow, home.kubernetes:
        case True, True:
            new = f'"env": [{{"name": "{name}", "value": {quoted}}}], '
        case True, False:
            new = f'"environment": {{"{name}": {quoted}}}, '
        case False, True:
            new = f"env:\n{indent}- name: {name}\n{indent}  value: {quoted}\n{indent}"
        case _:
            new = f"environment:\n{indent}  {name}: {quoted}\n{indent}"
    return splice(text, home.start, home.start, new)


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end
