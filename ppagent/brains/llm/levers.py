"""What a model may propose to change: a lever that the installed version has, that takes a number, a switch or one of
its own choices, and that no cause declines. Never free text, never who may reach the server or what it loads."""

import re
from collections.abc import Iterable, Sequence

from ppagent.agent.board import Board
from ppagent.causes.cause import Change
from ppagent.changes.commands import Installed, relaunch_command
from ppagent.changes.spelling import lever_name
from ppagent.evidence.facts import Facts
from ppagent.sglang.flags.flag import Catalogue, Flag
from ppagent.sglang.flags.successors import nearest

MOST_CHANGES = 6

_OUT_OF_BOUNDS = re.compile(
    r"trust|host|port|addr|url|key|token(?!s|izer)|path|dir|file|folder|log|dump|crash|debug|secret|ssl|auth|admin"
    r"|remote|plugin|preload|import|hook|lora|download|model_name|served|user|rank\b|nnodes|nccl_so|warmups|template"
    r"|device|load_format|bootstrap|disaggregation|version|delete|ckpt|checkpoint|weight|quant|dtype|precision"
    r"|accept_threshold|parser|return_|truncate|external|watermark|embedding|elastic|ray\b|grpc|http|seed|canary|hidden"
    r"|thinking|sampling|trace|timeout",
    re.IGNORECASE,
)
"""In a flag's or a variable's name: whom the server talks to, what it loads, writes and answers, and who may use it."""

_ENVIRONMENT = re.compile(r"(?:SGLANG|NCCL|OMP|CUDA|FLASHINFER|TRITON)_[A-Z0-9_]{2,60}")
_SIZES = frozenset({"pp_size", "tp_size", "dp_size", "ep_size", "attn_cp_size", "page_size", "max_running_requests"})
_CHOICE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+:-]{0,60}")
"""A choice goes into a command as it is: one that a patched source made up of anything else is none."""
_PLAIN_VALUE = re.compile(r"\d+(?:\.\d+)?(?:,\d+(?:\.\d+)?){0,63}|true|false|[A-Z]{2,12}")
"""Numbers, lists of them, switches, and words like SYS or RING."""


def refusals(change: Change, installed: Installed, board: Board, facts: Facts) -> list[str]:
    """Why the change may not be proposed, in sentences for the model; empty where it may."""
    if installed.catalogue is None:
        return ["SGLang's version is not known, so no flag can be checked"]
    if not (change.set or change.unset or change.env):
        return ["it changes nothing"]
    if len(change.set) + len(change.unset) + len(change.env) > MOST_CHANGES:
        return [f"it changes more than {MOST_CHANGES} things at once"]
    wrong = [why for flag in (*change.set, *change.unset) if (why := _flag_refused(flag, installed.catalogue))]
    wrong = wrong or [
        why for flag, value in change.set.items() if (why := _value_refused(flag, value, installed.catalogue))
    ]
    wrong += [why for name, value in change.env.items() if (why := _variable_refused(name, value))]
    wrong += _declined(change, board, facts, installed.catalogue)
    if wrong:
        return wrong
    refused = relaunch_command(change, installed).refused
    return [f"{installed.words} would refuse it: {refused}"] if refused else []


def changed(set_to: Iterable[tuple[str, str]], unset: Sequence[str], env: Iterable[tuple[str, str]]) -> Change:
    """A change as the model wrote it; a switch may have been set with any spelling of true."""
    written = {flag.strip(): _plain(value) for flag, value in set_to}
    return Change(written, tuple(flag.strip() for flag in unset), {name.strip(): value.strip() for name, value in env})


def numbers_in(change: Change) -> list[float]:
    """Figures that a sentence about the change may name."""
    values = [*change.set.values(), *change.env.values()]
    return [float(number) for value in values for number in re.findall(r"\d+(?:\.\d+)?", value)]


def _plain(value: str) -> str:
    lowered = value.strip().lower()
    return lowered if lowered in ("true", "false") else value.strip() or "true"


def _flag_refused(name: str, catalogue: Catalogue) -> str:
    flag = catalogue.by_spelling.get(name)
    if flag is None:
        close = nearest(name, catalogue) if name.startswith("--") else ()
        return f"this version has no flag {name[:60]}" + (f"; it has {', '.join(close)}" if close else "")
    if flag.stops_with:
        return f"{name} stops the launch"
    if flag.deprecated:
        return f"{name} is deprecated" + (f"; {flag.replaced_by} takes its place" if flag.replaced_by else "")
    if _guarded(flag) or not _takes_plain_values(flag):
        return f"{name} is not for a model to change"
    return ""


def _guarded(flag: Flag) -> bool:
    """Whether any name of the flag is out of bounds: a patched source could let a harmless one set what is guarded."""
    return any(_OUT_OF_BOUNDS.search(name.replace("-", "_")) for name in (flag.dest, *flag.spellings))


def _takes_plain_values(flag: Flag) -> bool:
    return not flag.takes_value or flag.type in ("int", "float", "bool") or bool(flag.choices)


def _value_refused(name: str, value: str, catalogue: Catalogue) -> str:
    flag = catalogue.by_spelling[name]
    if not flag.takes_value:
        return "" if value in ("true", "false") else f"{name} is a switch: set it with true"
    if flag.choices:
        choices = [str(choice) for choice in flag.choices if _CHOICE.fullmatch(str(choice))]
        return "" if value in choices else f"{name} takes one of {', '.join(choices)}"
    if flag.nargs not in (None, "?"):
        return "" if re.fullmatch(r"\d+(?: \d+){0,63}", value) else f"{name} takes whole numbers"
    pattern = r"-?\d+" if flag.type == "int" else r"-?\d+(?:\.\d+)?|true|false"
    if not re.fullmatch(pattern, value):
        return f"{name} takes a number, not {value[:40]!r}"
    if flag.dest in _SIZES and float(value) < 1:
        return f"{name} takes 1 or more"
    return f"{name} takes a share below 1" if "fraction" in flag.dest and not 0 < float(value) < 1 else ""


def _variable_refused(name: str, value: str) -> str:
    if not _ENVIRONMENT.fullmatch(name) or _OUT_OF_BOUNDS.search(name):
        return f"the variable {name[:60]!r} is not for a model to change"
    return "" if _PLAIN_VALUE.fullmatch(value) else f"{name} takes a number or a plain word, not {value[:40]!r}"


def _declined(change: Change, board: Board, facts: Facts, catalogue: Catalogue) -> list[str]:
    """Levers that a supported cause declines, by their names in this version, with its reason."""
    declined = [d for h in board.supported for d in h.judgement.cause.advise(facts).declined]
    named = [(lever_name(d.lever, catalogue), d.why) for d in declined]
    pulled = {*change.set, *change.unset, *change.env}
    return [f"{lever} is declined: {why}" for lever, why in named if lever in pulled]
