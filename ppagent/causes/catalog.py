"""The causes this version knows, found by their file names."""

import re
from functools import cache
from importlib import import_module
from pathlib import Path

from ppagent.causes.cause import Cause
from ppagent.errors import UserError

_FILE = re.compile(r"[a-z]{2}\d{3}_\w+")


@cache
def all_causes() -> tuple[Cause, ...]:
    """Every cause, ordered by id. Order carries no meaning: several can hold at once."""
    modules = sorted(p.stem for p in Path(__file__).parent.glob("*.py") if _FILE.fullmatch(p.stem))
    return tuple(import_module(f"ppagent.causes.{name}").CAUSE for name in modules)


def cause_of(cause_id: str) -> Cause:
    """The cause with that id, in any case. Raises UserError when there is none."""
    wanted = cause_id.upper()
    for cause in all_causes():
        if cause.id == wanted:
            return cause
    raise UserError(f"There is no cause {wanted}.", "`ppagent explain` without a name lists them.")


def page(cause: Cause) -> str:
    """The cause's page: its module's docstring."""
    return (import_module(type(cause).__module__).__doc__ or "").strip()
