"""The value that SGLang's own words give to what takes a flag's place: "set `--ep-size` to the same value as ..."."""

import re

from ppagent.sglang.flags.flag import Catalogue
from ppagent.sglang.flags.history import spans
from ppagent.sglang.launch.options import Option
from ppagent.sglang.legality.case import Case

_SAME_AS = re.compile(r"`?(--[a-z][\w-]*)`? to the same value as `?(--[a-z][\w-]*)")
_HELP = 100


def instead_of(option: Option, name: str, case: Case) -> str:
    """What to write for `option`, in whose place `name` stands, with the value that the option carried or that SGLang
    says; where nobody says one, what has to be decided."""
    flag = case.catalogue.by_spelling.get(name)
    if "=" in name or " " in name or flag is None:
        return name
    values = option.values
    if not flag.takes_value or values or flag.nargs in ("?", "*"):
        return " ".join((name, *values)) if flag.takes_value else name
    value = same_value(option.written, name, case)
    if value is None:
        about = flag.help.split(". ")[0].rstrip(".")[:_HELP]
        return f"{name} VALUE: yours to decide" + (f" ({about})" if about else "")
    if case.given(flag.dest):
        return f"leave it out: {case.written(flag.dest)} is there"
    return f"{name} {value}"


def same_value(written: str, name: str, case: Case) -> str | None:
    """The value of the flag that any version names as the one to copy; None where none does."""
    for text in _texts(written, case.catalogue):
        found = _SAME_AS.search(text)
        source = case.catalogue.match(found[2]).flag if found is not None and found[1] == name else None
        value = case.value(source.dest) if source is not None else None
        if value is not None:
            return str(value)
    return None


def _texts(written: str, catalogue: Catalogue) -> list[str]:
    here = catalogue.by_spelling.get(written)
    flags = ([here] if here is not None else []) + [span.flag for span in reversed(spans(written))]
    return [text for flag in flags for text in (flag.stops_with, flag.help) if text]
