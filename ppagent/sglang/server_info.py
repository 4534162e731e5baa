"""What `/server_info` (`/get_server_info` up to 0.5.5) says: the resolved arguments and each scheduler's state.

The body holds the resolved arguments at its top and, per DP rank, the arguments again as the scheduler sees them. The
two differ: `pp_max_micro_batch_size` at the top stays null, its effective value is the scheduler's (0.5.23). Only stage
0 answers. Read in `srt/entrypoints/http_server.py` and `Scheduler.get_internal_state` of 0.4.7 to 0.5.23.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ppagent.errors import ToolError
from ppagent.evidence.json_text import read_json
from ppagent.sglang.logs.server_args import MASK, is_secret

_NOT_ARGS = frozenset(
    {"internal_states", "version", "launch_command", "startup_time", "status", "kv_events", "frontend"}
)


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """Memory of stage 0's rank 0, GiB."""

    weights_gib: float | None = None
    kv_gib: float | None = None
    graph_gib: float | None = None
    token_capacity: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerState:
    """One DP rank's scheduler. `slot_limit` is the most requests a pipeline slot admits, as it is in force now;
    `max_running_requests` the effective cap of this DP rank (stated from 0.5.8)."""

    slot_limit: int | None = None
    max_running_requests: int | None = None
    last_tokens_per_s: float | None = None
    memory: MemoryUse = MemoryUse()
    accept_len: float | None = None
    args: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerInfo:
    """The whole answer. `args` are the resolved arguments (secrets masked); `states` one per DP rank, maybe none."""

    version: str | None = None
    args: Mapping[str, object] = field(default_factory=dict)
    states: tuple[SchedulerState, ...] = ()
    max_total_num_tokens: int | None = None

    @property
    def slot_limit(self) -> int | None:
        """The effective slot limit of the first scheduler."""
        return next((state.slot_limit for state in self.states if state.slot_limit is not None), None)

    def effective(self, name: str) -> object:
        """An argument as the first scheduler has it, else as the server resolved it; None where neither says."""
        for state in self.states:
            if state.args.get(name) is not None:
                return state.args[name]
        return self.args.get(name)


def parse_server_info(text: str) -> ServerInfo:
    """Read the body. Missing and unexpected parts are left None; ToolError where it is no JSON object at all."""
    body = read_object(text, "/server_info")
    states = body.get("internal_states")
    rows = [states] if isinstance(states, dict) else states if isinstance(states, list) else []
    first = next((row for row in rows if isinstance(row, dict)), {})
    capacity = whole(body.get("max_total_num_tokens"))
    return ServerInfo(
        version=text_of(body.get("version")),
        args=_args({name: value for name, value in body.items() if name not in _NOT_ARGS}),
        states=tuple(_state(row) for row in rows if isinstance(row, dict)),
        max_total_num_tokens=capacity if capacity is not None else _memory(first.get("memory_usage")).token_capacity,
    )


def _state(row: Mapping[str, object]) -> SchedulerState:
    limit = whole(row.get("pp_max_micro_batch_size"))
    return SchedulerState(
        slot_limit=limit if limit is not None else whole(row.get("max_micro_batch_size")),
        max_running_requests=whole(row.get("effective_max_running_requests_per_dp")),
        last_tokens_per_s=number(row.get("last_gen_throughput")),
        memory=_memory(row.get("memory_usage")),
        accept_len=number(row.get("avg_spec_accept_length")),
        args=_args(row),
    )


def _memory(value: object) -> MemoryUse:
    if not isinstance(value, dict):
        return MemoryUse()
    graph = value.get("graph", value.get("cuda_graph"))
    by_phase = [gib for size in graph.values() if (gib := number(size)) is not None] if isinstance(graph, dict) else []
    return MemoryUse(
        weights_gib=number(value.get("weight")),
        kv_gib=number(value.get("kvcache")),
        graph_gib=sum(by_phase) if by_phase else number(graph),
        token_capacity=whole(value.get("token_capacity")),
    )


def _args(row: Mapping[str, object]) -> dict[str, object]:
    return {name: MASK if is_secret(name) and isinstance(value, str) else value for name, value in row.items()}


def read_object(text: str, what: str) -> dict[str, object]:
    """The JSON object in `text`; ToolError where there is none. `what` names the source in the message."""
    body = read_answer(text, what)
    if not isinstance(body, dict):
        raise ToolError(f"{what} answered with {_shape(body)} where a JSON object was expected.")
    return body


def read_answer(text: str, what: str) -> object:
    """The JSON in `text`; ToolError with its beginning where it is none."""
    try:
        return read_json(text)
    except ValueError as error:
        begin = " ".join(text[:80].split())
        raise ToolError(f"{what} gave no JSON ({error}); it begins with: {begin!r}.") from error


def _shape(value: object) -> str:
    match value:
        case list():
            return f"a list of {len(value)}"
        case None:
            return "null"
        case str():
            return "a text"
        case _:
            return "a single value"


def whole(value: object) -> int | None:
    """A whole number, also where it came as text or as 4.0; None for anything else."""
    read = number(value)
    return int(read) if read is not None and read == int(read) else None


def number(value: object) -> float | None:
    """A finite number, also where it came as text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        read = float(value)
    except (ValueError, OverflowError):
        return None
    return read if abs(read) != float("inf") and read == read else None


def text_of(value: object) -> str | None:
    """A text; None for anything else."""
    return value if isinstance(value, str) else None
