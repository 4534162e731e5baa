"""Prefill and decode lines by version (sglang scheduler_metrics_mixin.py, later metrics_reporter.py)."""

from dataclasses import dataclass

from ppagent_evals.writing.versions import since


@dataclass(frozen=True)
class Prefill:
    """One prefill batch as logged. `running` counts the slot before adding."""

    new_seq: int
    new_token: int
    cached_token: int
    usage: str
    running: int
    queue: int
    pending_token: int = 0
    graph: bool = False
    input_tokens_per_s: float = 0.0
    disaggregation: str = ""
    """Fields of a prefill node, each with a trailing comma and space."""
    occupancy: float | None = None


@dataclass(frozen=True)
class Decode:
    """One decode step as logged. `usage` holds the `#token` and usage fields."""

    running: int
    usage: str
    graph: bool
    tokens_per_s: float
    queue: int
    accept: tuple[float, float] | None = None
    disaggregation: str = ""
    occupancy: float | None = None


def prefill_line(version: str, batch: Prefill) -> str:
    start = "Prefill batch, " if since(version, "0.5.5") else "Prefill batch. "
    fields = (
        f"{start}#new-seq: {batch.new_seq}, #new-token: {batch.new_token}, #cached-token: {batch.cached_token}, "
        f"{batch.usage}#running-req: {batch.running}, #queue-req: {batch.queue}, "
    )
    speed = f"input throughput (token/s): {batch.input_tokens_per_s:.2f}"
    if not since(version, "0.5.9"):
        line = fields + batch.disaggregation + (speed + ", " if batch.disaggregation else "")
        return line if since(version, "0.4.10") else line.removesuffix(", ")
    if not since(version, "0.5.10"):
        return f"{fields}{batch.disaggregation}{speed}, cuda graph: {batch.graph}"
    pending = f"#pending-token: {batch.pending_token}, " if since(version, "0.5.11") else ""
    occupancy = _occupancy(version, batch.occupancy)
    return f"{fields}{pending}{batch.disaggregation}cuda graph: {batch.graph}, {speed}{occupancy}"


def decode_line(version: str, batch: Decode) -> str:
    start = "Decode batch, " if since(version, "0.5.5") else "Decode batch. "
    accept = ""
    if batch.accept is not None:
        accept = f"accept len: {batch.accept[0]:.2f}, "
        accept += f"accept rate: {batch.accept[1]:.2f}, " if since(version, "0.5.4") else ""
    tail = ", " if since(version, "0.4.10") and not since(version, "0.5.9") else ""
    return (
        f"{start}#running-req: {batch.running}, {batch.usage}{accept}{batch.disaggregation}cuda graph: {batch.graph}, "
        f"gen throughput (token/s): {batch.tokens_per_s:.2f}, #queue-req: {batch.queue}{tail}"
        f"{_occupancy(version, batch.occupancy)}"
    )


def _occupancy(version: str, percent: float | None) -> str:
    return "" if percent is None or not since(version, "0.5.11") else f", fwd occupancy: {percent:.2f}%"
