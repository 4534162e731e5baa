"""A setting as people write it: flags with values, or "limit 2", "graphs on", "16 requests"."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

_ASSIGNED = re.compile(
    r"(?<!\S)(?P<flag>--?[a-z][\w-]*)(?:\s*=\s*|\s+(?:(?:is|was|were|to|at|of)\s+)?(?!-))(?P<value>[^\s,;?]+(?:,[^\s,;?]+)*)?",
    re.I,
)
_BARE_FLAG = re.compile(r"(?<!\S)(--[a-z][\w-]*)", re.I)
_FIELD = re.compile(
    r"(?<![\w-])(?P<name>[a-z]\w*_\w+)(?:\s*=\s*|\s+(?:(?:is|was|were|to|at|of)\s+)?)(?P<value>[^\s;?]+)", re.I
)
_LIMIT = re.compile(r"\b(?:limit|micro-?\s?batch(?:\s?size)?)\s*(?:of|to|at|=|is|:)?\s*(?P<n>\d+)", re.I)
_DEPTH = re.compile(r"\basync(?:hronous)?\s+(?:batch\s+)?depth\s*(?:of|to|at|=|:)?\s*(?P<n>\d+)", re.I)
_GRAPHS_ON = re.compile(
    r"graphs?\s+(?:were\s+)?on\b|(?:enable|turn on|use|with)\s+(?:the\s+)?(?:cuda\s+)?graphs?", re.I
)
_GRAPHS_OFF = re.compile(r"graphs?\s+(?:were\s+)?off\b|(?:disable|turn off|without)\s+(?:cuda\s+)?graphs?", re.I)
_DROPPED = re.compile(r"\b(?:without|drop(?:ping|ped)?|remov(?:e|ing|ed)|unset(?:ting)?|no)\s+(--[a-z][\w-]*)", re.I)
_SPLIT = re.compile(r"\b(?:split|partition(?:ed)?|layers?)\D{0,20}?(?P<layers>\d+(?:\s*,\s*\d+)+)", re.I)
_LOAD = re.compile(
    r"\bC\s*=\s*(?P<c>\d+)|\b(?P<n>\d+)\s+(?:concurrent\s+)?(?:requests?|users?|clients?|streams?|in flight)"
    r"|\bconcurrency\s*(?:of|to|at|=|:)?\s*(?P<m>\d+)",
    re.I,
)
_ENV = re.compile(r"\b(?P<name>[A-Z][A-Z0-9]*_[A-Z0-9_]+)\s*=\s*(?P<value>\S+)")
_TAIL = ".!?)"

SLOT_LIMIT = ("--pp-max-micro-batch-size", "--max-micro-batch-size")
DEPTH = "--pp-async-batch-depth"
GRAPH_SWITCHES = ("--disable-cuda-graph", "--disable-decode-cuda-graph")
PARTITION = "SGLANG_PP_LAYER_PARTITION"
_FALSE = frozenset({"false", "0", "no", "off"})


@dataclass(frozen=True)
class Setting:
    """What is to be set. `limit` and the like are what the pipeline model knows; `others` are flags it does not."""

    limit: int | None = None
    depth: int | None = None
    graphs: bool | None = None
    split: tuple[int, ...] = ()
    concurrency: int | None = None
    others: Mapping[str, str] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    """Other flags to leave out."""
    named: tuple[str, ...] = ()
    """Flags named without a value."""

    @property
    def modelled(self) -> bool:
        """Whether a setting is named that the pipeline model knows."""
        return any(value is not None for value in (self.limit, self.depth, self.graphs)) or bool(self.split)

    @property
    def empty(self) -> bool:
        """Whether no setting is named; a load alone is none."""
        return not (self.modelled or self.others or self.dropped)

    @property
    def text(self) -> str:
        """The setting in a few words."""
        parts = [f"limit {self.limit}"] if self.limit is not None else []
        parts += [f"async depth {self.depth}"] if self.depth is not None else []
        parts += [f"graphs {'on' if self.graphs else 'off'}"] if self.graphs is not None else []
        parts += ["layers " + ",".join(map(str, self.split))] if self.split else []
        parts += [f"{flag} {value}" for flag, value in self.others.items()]
        return ", ".join([*parts, *(f"without {flag}" for flag in self.dropped)])


def read_setting(text: str) -> Setting:
    """The setting that `text` speaks of; an empty one where it speaks of none."""
    assigned = dict(_assignments(text))
    dropped = tuple(flag.lower().replace("_", "-") for flag in _DROPPED.findall(text))
    limit = next((_whole(assigned.pop(flag)) for flag in SLOT_LIMIT if flag in assigned), None)
    depth = _whole(assigned.pop(DEPTH, ""), least=0)
    split = assigned.pop(PARTITION, "")
    switches = {flag: assigned.pop(flag) for flag in GRAPH_SWITCHES if flag in assigned}
    load = _LOAD.search(text)
    named = tuple(dict.fromkeys(flag.lower().replace("_", "-") for flag in _BARE_FLAG.findall(text)))
    return Setting(
        limit=limit if limit is not None else _number(_LIMIT.search(text)),
        depth=depth if depth is not None else _number(_DEPTH.search(text), least=0),
        graphs=_graphs(text, switches, dropped),
        split=_layers(split or (found["layers"] if (found := _SPLIT.search(text)) else "")),
        concurrency=int(next(value for value in load.groups() if value)) if load else None,
        others=assigned,
        dropped=tuple(flag for flag in dropped if flag not in GRAPH_SWITCHES),
        named=tuple(flag for flag in named if flag not in assigned),
    )


def _assignments(text: str) -> Iterator[tuple[str, str]]:
    """Flags and variables with a value; a flag that is to be dropped has none."""
    dropped = {flag.lower() for flag in _DROPPED.findall(text)}
    for match in _ENV.finditer(text):
        yield match["name"], match["value"].rstrip(_TAIL)
    for match in _FIELD.finditer(text):
        value = match["value"].rstrip(_TAIL)
        if not match["name"].isupper() and ("=" in match.group() or _is_value(value)):
            yield "--" + match["name"].lower().replace("_", "-"), value
    for match in _ASSIGNED.finditer(text):
        value = (match["value"] or "").rstrip(_TAIL)
        flag = match["flag"].lower().replace("_", "-")
        if flag.startswith("--") and flag not in dropped and (_is_value(value) or "=" in match.group()):
            yield flag, value


def _is_value(word: str) -> bool:
    """Whether a word behind a flag is its value and not the next word of the sentence."""
    return bool(re.search(r"\d", word)) or word.lower() in ("true", "false", "on", "off")


def _graphs(text: str, switches: Mapping[str, str], dropped: tuple[str, ...]) -> bool | None:
    if any(flag in GRAPH_SWITCHES for flag in dropped):
        return True
    for value in switches.values():
        return value.lower() in _FALSE
    if _GRAPHS_OFF.search(text):
        return False
    return True if _GRAPHS_ON.search(text) else None


def _layers(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    return tuple(int(part) for part in parts) if all(part.isdecimal() for part in parts) else ()


def _whole(text: str, least: int = 1) -> int | None:
    return int(text) if text.isdecimal() and int(text) >= least else None


def _number(match: re.Match[str] | None, least: int = 1) -> int | None:
    return _whole(match["n"], least) if match else None
