"""What a level comes to, in bench_serving's field names, with our own beside them.

`output_throughput` is bench_serving's: all tokens over the whole time, ramps and prefill included.
`steady_output_throughput` is the rate while at least nine tenths of the clients were at work: the one to compare.
Where requests were cut at the end, all but the whole latency is of every token that came until then (`partial`).
TPOT is (last token - first token) / (tokens - 1) over tokens received.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ppagent.bench.doubts import doubts
from ppagent.bench.level import LevelRun
from ppagent.bench.partial import all_at_work_until, seen_until
from ppagent.bench.record import Request
from ppagent.bench.statistics import Spread, spread_ms
from ppagent.bench.steady import Rate, rate_over, steady_window

TPOT_FORMULA = "(t_last - t_first) / (tokens - 1)"
TTFT_FORMULA = "t_first_token - t_due"


@dataclass(frozen=True)
class LevelResult:
    """One level, summed up."""

    run: LevelRun
    completed: tuple[Request, ...]
    failed: tuple[Request, ...]
    cut: int
    duration_s: float
    """What the figures are of: up to the last whole answer, or where some were cut, while all clients were at work."""
    output_tokens: int
    """Of completed requests; where some were cut, of those and what was in flight, as they came in that time."""
    ttft: Spread
    tpot: Spread
    itl: Spread
    e2e: Spread
    client_wait: Spread
    steady: Rate | None
    start_spread_ms: float

    @property
    def output_throughput(self) -> float:
        """Output tokens a second, ramps and prefill included."""
        return self.output_tokens / self.duration_s

    @property
    def concurrency(self) -> float:
        """Requests in flight on average, as the client saw it. What was cut at the end was in flight as well, and has
        no latency."""
        run = self.run
        if self.cut:
            return in_flight_in(run.records, run.started_at, run.started_at + self.duration_s)
        return sum(record.latency_s for record in self.completed) / self.duration_s

    @property
    def asked_in_flight(self) -> float | None:
        """Requests that clients of a closed loop would keep in flight without their pauses."""
        shape = self.run.shape
        if shape.open_loop or shape.concurrency is None:
            return None
        if not self.completed:
            return float(shape.concurrency)
        latency = sum(record.latency_s for record in self.completed) / len(self.completed)
        return shape.concurrency * latency / (latency + shape.think_s) if latency else float(shape.concurrency)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What makes the figures mean less than they seem to."""
        return doubts(self)

    def row(self) -> dict[str, object]:
        """One line of a results file."""
        shape, run = self.run.shape, self.run
        final = [record.final for record in self.completed if record.final is not None]
        accepted = [answer.accept_length for answer in final if answer.accept_length is not None]
        seconds = self.duration_s
        input_tokens = None if self.cut else sum(answer.prompt_tokens for answer in final)
        row: dict[str, object] = {
            "backend": "sglang",
            "dataset_name": run.prompts,
            "request_rate": shape.rate if shape.rate is not None else "inf",
            "max_concurrency": shape.concurrency,
            "random_input_len": shape.input_tokens.middle,
            "random_output_len": shape.output_tokens.middle,
            "duration": round(seconds, 3),
            "completed": len(self.completed),
            "total_input_tokens": input_tokens,
            "total_output_tokens": self.output_tokens,
            "request_throughput": round(len(self.completed) / seconds, 4),
            "input_throughput": _rounded(None if input_tokens is None else input_tokens / seconds),
            "output_throughput": round(self.output_throughput, 3),
            "total_throughput": _rounded(
                None if input_tokens is None else (input_tokens + self.output_tokens) / seconds
            ),
            "concurrency": round(self.concurrency, 3),
            "accept_length": round(sum(accepted) / len(accepted), 3) if accepted else None,
        }
        spreads = (("e2e_latency", self.e2e), ("ttft", self.ttft), ("tpot", self.tpot), ("itl", self.itl))
        for name, spread in spreads:
            row.update(spread.fields(name))
        row.update(self._own_fields())
        return row

    def _own_fields(self) -> dict[str, object]:
        run, server = self.run, self.run.server
        return {
            "tool": "ppagent bench",
            "streamed": True,
            "tpot_formula": TPOT_FORMULA,
            "ttft_formula": TTFT_FORMULA,
            "max_itl_ms": round(self.itl.max, 3),
            "steady_output_throughput": _rounded(self.steady.tokens_per_s if self.steady else None),
            "steady_error_share": _rounded(self.steady.error_share if self.steady else None, 4),
            "steady_seconds": _rounded(self.steady.seconds if self.steady else None),
            "think_time_s": run.shape.think_s,
            "failed": len(self.failed),
            "cut": self.cut,
            "cached_tokens": sum(r.final.cached_tokens for r in self.completed if r.final is not None),
            "mean_client_wait_ms": round(self.client_wait.mean, 3),
            "client_lag_p99_ms": round(run.lag_p99_ms, 3),
            "client_own_lag_p99_ms": round(run.lag_own_p99_ms, 3),
            "client_lag_max_ms": round(run.lag_max_ms, 3),
            "start_spread_ms": round(self.start_spread_ms, 3),
            "server_in_flight": _rounded(server.in_flight),
            "server_generated_tokens": server.generated_tokens,
            "server_slot_running_p50": server.slot_running_p50,
            "server_slot_running_max": server.slot_running_max,
            "server_waiting_max": server.waiting_max,
            "warnings": list(self.warnings),
        }


def sum_up(run: LevelRun) -> LevelResult:
    """The result of a level."""
    completed = tuple(record for record in run.records if record.succeeded)
    failed = tuple(record for record in run.records if record.error and not record.cut)
    cut = tuple(record for record in run.records if record.cut)
    window = steady_window(run.records, run.shape.open_loop)
    sent = sorted(record.sent_at for record in run.records if record.sent_at)[: run.shape.concurrency or 1]
    until = _measured_until(run, completed, bool(cut))
    told = seen_until((*completed, *cut), until) if cut else completed
    return LevelResult(
        run=run,
        completed=completed,
        failed=failed,
        cut=len(cut),
        duration_s=max(until - run.started_at, 1e-9),
        output_tokens=sum(record.tokens for record in told),
        ttft=spread_ms([record.ttft_s for record in told]),
        tpot=spread_ms([tpot for record in told if (tpot := record.tpot_s) is not None]),
        itl=spread_ms([itl for record in told for itl in record.itls_s()]),
        e2e=spread_ms([record.latency_s for record in completed]),
        client_wait=spread_ms([record.client_wait_s for record in told]),
        steady=rate_over(run.records, window) if window is not None else None,
        start_spread_ms=1000 * (sent[-1] - sent[0]) if sent else 0.0,
    )


def _measured_until(run: LevelRun, completed: Sequence[Request], some_cut: bool) -> float:
    """The end of the time that the figures are of."""
    if not some_cut:
        return max((record.ended_at for record in completed), default=run.ended_at)
    while_sent = min(run.ended_at, run.started_at + run.shape.seconds)
    return all_at_work_until(run.records, run.shape.open_loop, while_sent)


def in_flight_in(records: Sequence[Request], begin: float, end: float) -> float:
    """Requests in flight on average between two times, by the client's view."""
    seconds = end - begin
    overlap = (min(r.ended_at or end, end) - max(r.sent_at, begin) for r in records if r.sent_at and r.sent_at < end)
    return sum(max(0.0, part) for part in overlap) / seconds if seconds > 0 else 0.0


def _rounded(value: float | None, digits: int = 3) -> float | None:
    return None if value is None else round(value, digits)
