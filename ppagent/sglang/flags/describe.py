"""A flag, and the difference of two versions of it, in words."""

import json
from collections.abc import Iterator

from ppagent.sglang.flags.flag import Flag

_HOW_MANY: dict[str | int | None, str] = {"?": "at most one value", "*": "any number", "+": "one or more"}


def described(flag: Flag) -> str:
    """Type, number of values and default: "int, default 1". "Unset" often means that the server works it out."""
    if not flag.takes_value:
        return "on/off switch, on by default" if flag.default is True else "on/off switch"
    kind = flag.type if flag.nargs is None else f"{flag.type}, {_HOW_MANY.get(flag.nargs, f'{flag.nargs} values')}"
    if flag.required:
        return f"{kind}, required"
    return f"{kind}, unset by default" if flag.default is None else f"{kind}, default {json.dumps(flag.default)}"


def changes(before: Flag, after: Flag) -> Iterator[str]:
    """What a user of the flag must know of the step from one version to the next."""
    if before.name != after.name:
        yield f"listed as {after.name}"
    gone = [spelling for spelling in before.spellings if spelling not in after.spellings]
    added = [spelling for spelling in after.spellings if spelling not in before.spellings]
    if added:
        yield f"also spelled {', '.join(added)}"
    if gone:
        yield f"no longer spelled {', '.join(gone)}"
    if before.default != after.default and after.takes_value:
        yield f"default {json.dumps(before.default)} -> {json.dumps(after.default)}"
    if (before.type, before.nargs, before.takes_value) != (after.type, after.nargs, after.takes_value):
        yield f"now {described(after)}"
    if before.dest != after.dest:
        yield f"sets {after.dest} instead of {before.dest}"
    if before.choices != after.choices:
        yield from _choice_changes(before.choices or (), after.choices)
    if after.deprecated and not before.deprecated:
        yield f"deprecated; use {after.replaced_by}" if after.replaced_by else "deprecated"
    if after.stops_with and not before.stops_with:
        yield "using it stops the launch"
    if before.stops_with and not after.stops_with:
        yield "using it only warns"


def _choice_changes(before: tuple[object, ...], after: tuple[object, ...] | None) -> Iterator[str]:
    if after is None:
        yield "any value is taken"
        return
    added = [str(choice) for choice in after if choice not in before]
    gone = [str(choice) for choice in before if choice not in after]
    if added:
        yield f"takes {', '.join(added)}" if before else f"takes only {', '.join(added)}"
    if gone:
        yield f"no longer takes {', '.join(gone)}"
