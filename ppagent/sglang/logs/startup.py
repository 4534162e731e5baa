"""Readers of the lines a server prints while it starts: arguments, weights, KV pools, graphs, capacity.

`STARTUP_FACTS` pairs a cheap mark with its reader. Read in `model_runner.py`, `memory_pool.py`, `scheduler.py`,
`cuda_graph_setup.py` and `kv_pool_runtime.py` of 0.4.7 to 0.5.23. Warnings and choices (graph disabled,
cap reduced, attention backend) are troubles, not facts: see `trouble.py`.
"""

import re
from collections.abc import Callable

from ppagent.sglang.logs.prefix import LogLine
from ppagent.sglang.logs.server_args import parse_server_args
from ppagent.sglang.logs.startup_facts import (
    ArgsFact,
    Capacity,
    Edge,
    Fact,
    GraphCapture,
    GraphPhase,
    KvPool,
    PoolEnd,
    WeightLoad,
)


def _number(message: str, name: str) -> float | None:
    match = re.search(rf"(?i)\b{name}[=:] ?(-?\d{{1,15}}(?:\.\d+)?)(?!\d)", message)
    return float(match[1]) if match else None


def _whole(message: str, name: str) -> int | None:
    number = _number(message, name)
    return None if number is None else int(number)


def _edge(message: str) -> Edge:
    return "end" if re.search(r"\bends?\b[. ]", message) else "begin"


def _args(line: LogLine) -> ArgsFact | None:
    args = parse_server_args(line.message)
    return None if args is None else ArgsFact(ranks=line.ranks, at=line.at, args=args)


def _weights(line: LogLine) -> WeightLoad | None:
    message = line.message
    if "avail mem=" not in message:  # 0.5.18+: a later commit of the weights says `Load weight end.` as well
        return None
    return WeightLoad(ranks=line.ranks, at=line.at, edge=_edge(message), used_gib=_number(message, "mem usage"))


def _kv(line: LogLine) -> KvPool | None:
    message = line.message
    match = re.search(r"KV (?:Cache is|cache) allocated\.|KV Cache VA upper bound\.", message)
    tokens = _whole(message, "#tokens") or _whole(message, "tokens")
    if match is None or tokens is None:
        return None
    k_gib, v_gib, whole_gib = (_number(message, f"{name} size") for name in ("K", "V", "KV"))
    return KvPool(
        ranks=line.ranks,
        at=line.at,
        tokens=tokens,
        total_gib=whole_gib if whole_gib is not None else (k_gib or 0.0) + (v_gib or 0.0),
        upper_bound="upper bound" in match[0],
        avail_gib=_number(message, "avail mem"),
    )


def _pool_end(line: LogLine) -> PoolEnd | None:
    avail_gib = _number(line.message, "avail mem")
    return None if avail_gib is None else PoolEnd(ranks=line.ranks, at=line.at, avail_gib=avail_gib)


def _phase(name: str) -> GraphPhase:
    """Which graphs a capture line's name stands for; an unmarked one is the target's decode graphs."""
    words = name.lower()
    draft = "draft" in words
    if "extend" in words:
        return "draft_extend"
    if "prefill" in words or "piecewise" in words:
        return "draft_prefill" if draft else "prefill"
    if "verify" in words:
        return "draft_verify" if draft else "verify"
    return "draft" if draft else "decode"


def _capture(line: LogLine) -> GraphCapture | None:
    message = line.message
    listed = re.match(r"Capture (?:cuda|cpu|npu|xpu) graph (bs|num tokens) \[([\d, ]*)\]", message)
    if listed is not None:
        phase: GraphPhase = "decode" if listed[1] == "bs" else "prefill"
        return GraphCapture(ranks=line.ranks, at=line.at, phase=phase, edge="sizes", sizes=_sizes(listed[2]))
    named = re.match(r"Capture (?P<name>[\w -]{0,60}?) ?(?:\w+ graph )?\b(?P<edge>begin|end)\b", message)
    if named is None:
        return None
    sizes = re.search(r"\b(?:bs|num_tokens)=\[([\d, ]*)\]", message)
    return GraphCapture(
        ranks=line.ranks,
        at=line.at,
        phase=_phase(named["name"]),
        edge="end" if named["edge"] == "end" else "begin",
        sizes=_sizes(sizes[1]) if sizes else (),
        used_gib=_number(message, "mem usage"),
        avail_gib=_number(message, "avail mem"),
    )


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(int(size) for size in re.findall(r"\b\d{1,9}\b", text))


def _capacity(line: LogLine) -> Capacity | None:
    message = line.message
    tokens = _whole(message, "max_total_num_tokens")
    if tokens is None or not message.startswith("max_total_num_tokens="):
        return None
    return Capacity(
        ranks=line.ranks,
        at=line.at,
        max_total_num_tokens=tokens,
        chunked_prefill_size=_whole(message, "chunked_prefill_size"),
        max_running_requests=_whole(message, "max_running_requests"),
        context_len=_whole(message, "context_len"),
        avail_gib=_number(message, r"available_\w+_mem"),
    )


STARTUP_FACTS: tuple[tuple[bytes, Callable[[LogLine], Fact | None]], ...] = (
    (b"server_args=", _args),
    (b"Load weight ", _weights),
    (b"KV Cache ", _kv),
    (b"KV cache allocated.", _kv),
    (b"Capture ", _capture),
    (b"Memory pool end.", _pool_end),
    (b"max_total_num_tokens=", _capacity),
)
