"""The two lines a scheduler prints about its batches, in every form from 0.4.7 to 0.5.23.

Fields are read by name, so their order does not matter, and those that nothing asks for are passed over.
What the numbers mean under pipeline parallelism: `#running-req` is the micro-batch that was logged; `#token`, token
usage, `#queue-req` and generation throughput belong to the whole scheduler, and every stage prints its own copy of
them. Read in `srt/managers/scheduler.py` (to 0.4.9), `scheduler_metrics_mixin.py` (to 0.5.12) and
`scheduler_components/metrics_reporter.py` (0.5.14+).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_HEAD = re.compile(r"(?P<kind>Decode|Prefill) batch(?: \[\d+\])?[.,]?\s+")
_SPLIT = re.compile(r",\s*(?=\S)")
_REAL = re.compile(r"(\d{1,15}(?:\.\d*)?(?:e[+-]?\d\d?)?)%?", re.ASCII | re.IGNORECASE)
"""A figure of a batch. None is below zero or longer: that is a line which another has broken."""
_GRAPH = re.compile(r"\w+ graph")
_POOLS = frozenset({"full token usage", "swa token usage", "mamba usage"})
"""Shares of a hybrid's pools, which has no `token usage` of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodeBatch:
    """A `Decode batch` line; a field is None where the line lacks it. `token_usage` is a share of the pool, for hybrids
    the largest of their pools' shares; `tokens` counts the full-attention pool there. `graph` says whether this
    micro-batch was replayed from a graph."""

    running: int | None = None
    queue: int | None = None
    tokens: int | None = None
    token_usage: float | None = None
    graph: bool | None = None
    accept_len: float | None = None
    accept_rate: float | None = None
    tokens_per_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefillBatch:
    """A `Prefill batch` line; a field is None where the line lacks it. Printed when the batch was formed up to 0.5.8,
    when its result was processed from 0.5.9."""

    queue: int | None = None
    new_seqs: int | None = None
    new_tokens: int | None = None
    cached_tokens: int | None = None
    pending_tokens: int | None = None
    input_tokens_per_s: float | None = None


_DECODE: dict[str, str] = {
    "#running-req": "running",
    "#queue-req": "queue",
    "#token": "tokens",
    "#full token": "tokens",
    "token usage": "token_usage",
    "accept len": "accept_len",
    "accept rate": "accept_rate",
    "gen throughput (token/s)": "tokens_per_s",
}
_PREFILL: dict[str, str] = {
    "#queue-req": "queue",
    "#new-seq": "new_seqs",
    "#new-token": "new_tokens",
    "#cached-token": "cached_tokens",
    "#pending-token": "pending_tokens",
    "input throughput (token/s)": "input_tokens_per_s",
}
_WHOLE = frozenset({"running", "queue", "tokens", "new_seqs", "new_tokens", "cached_tokens", "pending_tokens"})


def parse_batch(message: str) -> DecodeBatch | PrefillBatch | None:
    """The batch a message reports, or None where it is no batch line. A field that cannot be read is None."""
    head = _HEAD.match(message)
    if head is None:
        return None
    parts = _SPLIT.split(message[head.end() :].rstrip(" ,\r\n"))
    if head["kind"] == "Prefill":
        return PrefillBatch(**_figures(parts, _PREFILL))  # type: ignore[arg-type]
    values = _fullest(parts) | _figures(parts, _DECODE) | _graph(parts)
    return DecodeBatch(**values)  # type: ignore[arg-type]


def _figures(parts: list[str], names: Mapping[str, str]) -> dict[str, float]:
    values: dict[str, float] = {}
    for part in parts:
        name, _, text = part.rpartition(": ")
        attribute, number = names.get(name), _number(text)
        if attribute is not None and number is not None and (attribute not in _WHOLE or number == int(number)):
            values[attribute] = int(number) if attribute in _WHOLE else number
    return values


def _graph(parts: list[str]) -> dict[str, float]:
    for part in parts:
        name, _, text = part.rpartition(": ")
        if text in ("True", "False") and _GRAPH.fullmatch(name):
            return {"graph": text == "True"}
    return {}


def _fullest(parts: list[str]) -> dict[str, float]:
    """The usage of a hybrid: that of its fullest pool."""
    told = (part.rpartition(": ") for part in parts)
    shares = [number for name, _, text in told if name in _POOLS and (number := _number(text)) is not None]
    return {"token_usage": max(shares)} if shares else {}


def _number(text: str) -> float | None:
    match = _REAL.fullmatch(text.strip())
    return float(match[1]) if match else None
