"""The two lines a scheduler prints about its batches, in every form from 0.4.7 to 0.5.23.

Fields are read by name, so their order does not matter and a field of a later version lands in `extra`.
What the numbers mean under pipeline parallelism: `#running-req` is the micro-batch that was logged; `#token`, token
usage, `#queue-req` and generation throughput belong to the whole scheduler, and every stage prints its own copy of
them. Read in `srt/managers/scheduler.py` (to 0.4.9), `scheduler_metrics_mixin.py` (to 0.5.12) and
`scheduler_components/metrics_reporter.py` (0.5.14+).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_HEAD = re.compile(r"(?P<kind>Decode|Prefill) batch(?: \[(?P<iteration>\d+)\])?[.,]?\s+")
_SPLIT = re.compile(r",\s*(?=\S)")
_REAL = re.compile(r"(\d{1,15}(?:\.\d*)?(?:e[+-]?\d\d?)?)%?", re.ASCII | re.IGNORECASE)
"""A figure of a batch. None is below zero or longer: that is a line which another has broken."""
_GRAPH = re.compile(r"(\w+) graph")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Batch:
    """What both kinds of line have. A field is None where the line lacks it."""

    iteration: int | None = None
    running: int | None = None
    queue: int | None = None
    token_usage: float | None = None
    full_token_usage: float | None = None
    swa_token_usage: float | None = None
    mamba_usage: float | None = None
    graph: bool | None = None
    graph_label: str | None = None
    fwd_occupancy_percent: float | None = None
    fwd_idle_occupancy_percent: float | None = None
    tflops_per_s: float | None = None
    extra: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodeBatch(_Batch):
    """A `Decode batch` line. `token_usage` is a share of the pool, for hybrids the largest of their pools' shares;
    `tokens` counts the full-attention pool there. `graph` says whether this micro-batch was replayed from a graph."""

    tokens: int | None = None
    swa_tokens: int | None = None
    mamba_num: int | None = None
    accept_len: float | None = None
    accept_rate: float | None = None
    tokens_per_s: float | None = None
    preallocated_usage: float | None = None
    prealloc_reqs: int | None = None
    transfer_reqs: int | None = None
    retracted_reqs: int | None = None
    read_gb_per_s: float | None = None
    write_gb_per_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefillBatch(_Batch):
    """A `Prefill batch` line. `running` is the slot's decoding requests before this batch joins them. `graph` is about
    the prefill graph: under pipeline parallelism False is normal. Printed when the batch was formed up to 0.5.8, when
    its result was processed from 0.5.9."""

    new_seqs: int | None = None
    new_tokens: int | None = None
    cached_tokens: int | None = None
    pending_tokens: int | None = None
    input_tokens_per_s: float | None = None
    bootstrap_reqs: int | None = None
    inflight_reqs: int | None = None
    gap_s: float | None = None


_SHARED: dict[str, str] = {
    "#running-req": "running",
    "#queue-req": "queue",
    "token usage": "token_usage",
    "full token usage": "full_token_usage",
    "swa token usage": "swa_token_usage",
    "mamba usage": "mamba_usage",
    "fwd occupancy": "fwd_occupancy_percent",
    "fwd+idle occupancy": "fwd_idle_occupancy_percent",
}
_DECODE: dict[str, str] = _SHARED | {
    "#token": "tokens",
    "#full token": "tokens",
    "#swa token": "swa_tokens",
    "mamba num": "mamba_num",
    "accept len": "accept_len",
    "accept rate": "accept_rate",
    "gen throughput (token/s)": "tokens_per_s",
    "pre-allocated usage": "preallocated_usage",
    "#prealloc-req": "prealloc_reqs",
    "#transfer-req": "transfer_reqs",
    "#retracted-req": "retracted_reqs",
    "est. decode TFLOPS/s (per GPU)": "tflops_per_s",
    "est. read BW (GB/s per GPU)": "read_gb_per_s",
    "est. write BW (GB/s per GPU)": "write_gb_per_s",
}
_PREFILL: dict[str, str] = _SHARED | {
    "#new-seq": "new_seqs",
    "#new-token": "new_tokens",
    "#cached-token": "cached_tokens",
    "#pending-token": "pending_tokens",
    "input throughput (token/s)": "input_tokens_per_s",
    "#unbootstrapped-req": "bootstrap_reqs",
    "#prealloc-req": "bootstrap_reqs",
    "#bootstrap-req": "bootstrap_reqs",
    "#inflight-req": "inflight_reqs",
    "#transferring-req": "inflight_reqs",
    "time": "gap_s",
    "gap_latency": "gap_s",
    "est. prefill TFLOPS/s (per GPU)": "tflops_per_s",
}
_WHOLE = frozenset(
    {"running", "queue", "tokens", "swa_tokens", "mamba_num", "prealloc_reqs", "transfer_reqs", "retracted_reqs"}
    | {"new_seqs", "new_tokens", "cached_tokens", "pending_tokens", "bootstrap_reqs", "inflight_reqs"}
)


def parse_batch(message: str) -> DecodeBatch | PrefillBatch | None:
    """The batch a message reports, or None where it is no batch line. Fields that cannot be read land in `extra`."""
    head = _HEAD.match(message)
    if head is None:
        return None
    decode = head["kind"] == "Decode"
    values = _fields(message[head.end() :], _DECODE if decode else _PREFILL)
    if head["iteration"]:
        values["iteration"] = int(head["iteration"])
    return DecodeBatch(**values) if decode else PrefillBatch(**values)  # type: ignore[arg-type]


def _fields(body: str, names: Mapping[str, str]) -> dict[str, object]:
    values: dict[str, object] = {}
    extra: dict[str, str] = {}
    for part in _SPLIT.split(body.rstrip(" ,\r\n")):
        name, _, text = part.rpartition(": ")
        graph = _GRAPH.fullmatch(name)
        if graph is not None and text in ("True", "False"):
            values["graph"], values["graph_label"] = text == "True", graph[1]
            continue
        number = _number(text)
        attribute = names.get(name)
        if attribute is None or number is None or (attribute in _WHOLE and number != int(number)):
            extra[name or text] = text if name else ""
            continue
        values[attribute] = int(number) if attribute in _WHOLE else number
    _largest_usage(values)
    values["extra"] = extra
    return values


def _number(text: str) -> float | None:
    match = _REAL.fullmatch(text.strip())
    return float(match[1]) if match else None


def _largest_usage(values: dict[str, object]) -> None:
    shares = [values.get(name) for name in ("full_token_usage", "swa_token_usage", "mamba_usage")]
    known = [share for share in shares if isinstance(share, float)]
    if known and "token_usage" not in values:
        values["token_usage"] = max(known)
