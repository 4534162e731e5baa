"""A flag while it is being read: what the source states, before argparse's own defaults are filled in."""

from dataclasses import dataclass
from typing import Any, Final

from ppagent.sglang.flags.actions import Behaviour, behaviour_of
from ppagent.sglang.flags.evaluate import Evaluator
from ppagent.sglang.flags.flag import Flag, FlagValue
from ppagent.sglang.flags.gaps import Gaps
from ppagent.sglang.flags.names import SUPPRESSED
from ppagent.sglang.flags.objects import Class, External, Function, Instance, Member, NotStatic
from ppagent.sglang.flags.wording import replacement_in, says_deprecated


class _Absent:
    """No value is stated; None is a value."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()
_TYPES = {"json.loads": "json"}


_KINDS: dict[str, type | tuple[type, ...]] = {
    "dest": str,
    "cli_name": str,
    "new_flag": str,
    "error_message": str,
    "aliases": (list, tuple),
    "nargs": (str, int),
    "action_kwargs": dict,
}


@dataclass
class FlagSpec:
    """Keyword arguments of one flag, evaluated."""

    spellings: list[str]
    dest: str = ""
    type: str = "str"
    default: Any = ABSENT
    choices: Any = None
    nargs: Any = ABSENT
    const: Any = None
    action: Any = None
    help: str = ""
    group: str = ""
    required: bool = False
    new_flag: str | None = None
    error_message: str | None = None


def checked(keyword: str, value: Any) -> Any:
    """`value`, if it is of the kind that a keyword takes. Raises NotStatic in a tree where it is not."""
    kind = _KINDS.get(keyword)
    if kind is not None and value is not None and not isinstance(value, kind):
        raise NotStatic(f"{value!r} is not of the kind that it takes")
    return value


def finish(spec: FlagSpec, evaluator: Evaluator, gaps: Gaps) -> Flag:
    """The flag as the version's parser would hold it."""
    behaviour = _behaviour(spec, evaluator, gaps)
    hidden = spec.help == SUPPRESSED
    text = "" if hidden else " ".join(spec.help.split())
    deprecated = behaviour.deprecated or says_deprecated(text)
    return Flag(
        name=spec.spellings[0],
        dest=spec.dest or _dest(spec.spellings),
        aliases=_aliases(spec.spellings, behaviour),
        type="bool"
        if behaviour.action in ("store_true", "store_false", "boolean_optional", "deprecated")
        else spec.type,
        default=plain(
            behaviour.default if spec.default is ABSENT else None if spec.default == SUPPRESSED else spec.default
        ),
        choices=_choices(spec, gaps),
        nargs=behaviour.nargs if spec.nargs is ABSENT else spec.nargs,
        action="store" if behaviour.action == "store_const" and spec.choices else behaviour.action,
        const=plain(behaviour.const if spec.const is None else spec.const),
        help=text.replace("%%", "%"),
        group=spec.group,
        hidden=hidden,
        deprecated=deprecated,
        replaced_by=(spec.new_flag or replacement_in(spec.error_message or text)) if deprecated else None,
        required=spec.required,
        stops_with=spec.error_message or (text if behaviour.stops else ""),
    )


def plain(value: Any) -> FlagValue:
    """`value` as JSON holds it: tuples and sets become lists, enum members their values."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Member():
            return plain(value.value)
        case list() | tuple():
            return [plain(item) for item in value]
        case set() | frozenset():
            return [plain(item) for item in sorted(value, key=str)]
        case dict():
            return {str(key): plain(item) for key, item in value.items()}
        case Instance():
            return value.of.node.name
    return str(getattr(value, "dotted", value))


def type_name(value: Any) -> str:
    """The name of an evaluated `type=`: a builtin, json, or the version's own converter."""
    match value:
        case type():
            return value.__name__
        case External(dotted):
            return _TYPES.get(dotted, dotted)
        case Function(node):
            return node.name
        case Class(node):
            return node.name
    return "str"


def _behaviour(spec: FlagSpec, evaluator: Evaluator, gaps: Gaps) -> Behaviour:
    try:
        return behaviour_of(spec.action, evaluator)
    except NotStatic as reason:
        gaps.of_flag(spec.spellings[0], f"What {spec.spellings[0]} takes is not certain: {reason}.")
        return Behaviour("store")


def _choices(spec: FlagSpec, gaps: Gaps) -> tuple[FlagValue, ...] | None:
    value = plain(spec.choices)
    if value is None or isinstance(value, list):
        return None if value is None else tuple(value)
    if isinstance(value, dict):
        return tuple(value)
    gaps.of_flag(spec.spellings[0], f"The choices of {spec.spellings[0]} cannot be told from the source.")
    return None


def _aliases(spellings: list[str], behaviour: Behaviour) -> tuple[str, ...]:
    """Other spellings, in argparse's order: a boolean optional action puts `--no-x` after each `--x`."""
    if behaviour.action != "boolean_optional":
        return tuple(spellings[1:])
    every: list[str] = []
    for spelling in spellings:
        every += [spelling, *(["--no-" + spelling[2:]] if spelling.startswith("--") else [])]
    return tuple(every[1:])


def _dest(spellings: list[str]) -> str:
    """The field that argparse derives from the first long spelling."""
    long = next((s for s in spellings if s.startswith("--")), spellings[0])
    return long.lstrip("-").replace("-", "_")
