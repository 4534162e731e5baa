"""A server_args.py that declares the flags of a published version, patched as a test wants it."""

from collections.abc import Iterable, Mapping
from typing import Any

from ppagent.sglang.flags.flag import Flag
from ppagent.sglang.flags.history import catalogue_of

_HEAD = """import argparse
import json


class DeprecatedAction(argparse.Action):
    def __init__(self, option_strings, dest, nargs=0, **more):
        super().__init__(option_strings, dest, nargs=nargs, **more)


"""
_CLASS = """class ServerArgs:
    @staticmethod
    def add_cli_args(parser):
"""
_ACTIONS = {
    "store_true": "'store_true'",
    "store_false": "'store_false'",
    "boolean_optional": "argparse.BooleanOptionalAction",
    "deprecated": "DeprecatedAction",
    "append": "'append'",
}


def server_args(
    version: str, *, without: Iterable[str] = (), defaults: Mapping[str, Any] | None = None, more: str = ""
) -> str:
    """The source of `version`'s flags: without some, with other defaults for some, and with lines of its own."""
    flags = [flag for flag in catalogue_of(version) if flag.name not in set(without)]
    types = {flag.type for flag in flags} - {"int", "float", "str", "bool", "json"}
    converters = "".join(f"def {name}(text):\n    return text\n\n\n" for name in sorted(types))
    lines = [_line(flag, (defaults or {}).get(flag.name, flag.default)) for flag in flags]
    return _HEAD + converters + _CLASS + "".join(f"        {line}\n" for line in (*lines, *more.splitlines()))


def package(version: str, **patches: Any) -> dict[str, str]:
    """The files of a package with such a server_args.py."""
    return {
        "sglang/version.py": f'__version__ = "{version}"\n',
        "sglang/srt/server_args.py": server_args(version, **patches),
    }


def _line(flag: Flag, default: Any) -> str:
    aliases = [name for name in flag.aliases if flag.action != "boolean_optional" or not name.startswith("--no-")]
    parts = [*(repr(name) for name in (flag.name, *aliases)), f"dest={flag.dest!r}"]
    if flag.action in _ACTIONS:
        parts.append(f"action={_ACTIONS[flag.action]}")
    if flag.takes_value and flag.type != "bool":
        parts.append(f"type={'json.loads' if flag.type == 'json' else flag.type}")
    if flag.takes_value and flag.nargs is not None:
        parts.append(f"nargs={flag.nargs!r}")
    if flag.choices is not None:
        parts.append(f"choices={list(flag.choices)!r}")
    if flag.const is not None and flag.action == "store":
        parts.append(f"const={flag.const!r}")
    if flag.required:
        parts.append("required=True")
    if flag.deprecated:
        parts.append(f"help={f'Deprecated: {flag.help}'!r}")
    return f"parser.add_argument({', '.join(parts)}, default={default!r})"
