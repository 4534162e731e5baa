"""Time between tokens, as the client sees it and as the engine makes it."""

from ppagent.causes.admission import pipelined
from ppagent.causes.rows import bench_rows, number
from ppagent.causes.situation import Known, data_parallel, in_flight
from ppagent.evidence.facts import Facts


def client_itl(facts: Facts) -> Known | None:
    """Milliseconds between tokens at the client, at the highest load level; else at the server's edge.

    The median counts where it is known: a mean holds the stalls that long prompts cause.
    """
    for row in bench_rows(facts):
        if row.get("streamed") is False:
            continue
        for key, what in (("median_itl_ms", "median"), ("mean_itl_ms", "mean"), ("mean_tpot_ms", "mean")):
            value = number(row.get(key))
            if value > 0:
                return Known(value, facts.cite("bench.levels"), f"{value:.3g} ms between tokens at the client ({what})")
    edge = facts.number("metrics.itl_ms")
    if not edge:
        return None
    return Known(edge, facts.cite("metrics.itl_ms"), f"{edge:.3g} ms between tokens at the server's edge")


def engine_itl(facts: Facts) -> Known | None:
    """Milliseconds per token of a request inside the engine at its busiest: running requests over throughput.

    Under a pipeline a log line shows one micro-batch, so the requests in flight stand in for the running ones.
    """
    rate = facts.first("decode.throughput.p95", "decode.throughput.p50", "metrics.gen_throughput")
    if rate is None or not rate.number:
        return None
    if pipelined(facts):
        load = in_flight(facts)
        requests, cites = (load.value, load.cites) if load is not None else (0.0, ())
    else:
        runs = facts.first("decode.running_req.p95", "decode.running_req.p50", "metrics.running_reqs")
        ranks = data_parallel(facts)
        requests = (runs.number or 0.0) * (ranks.value if ranks is not None else 1) if runs is not None else 0.0
        cites = (runs.evidence,) if runs is not None else ()
    if requests < 1:
        return None
    ms = 1000 * requests / rate.number
    says = f"{ms:.3g} ms in the engine ({requests:.3g} running at {rate.number:.4g} tok/s)"
    return Known(ms, tuple(dict.fromkeys((*cites, rate.evidence))), says)
