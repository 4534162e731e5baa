"""How changes are compared: by canonical spelling, ranges and wildcards understood."""

import re
from collections.abc import Iterable

from ppagent.sglang.launch.spelling import canonical_dest

_RANGE = re.compile(r"(-?\d+(?:\.\d+)?)\.\.(-?\d+(?:\.\d+)?)")

SAME_LEVER = {
    "max_micro_batch_size": "pp_max_micro_batch_size",
    "cuda_graph_max_bs": "cuda_graph_max_bs_decode",
    "cuda_graph_bs": "cuda_graph_bs_decode",
    "disable_decode_cuda_graph": "disable_cuda_graph",
}
"""Spellings of one lever in different versions."""


def lever(flag: str) -> str:
    """The name under which two spellings of one flag are the same."""
    dest = canonical_dest(flag)
    return SAME_LEVER.get(dest, dest)


def value_fits(value: str, wanted: str) -> bool:
    """Whether a value is the one wanted: equal, within "a..b", or anything for "*"."""
    if wanted == "*" or value.strip().lower() == wanted.strip().lower():
        return True
    bounds = _RANGE.fullmatch(wanted.strip())
    number, target = _number(value), _number(wanted)
    if bounds is not None and number is not None:
        return float(bounds[1]) <= number <= float(bounds[2])
    return number is not None and number == target


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def levers(flags: Iterable[str]) -> frozenset[str]:
    return frozenset(lever(flag) for flag in flags)
