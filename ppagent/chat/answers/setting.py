"""A setting as people write it: flags with values, or "limit 2", "graphs on", "16 requests"."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

_ASSIGNED = re.compile(
    r"(?<!\S)(?P<flag>--?[a-z][\w-]*)(?:\s*=\s*|\s+(?:(?:is|was|were|to|at|of)\s+)?(?!-))(?P<value>[^\s,;?]+(?:,[^\s,;?]+)*)?",
    re.I,
)
_BARE_FLAG = re.compile(r"(?<!\S)(--[a-z][\w-]*)", re.I)
_FIELD = re.compile(
    r"(?<![\w-])(?P<name>[a-z]\w*_\w+)(?:\s*=\s*|\s+(?:(?:is|was|were|to|at|of)\s+)?)(?P<value>[^\s;?]+)", re.I
)
_LIMIT = re.compile(r"\b(?:limit|micro-?\s?batch(?:\s?size)?)\s*(?:of|to|at|=|is|:)?\s*(?P<n>\d+)", re.I)
_DEPTH = re.compile(
    r"(?<!-)\b(?<!speculative )(?<!draft )(?<!queue )(?:async(?:hronous)?\s+)?(?:batch\s+)?depth"
    r"\s*(?:of|to|at|is|=|:)?\s*(?P<n>\d+)",
    re.I,
)
_GRAPHS_ON = re.compile(
    r"(?:cuda\s+)?graphs?\s+(?:were\s+|are\s+|turned\s+)?(?:on|enabled)\b"
    r"|(?<!out )(?:enabled?|turn(?:ed)? on|use|with|add|and)\s+(?:the\s+|decode\s+)*(?:cuda\s+)?graphs?\b(?!\s+off)",
    re.I,
)
_GRAPHS_OFF = re.compile(
    r"(?:cuda\s+)?graphs?\s+(?:were\s+|are\s+|turned\s+)?(?:off|disabled)\b"
    r"|(?:disabled?|turn(?:ed)? off|without|no|drop)\s+(?:the\s+|decode\s+)*(?:cuda\s+)?graphs?\b",
    re.I,
)
_DROPPED = re.compile(r"\b(?:without|drop(?:ping|ped)?|remov(?:e|ing|ed)|unset(?:ting)?|no)\s+(--[a-z][\w-]*)", re.I)
_LIST = r"\d+(?:(?:\s*[,/]\s*|\s+)\d+){2,}|\d+\s*[,/]\s*\d+"
_SPLIT = re.compile(rf"\b(?:split|partition(?:ed)?|layers?)\D{{0,20}}?(?P<layers>{_LIST})", re.I)
_BARE_SPLIT = re.compile(
    rf"(?<![\w,/.=-])(?P<layers>{_LIST})(?![\w/.%]|,\d)(?:\s+(?:split|partition|layers?)\b)?", re.I
)
_LOAD = re.compile(
    r"\bC\s*=\s*(?P<c>\d+)|\b(?P<n>\d+)\s+(?:concurrent\s+)?(?:requests?|users?|clients?|streams?|in flight)"
    r"|\bconcurrency\s*(?:of|to|at|=|:)?\s*(?P<m>\d+)",
    re.I,
)
_CONCERNED = re.compile(
    r"\b(?:split|partition(?:ed)?|layers?|(?:the\s+)?slot limit|micro-?\s?batch(?:\s?size)?)\b", re.I
)
_ENV = re.compile(r"\b(?P<name>[A-Z][A-Z0-9]*_[A-Z0-9_]+)\s*=\s*(?P<value>\S+)")
_TAIL = ".!?)"

SETTING_PATTERNS = (
    _ENV,
    _FIELD,
    _DROPPED,
    _ASSIGNED,
    _BARE_FLAG,
    _LIMIT,
    _DEPTH,
    _GRAPHS_OFF,
    _GRAPHS_ON,
    _SPLIT,
    _LOAD,
    _BARE_SPLIT,
    _CONCERNED,
)
"""Everything that a setting is read by, in the order in which it takes its words out of a text."""
MANY = (_ENV, _FIELD, _DROPPED, _ASSIGNED, _BARE_FLAG, _CONCERNED)
"""Those of them that are read wherever they stand, the others once."""
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
    numbers: tuple[int, ...] = ()
    """A list of numbers that nothing says the meaning of: a split, where a setting is asked about."""
    said: str = ""
    """The words that it was read from."""
    overruled: tuple[str, ...] = ()
    """What was named twice with different values, as it was said in words: the flag beside it counts."""

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
    flagged = {"limit": limit, "depth": depth}
    worded = {"limit": _number(_LIMIT.search(text)), "depth": _number(_DEPTH.search(text), least=0)}
    named = tuple(dict.fromkeys(flag.lower().replace("_", "-") for flag in _BARE_FLAG.findall(text)))
    return Setting(
        limit=limit if limit is not None else worded["limit"],
        depth=depth if depth is not None else worded["depth"],
        graphs=_graphs(text, switches, dropped),
        split=_layers(split or (found["layers"] if (found := _SPLIT.search(text)) else "")),
        concurrency=int(next(value for value in load.groups() if value)) if load else None,
        others=assigned,
        dropped=tuple(flag for flag in dropped if flag not in GRAPH_SWITCHES),
        named=tuple(flag for flag in named if flag not in assigned),
        numbers=_bare_numbers(text),
        said=text,
        overruled=tuple(f"{name} {value}" for name, value in worded.items() if _loses(value, flagged[name])),
    )


def _loses(said: int | None, flag: int | None) -> bool:
    """Whether a flag beside it has another value."""
    return None not in (said, flag) and said != flag


def taken_for_split(setting: Setting) -> Setting:
    """The setting where a list of numbers that stands by itself is the layers of each stage."""
    return replace(setting, split=setting.numbers) if setting.numbers and not setting.split else setting


def _assignments(text: str) -> Iterator[tuple[str, str]]:
    """Flags and variables with a value; a flag that is to be dropped has none."""
    dropped = {flag.lower() for flag in _DROPPED.findall(text)}
    for match in _ENV.finditer(text):
        yield match["name"], match["value"].rstrip(_TAIL)
    for match in _FIELD.finditer(text):
        value = match["value"].rstrip(_TAIL)
        if not match["name"].isupper() and ("=" in match.group() or is_value(value)):
            yield "--" + match["name"].lower().replace("_", "-"), value
    for match in _ASSIGNED.finditer(text):
        value = (match["value"] or "").rstrip(_TAIL)
        flag = match["flag"].lower().replace("_", "-")
        if flag.startswith("--") and flag not in dropped and (is_value(value) or "=" in match.group()):
            yield flag, value


def is_value(word: str) -> bool:
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


def _bare_numbers(text: str) -> tuple[int, ...]:
    """The list that is left when everything else was read."""
    for pattern in SETTING_PATTERNS[: SETTING_PATTERNS.index(_BARE_SPLIT)]:
        text = pattern.sub(" ; ", text)
    found = _BARE_SPLIT.search(text)
    return _layers(found["layers"]) if found else ()


def _layers(text: str) -> tuple[int, ...]:
    parts = re.split(r"\s*[,/]\s*|\s+", text.strip())
    return tuple(int(part) for part in parts) if all(part.isdecimal() for part in parts) else ()


def _whole(text: str, least: int = 1) -> int | None:
    return int(text) if text.isdecimal() and int(text) >= least else None


def _number(match: re.Match[str] | None, least: int = 1) -> int | None:
    return _whole(match["n"], least) if match else None
