"""Lines of CUDA graph capture by version."""

from ppagent_evals.writing.graphs import prefill_sizes
from ppagent_evals.writing.log import Log
from ppagent_evals.writing.memory import Memory
from ppagent_evals.writing.server import Server
from ppagent_evals.writing.versions import since


def capture(log: Log) -> None:
    """Decode graph capture of every rank, and what the version says about prefill graphs under PP."""
    server, memory = log.server, Memory.of(log.server)
    log.at += 1
    if server.decode_graphs:
        capture_begin(log)
        took = 2.0 + 0.22 * len(server.sizes)
        log.at += took
        for rank in server.ranks():
            used = memory.graph_gib(rank.pp)
            free = memory.after_pool_gib(rank.pp) - used
            log.line(_capture_end(server, took + log.rng.uniform(0, 0.4), used, free), rank)
    if server.prefill_graphs:
        _prefill_capture(log)
    if server.pp > 1 and since(server.version, "0.5.10") and not since(server.version, "0.5.14"):
        for rank in server.ranks():
            log.line("Disable piecewise CUDA graph because --disable-piecewise-cuda-graph is set", rank)


def _prefill_capture(log: Log) -> None:
    server, memory = log.server, Memory.of(log.server)
    new, took = since(server.version, "0.5.14"), 7.5
    for rank in server.ranks():
        free = memory.after_pool_gib(rank.pp) - memory.graph_gib(rank.pp)
        sizes = prefill_sizes(min(int(str(server.arguments()["chunked_prefill_size"])), 8192))
        text = f"backend=breakable, num_tokens={sizes}, " if new else ""
        log.line(f"Capture {_PREFILL[new]} CUDA graph begin. {text}avail mem={free:.2f} GB", rank)
    log.at += took
    for rank in server.ranks():
        free = memory.after_pool_gib(rank.pp) - memory.graph_gib(rank.pp) - 0.4
        if new:
            end = f"elapsed={took:.2f} s, mem usage=0.40 GB, avail mem={free:.2f} GB."
        else:
            end = f"Time elapsed: {took:.2f} s. mem usage=0.40 GB. avail mem={free:.2f} GB."
        log.line(f"Capture {_PREFILL[new]} CUDA graph end. {end}", rank)


_PREFILL = {True: "target prefill", False: "piecewise"}


def capture_begin(log: Log) -> None:
    server, memory = log.server, Memory.of(log.server)
    for rank in server.ranks():
        free = memory.after_pool_gib(rank.pp)
        if not since(server.version, "0.5.14"):
            log.line(f"Capture cuda graph begin. This can take up to several minutes. avail mem={free:.2f} GB", rank)
            if rank.tp == 0:
                log.line(f"Capture cuda graph bs {server.sizes}", rank)
            continue
        per = "num_tokens_per_req" if since(server.version, "0.5.16") else "num_tokens_per_bs"
        sizes = "" if since(server.version, "0.5.23") else f"bs={server.sizes}, "
        log.line(f"Capture target decode CUDA graph begin. backend=full, {per}=1, {sizes}avail mem={free:.2f} GB", rank)


def _capture_end(server: Server, took_s: float, used_gib: float, free_gib: float) -> str:
    if not since(server.version, "0.5.14"):
        return (
            f"Capture cuda graph end. Time elapsed: {took_s:.2f} s. mem usage={used_gib:.2f} GB. "
            f"avail mem={free_gib:.2f} GB."
        )
    sizes = f"bs={server.sizes}, " if since(server.version, "0.5.23") else ""
    return (
        f"Capture target decode CUDA graph end. {sizes}elapsed={took_s:.2f} s, mem usage={used_gib:.2f} GB, "
        f"avail mem={free_gib:.2f} GB."
    )
