"""What the clients saw over a window, in the field names of `sglang.bench_serving`."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

from ppagent_lab.load import Request
from ppagent_lab.shapes import Load

TOOL = "closed-loop clients of the lab"


@dataclass(frozen=True)
class Window:
    """From and to, in seconds of time.monotonic()."""

    start: float
    end: float

    @property
    def seconds(self) -> float:
        return self.end - self.start


def tokens_in(requests: Sequence[Request], window: Window) -> int:
    return sum(window.start <= at < window.end for request in requests for at in request.token_times)


def tokens_per_s(requests: Sequence[Request], window: Window) -> float:
    """Tokens that arrived in the window, over its length."""
    return tokens_in(requests, window) / window.seconds


def spread_of(requests: Sequence[Request], window: Window, parts: int = 4) -> tuple[float, float]:
    """The lowest and the highest rate of the window's parts, in tok/s: how steady the figure is."""
    each = window.seconds / parts
    rates = [
        tokens_per_s(requests, Window(window.start + n * each, window.start + (n + 1) * each)) for n in range(parts)
    ]
    return min(rates), max(rates)


def bench_row(requests: Sequence[Request], window: Window, load: Load) -> dict[str, object]:
    """One line of bench.jsonl. Latencies are of the requests that ended in the window, rates of all tokens in it."""
    done = [r for r in requests if r.done_at is not None and window.start <= r.done_at < window.end and r.token_times]
    seen = [r for r in requests if r.token_times and window.start <= r.token_times[-1]]
    gaps = [
        (b - a) * 1000 for r in seen for a, b in zip(r.token_times, r.token_times[1:], strict=False) if a > window.start
    ]
    row: dict[str, object] = {
        "tool": TOOL,
        "max_concurrency": load.clients,
        "request_rate": "inf",
        "random_input_len": sum(load.input_tokens) // 2,
        "random_output_len": sum(load.output_tokens) // 2,
        "arrival": load.arrival,
        "think_time_s": load.think_s,
        "completed": len(done),
        "duration": round(window.seconds, 2),
        "output_throughput": round(tokens_per_s(requests, window), 2),
        "errors": sum(bool(r.error) for r in requests),
    }
    if done:
        row |= _of_requests(done)
    if gaps:
        row |= {"mean_itl_ms": round(fmean(gaps), 1), "p99_itl_ms": round(sorted(gaps)[int(0.99 * len(gaps))], 1)}
    return row


def _of_requests(done: Sequence[Request]) -> dict[str, object]:
    ttft_ms = [(r.token_times[0] - r.sent_at) * 1000 for r in done]
    tpot_ms = [1000 * (r.token_times[-1] - r.token_times[0]) / max(1, len(r.token_times) - 1) for r in done]
    return {
        "total_input_tokens": sum(r.input_tokens for r in done),
        "total_output_tokens": sum(len(r.token_times) for r in done),
        "mean_ttft_ms": round(fmean(ttft_ms), 1),
        "median_ttft_ms": round(median(ttft_ms), 1),
        "mean_tpot_ms": round(fmean(tpot_ms), 1),
        "mean_e2e_latency_ms": round(fmean((r.done_at or 0) - r.sent_at for r in done) * 1000, 1),
    }
