"""Flags as rows of JSON: only what differs from a plain flag is written."""

from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any

from ppagent.sglang.flags.flag import Flag

_DEFAULTS: dict[str, Any] = {f.name: f.default for f in fields(Flag) if f.default is not MISSING}
_TUPLES = ("aliases", "choices")


def to_row(flag: Flag) -> dict[str, Any]:
    """The values of `flag` that a flag does not have anyway."""
    values = {f.name: getattr(flag, f.name) for f in fields(Flag)}
    row = {k: v for k, v in values.items() if k not in _DEFAULTS or not _same(v, _DEFAULTS[k])}
    return {k: list(v) if k in _TUPLES and v is not None else v for k, v in row.items()}


def from_row(row: dict[str, Any]) -> Flag:
    """The flag of a row. Raises TypeError for a row that is not one."""
    known = {k: tuple(v) if k in _TUPLES and v is not None else v for k, v in row.items()}
    build: Callable[..., Flag] = Flag
    return build(**known)


def difference(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """What must be written over `before` to get `after`; a value that is gone is written as a plain flag's."""
    changed = {k: v for k, v in after.items() if k not in before or not _same(before[k], v)}
    gone = {k: _DEFAULTS[k] for k in before if k not in after}
    return {**changed, **{k: list(v) if isinstance(v, tuple) else v for k, v in gone.items()}}


def _same(a: Any, b: Any) -> bool:
    """Equality that tells False from 0 and 1 from 1.0, inside lists too."""
    return a == b and repr(a) == repr(b)
