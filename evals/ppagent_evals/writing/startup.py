"""Start-up lines of a server, from the first warning to the ready line."""

from ppagent_evals.writing.arguments import arguments_line
from ppagent_evals.writing.capture import capture
from ppagent_evals.writing.log import Log
from ppagent_evals.writing.memory import Memory
from ppagent_evals.writing.server import Rank, Server, batch_ranks
from ppagent_evals.writing.versions import since


def start_up(
    log: Log,
    *,
    load_s: float = 95.0,
    warnings: tuple[str, ...] = (),
    at_init: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
    draft: tuple[str, float] | None = None,
) -> None:
    """Writes a whole healthy start. `warnings` come before the arguments, `at_init` on every rank when the ranks meet,
    `notes` on the first rank before capture.

    `draft` is a draft model's class and its GiB on each GPU.
    """
    before_load(log, warnings, at_init)
    load_weights(log, load_s)
    pools(log)
    for note in notes:
        log.line(note, _first(log.server))
    capture(log)
    if draft is not None:
        _load_draft(log, *draft)
    capacity(log)
    ready(log)


def _first(server: Server) -> Rank:
    return next(iter(server.ranks()))


def before_load(log: Log, warnings: tuple[str, ...] = (), at_init: tuple[str, ...] = ()) -> None:
    """Arguments and the distributed start."""
    server = log.server
    for warning in warnings:
        log.line(warning)
    if server.pp > 1:
        log.line("Pipeline parallelism is incompatible with overlap schedule.")
    if "--attention-backend" not in server.flags and since(server.version, "0.5.4"):
        log.line(_attention_note(server))
    log.at += 2
    log.line(arguments_line(server))
    log.at += 14
    ranks = list(server.ranks())
    begin = "Init parallel" if since(server.version, "0.5.23") else "Init torch distributed"
    for rank in ranks:
        log.line(f"{begin} begin.", rank)
    took = 2.1 + 0.6 * len(ranks)
    log.at += took
    log.init_s = log.at - 0.2
    for note in at_init:
        for rank in ranks:
            log.line(note, rank, log.init_s)
    for rank in ranks:
        _joined(log, rank, begin, took, 0.2 + 0.06 * len(ranks))
    log.at += 1


def _joined(log: Log, rank: Rank, begun: str, took_s: float, used_gb: float) -> None:
    """The rank has found the others: what it says of it, by version."""
    version = log.server.version
    spent = f" elapsed={took_s + log.rng.uniform(0, 0.3):.2f} s" if since(version, "0.5.9") else ""
    if since(version, "0.5.23"):
        log.line(f"{begun} ends.{spent}", rank)
        log.line(f"Memory baseline taken. mem usage={used_gb:.2f} GB", rank)
    else:
        log.line(f"{begun} ends.{spent + ',' if spent else ''} mem usage={used_gb:.2f} GB", rank)


def _attention_note(server: Server) -> str:
    explicitly = "" if since(server.version, "0.5.6") else "explicitly "
    backend = server.arguments()["attention_backend"]
    return f"Attention backend not {explicitly}specified. Use {backend} backend by default."


def load_weights(log: Log, load_s: float) -> None:
    """Weights of every rank."""
    server, memory = log.server, Memory.of(log.server)
    ranks = list(server.ranks())
    for rank in ranks:
        log.line(f"Load weight begin. avail mem={memory.before_gib():.2f} GB", rank)
    begun = log.at
    for order, rank in enumerate(ranks):
        log.at = begun + load_s * (1 + 0.01 * order)
        log.line(_weights_line(server, memory, rank, log.at - begun), rank)


def _load_draft(log: Log, architecture: str, gib: float) -> None:
    memory = Memory.of(log.server)
    free = memory.after_pool_gib(0) - memory.graph_gib(0)
    for rank in log.server.ranks():
        log.line(f"Load weight begin. avail mem={free:.2f} GB", rank)
    log.at += 6
    head = f"elapsed={6:.2f} s, type={architecture}" if since(log.server.version, "0.5.9") else f"type={architecture}"
    head += "" if since(log.server.version, "0.5.10") else f", dtype={log.server.model.dtype}"
    for rank in log.server.ranks():
        log.line(f"Load weight end. {head}, avail mem={free - gib:.2f} GB, mem usage={gib:.2f} GB.", rank)


def _weights_line(server: Server, memory: Memory, rank: Rank, took_s: float) -> str:
    new = since(server.version, "0.5.9")
    parts = [f"elapsed={took_s:.2f} s"] if new else []
    parts.append(f"type={server.model.architecture}")
    if not since(server.version, "0.5.10"):
        parts.append(f"dtype={server.model.dtype}")
    elif server.model.quant:
        parts.append(f"quant={server.model.quant}")
    free, used = memory.after_load_gib(rank.pp), memory.weights_gib(rank.pp)
    return f"Load weight end. {', '.join(parts)}, avail mem={free:.2f} GB, mem usage={used:.2f} GB."


def pools(log: Log) -> None:
    """KV pools of every rank."""
    server, memory = log.server, Memory.of(log.server)
    log.at += 1
    dtype = ""
    if since(server.version, "0.5.13"):
        narrow = "fp8" in str(server.arguments()["kv_cache_dtype"])
        dtype = f"dtype: {'torch.float8_e4m3fn' if narrow else 'torch.bfloat16'}, "
    for rank in server.ranks():
        size = memory.kv_gib(rank.pp)
        sizes = (
            f"KV size: {size:.2f} GB" if server.model.mla else f"K size: {size / 2:.2f} GB, V size: {size / 2:.2f} GB"
        )
        log.line(f"KV Cache is allocated. {dtype}#tokens: {memory.tokens()}, {sizes}", rank)
        log.line(f"Memory pool end. avail mem={memory.after_pool_gib(rank.pp):.2f} GB", rank)


def capacity(log: Log) -> None:
    """The capacity summary, on the first TP rank of every stage (and replica)."""
    server, memory = log.server, Memory.of(log.server)
    log.at += 0.6
    args = server.arguments()
    for rank in batch_ranks(server):
        free = memory.after_pool_gib(rank.pp) - memory.graph_gib(rank.pp) - 0.2
        log.line(
            f"max_total_num_tokens={memory.tokens()}, chunked_prefill_size={args['chunked_prefill_size']}, "
            f"max_prefill_tokens={args['max_prefill_tokens']}, "
            f"max_running_requests={memory.max_running()}, context_len={memory.context_len()}, "
            f"available_gpu_mem={free:.2f} GB",
            rank,
        )


def ready(log: Log) -> None:
    """The HTTP server's lines, its own first request, and the ready line."""
    log.at += 1.2
    log.line("INFO:     Started server process [2417]")
    log.line("INFO:     Waiting for application startup.")
    log.line("INFO:     Application startup complete.")
    log.line("INFO:     Uvicorn running on http://0.0.0.0:30000 (Press CTRL+C to quit)")
    log.at += 1.0
    log.line('INFO:     127.0.0.1:41830 - "GET /model_info HTTP/1.1" 200 OK')
    log.at += 2.3
    log.line('INFO:     127.0.0.1:41838 - "POST /generate HTTP/1.1" 200 OK')
    log.line("The server is fired up and ready to roll!")
