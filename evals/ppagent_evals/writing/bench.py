"""Benchmark rows with the field names of `sglang.bench_serving --output-file`."""

import json
from copy import deepcopy

from ppagent_evals.writing.load import Counters, Load

Row = dict[str, object]


def _sum(each: list[Counters]) -> Counters:
    """Data-parallel ranks as one server."""
    total = deepcopy(each[0])
    for name in ("prompt_tokens", "generated", "prefills", "ttft_sum_s", "running_s"):
        setattr(total, name, sum(getattr(counters, name) for counters in each))
    return total


def measured_over_ranks(each: list[Counters], load: Load, concurrency: int, **more: object) -> Row:
    """The row of a client in front of several data-parallel ranks."""
    row = measured(_sum(each), load, concurrency=concurrency)
    return {**row, "concurrency": round(concurrency * 0.97, 2), **more}


def measured(
    done: Counters, load: Load, *, concurrency: int | None = None, streaming: bool = True, **more: object
) -> Row:
    """The row that a client would have written over what a scheduler served."""
    seconds = done.at
    completed = round(done.generated / load.output_len)
    ttft_ms = done.ttft_sum_s / max(done.prefills, 1) * 1000
    tpot_ms = done.running_s / max(done.generated, 1) * 1000
    e2e_ms = ttft_ms + tpot_ms * (load.output_len - 1)
    row: Row = {
        "backend": "sglang",
        "dataset_name": "random",
        "request_rate": "inf",
        "max_concurrency": concurrency or load.in_flight,
        "random_input_len": load.input_len,
        "random_output_len": load.output_len,
        "duration": round(seconds, 2),
        "completed": completed,
        "total_input_tokens": done.prompt_tokens,
        "total_output_tokens": round(done.generated),
        "request_throughput": round(completed / seconds, 3),
        "input_throughput": round(done.prompt_tokens / seconds, 2),
        "output_throughput": round(done.generated / seconds, 2),
        "mean_e2e_latency_ms": round(e2e_ms, 2),
        "mean_ttft_ms": round(ttft_ms if streaming else e2e_ms, 2),
        "mean_tpot_ms": round(tpot_ms if streaming else 0.0, 2),
        "mean_itl_ms": round(tpot_ms if streaming else 0.0, 2),
        "concurrency": round(load.in_flight * 0.97, 2),
    }
    return {**row, **more}


def jsonl(rows: list[Row]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def relaunch(bench: Row, *, set_: dict[str, str] | None = None, unset: list[str] | None = None,
             env: dict[str, str] | None = None, live: bool = False, origin: str = "measured") -> Row:  # fmt: skip
    """One row of `relaunches.jsonl`: what the same load gave under another setting."""
    change = {"set": set_ or {}, "unset": unset or [], "env": env or {}, "live": live}
    return {"change": change, "bench": bench, "origin": origin}
