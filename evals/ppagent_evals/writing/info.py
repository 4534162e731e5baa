"""Bodies of /server_info and /v1/loads."""

import json

from ppagent_evals.writing.graphs import GraphConfig
from ppagent_evals.writing.load import Counters
from ppagent_evals.writing.memory import Memory
from ppagent_evals.writing.server import Server
from ppagent_evals.writing.versions import since


def server_info(server: Server, last: list[Counters], *, slot_limit: int | None = None) -> str:
    """The server's own account of itself, with one internal state for each data-parallel rank."""
    memory = Memory.of(server)
    args = {k: v.plain() if isinstance(v, GraphConfig) else v for k, v in server.arguments().items()}
    limit = memory.slot_limit() if slot_limit is None else slot_limit
    key = "pp_max_micro_batch_size" if since(server.version, "0.5.3.post1") else "max_micro_batch_size"
    states = [_state(server, memory, key, limit, counters) for counters in last]
    body = {
        **args,
        "status": "ready",
        "max_total_num_tokens": memory.tokens(),
        "max_req_input_len": memory.context_len() - 6,
        "internal_states": states,
        "version": server.version,
    }
    return json.dumps(body) + "\n"


def _state(server: Server, memory: Memory, key: str, limit: int, counters: Counters) -> dict[str, object]:
    graph: object = memory.graph_gib(0)
    if since(server.version, "0.5.21"):
        graph = {"prefill": 0.0, "decode": graph}
    state: dict[str, object] = {key: limit, "last_gen_throughput": round(counters.tokens_per_s, 2)}
    state["memory_usage"] = {
        "weight": round(memory.weights_gib(0), 2),
        "kvcache": round(memory.kv_gib(0), 2),
        "token_capacity": memory.tokens(),
        "graph" if since(server.version, "0.5.2") else "cuda_graph": graph,
    }
    if since(server.version, "0.5.8"):
        state["effective_max_running_requests_per_dp"] = memory.max_running()
    return state


def loads(server: Server, last: list[Counters], *, at: str) -> str:
    """The body of /v1/loads (0.5.8 on)."""
    memory = Memory.of(server)
    ranks = [
        {
            "dp_rank": rank,
            "num_running_reqs": c.running,
            "num_waiting_reqs": c.queue,
            "num_used_tokens": c.used_tokens,
            "max_total_num_tokens": memory.tokens(),
            "token_usage": round(c.used_tokens / memory.tokens(), 4),
            "gen_throughput": round(c.tokens_per_s, 2),
            "cache_hit_rate": round(c.hit_rate, 4),
            "max_running_requests": memory.max_running(),
        }
        for rank, c in enumerate(last)
    ]
    return json.dumps({"timestamp": at, "version": server.version, "dp_rank_count": len(ranks), "loads": ranks}) + "\n"
