"""What argparse makes of each flag: unknown, ambiguous, mistyped, deprecated."""

from collections.abc import Iterator

from ppagent.evidence.json_text import read_json
from ppagent.sglang.flags.flag import Flag
from ppagent.sglang.launch.options import Option, convert
from ppagent.sglang.legality.case import Case, option_text
from ppagent.sglang.legality.declared import instead_of
from ppagent.sglang.legality.problem import Problem
from ppagent.sglang.legality.renames import meant_by, other_name, versions_with

_KINDS = {"int": "a whole number", "float": "a number", "json": "JSON"}
MOST_UNKNOWN = 40
"""So many are looked up in every version; whoever has more has pasted something else."""
_ANY_TYPE = frozenset({"str", "bool", "nullable_str"})


def every_flag(case: Case) -> Iterator[Problem]:
    """Problems of the single flags, in the order in which they are written."""
    unknown: set[str] = set()
    for option in case.command.options:
        if option.ambiguous:
            yield _ambiguous(option, case)
        elif not option.known:
            if option.written not in unknown and len(unknown) < MOST_UNKNOWN:
                yield _unknown(option, case)
            unknown.add(option.written)
        elif option.flag is not None:
            yield from _known(option, option.flag, case)
    yield from _more_unknown(len(unknown) - MOST_UNKNOWN, case)
    yield from _left_over(case)
    yield from _missing(case)


def _more_unknown(more: int, case: Case) -> Iterator[Problem]:
    if more > 0:
        says = f"{more} more options are none of SGLang {case.catalogue.version}."
        yield Problem("refused", "", says, "", _source(case))


def _source(case: Case) -> str:
    origin = case.catalogue.origin if case.catalogue.origin != "table" else "table by version"
    return f"launch flags of {case.catalogue.version or 'this tree'} ({origin})"


def _ambiguous(option: Option, case: Case) -> Problem:
    listed = ", ".join(option.candidates)
    meant = meant_by(option.written, option.candidates)
    instead = " ".join((meant, *option.values)) if meant else f"one of {listed}"
    says = f"{option.written} could be {listed}; argparse refuses it."
    return Problem("refused", option.written, says, instead, _source(case))


def _unknown(option: Option, case: Case) -> Problem:
    name = other_name(option.written, case.catalogue)
    where = versions_with(option.written)
    says = f"SGLang {case.catalogue.version} has no flag {option.written}" + (f"; {where}." if where else ".")
    gone = "leave it out" if where else ""
    instead = gone if name is None else instead_of(option, name, case)
    return Problem("refused", option.written, says, instead, _source(case))


def _known(option: Option, flag: Flag, case: Case) -> Iterator[Problem]:
    if flag.stops_with:
        instead = instead_of(option, flag.replaced_by, case) if flag.replaced_by else "leave it out"
        yield Problem("refused", option.written, f"{option.written} stops the launch.", instead, _source(case))
        return
    if flag.deprecated:
        yield _deprecated(option, flag, case)
    if option.opaque:
        return
    if not flag.takes_value:
        if option.inline:
            says = f"{option.written} is a switch and takes no value."
            yield Problem("refused", option.written, says, option.written, _source(case))
        return
    if not option.values and flag.nargs not in ("?", "*"):
        says = f"{option.written} needs a value."
        yield Problem("refused", option.written, says, f"{option.written} VALUE", _source(case))
    for value in option.values:
        yield from _value(option, flag, value, case)


def _deprecated(option: Option, flag: Flag, case: Case) -> Problem:
    does_nothing = flag.action == "deprecated"
    effect = "is deprecated and does nothing" if does_nothing else "is deprecated and still works"
    says = f"{option.written} {effect} in {case.catalogue.version}."
    instead = "leave it out" if does_nothing else ""
    instead = instead_of(option, flag.replaced_by, case) if flag.replaced_by else instead
    return Problem("ignored" if does_nothing else "warning", option.written, says, instead, _source(case))


def _value(option: Option, flag: Flag, value: str, case: Case) -> Iterator[Problem]:
    if not _fits(flag, value):
        kind = _KINDS.get(flag.type, "a number such as 8192 or 8k")
        says = f"{option_text(option)}: {value!r} is not {kind}."
        yield Problem("refused", option.written, says, f"{option.written} with {kind}", _source(case))
    elif flag.choices is not None and convert(value, flag) not in flag.choices:
        listed = ", ".join(str(choice) for choice in flag.choices)
        says = f"{option.written} has no choice {value!r} in {case.catalogue.version}."
        yield Problem("refused", option.written, says, f"one of {listed}", _source(case))


def _fits(flag: Flag, value: str) -> bool:
    if flag.type in _ANY_TYPE:
        return True
    if flag.type in ("int", "float", "human_readable_int"):
        return not isinstance(convert(value, flag), str)
    if flag.type == "json":
        try:
            read_json(value)
        except ValueError:
            return False
    return True


def _left_over(case: Case) -> Iterator[Problem]:
    for word in case.command.positionals:
        says = f"{word!r} belongs to no flag; argparse refuses it."
        instead = f"--model-path {word}" if case.command.program[-1:] == ("serve",) else "leave it out"
        yield Problem("refused", word, says, instead, _source(case))


def _missing(case: Case) -> Iterator[Problem]:
    command = case.command
    if command.option("config") is not None or command.untold or not command.program:
        return
    for flag in case.catalogue:
        if flag.required and command.option(flag.dest) is None:
            says = f"{flag.name} is required."
            yield Problem("refused", flag.name, says, f"{flag.name} VALUE", _source(case))
