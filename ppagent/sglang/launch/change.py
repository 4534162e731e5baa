"""What is to be changed in a launch, and which of its options that concerns."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ppagent.errors import UserError
from ppagent.sglang.flags.flag import Catalogue, Flag, FlagValue
from ppagent.sglang.launch.command import LaunchCommand, arguments_of
from ppagent.sglang.launch.options import Option
from ppagent.sglang.launch.spelling import canonical_dest


@dataclass(frozen=True)
class Change:
    """What to change. A switch is set with "true"; "false" takes it away. Several values of one flag: "1 2 4"."""

    set: Mapping[str, str] = field(default_factory=dict)
    unset: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)


class CannotEdit(UserError):
    """The text cannot be changed by itself without risking another meaning."""

    def __init__(self, why: str) -> None:
        super().__init__(f"This launch text cannot be edited safely: {why}.", "Change it by hand.")


def intended_args(command: LaunchCommand, change: Change, catalogue: Catalogue | None) -> dict[str, FlagValue]:
    """The arguments after a change, without looking at the text."""
    options = list(command.options)
    for name in change.unset:
        options = [option for option in options if not is_of(option, name, flag_named(name, catalogue))]
    for name, value in change.set.items():
        flag = flag_named(name, catalogue)
        spelling, values = wanted(name, value, flag, command)
        options = [option for option in options if not sets_same(option, name, flag)]
        if spelling:
            word = command.site.arguments[0] if command.site.arguments else command.site.program[0]
            dest = canonical_dest(flag.dest if flag else name)
            options.append(Option(word, spelling, dest, values, (), spelling, flag))
    return arguments_of(options)


def flag_named(name: str, catalogue: Catalogue | None) -> Flag | None:
    return catalogue.match(name).flag if catalogue is not None else None


def is_of(option: Option, name: str, flag: Flag | None) -> bool:
    """Whether `option` is the flag `name`, however it is spelled; the opposite switch of a pair is not."""
    if option.written == name or (option.flag is not None and option.flag == flag):
        return True
    if option.ambiguous:
        return flag is not None and any(spelling in flag.spellings for spelling in option.candidates)
    if option.flag is None or flag is None:
        return option.dest == canonical_dest(flag.dest if flag else name)
    return option.flag.dest == flag.dest and option.flag.takes_value and flag.takes_value


def sets_same(option: Option, name: str, flag: Flag | None) -> bool:
    """Whether setting `name` has to replace `option`: the same flag, or another one of the same field."""
    same_field = flag is not None and option.known and option.dest == canonical_dest(flag.dest)
    return same_field or is_of(option, name, flag)


def wanted(name: str, value: str, flag: Flag | None, command: LaunchCommand) -> tuple[str, tuple[str, ...]]:
    """The option to be written and its values; an empty spelling where the option has to go."""
    if flag is None:
        present = [option for option in command.options if is_of(option, name, None)]
        if value not in ("true", "false") or any(option.values for option in present):
            return name, (value,)
        return (name if value == "true" else "", ())
    if flag.takes_value:
        return name, tuple(value.split()) if flag.nargs not in (None, "?") else (value,)
    if value != "false":
        return name, ()
    negated = next((alias for alias in flag.aliases if alias.startswith("--no-")), "")
    return (negated if flag.action == "boolean_optional" else "", ())
