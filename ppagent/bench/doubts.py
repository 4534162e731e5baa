"""What makes a level's figures mean less than they seem to: said beside them, never averaged away."""

from typing import TYPE_CHECKING

from ppagent.bench.lag import TOO_LATE_MS

if TYPE_CHECKING:
    from ppagent.bench.result import LevelResult

HELD_BACK_BELOW = 0.9
HELD_BACK_ON_THE_WAY = 0.7
"""The two are counted over stretches that differ a little, and what was cut has no latency on the server."""
MANY_REQUESTS = 20
OTHERS_ABOVE = 1.05
FEW_TOKENS = 64
"""Health probes and the like generate a few tokens of their own."""


def doubts(result: "LevelResult") -> tuple[str, ...]:
    """Each doubt as a sentence; empty where there is none."""
    found = [*_about_the_client(result), *_about_the_way(result), *_about_others(result), *_about_requests(result)]
    if result.steady is None:
        found.append("no steady stretch: the run is too short for its requests")
    return tuple(found)


def _about_the_client(result: "LevelResult") -> list[str]:
    late_ms, asked = result.run.lag_p99_ms, result.asked_in_flight
    found: list[str] = []
    if late_ms > TOO_LATE_MS:
        own = result.run.lag_own_p99_ms
        found.append(
            f"the client was {late_ms:.0f} ms late (p99; {own:.0f} ms by its own work, the rest wanting a processor): "
            "so are these times"
        )
    if not result.run.shape.open_loop and result.start_spread_ms > TOO_LATE_MS:
        found.append(
            f"the first requests left over {result.start_spread_ms:.0f} ms, not at once, which changes how slots fill"
        )
    if asked is not None and result.concurrency < HELD_BACK_BELOW * asked * _busy_share(result):
        found.append(f"{result.concurrency:.1f} requests were in flight where {asked:.1f} were asked for")
    return found


def _about_the_way(result: "LevelResult") -> list[str]:
    """A proxy, a worker's own limit or the like holds requests back, where fewer arrive than were sent."""
    arrived, sent = result.run.server.in_flight, result.concurrency
    if arrived is None and result.run.server.note:
        return [f"the server's own counters are not known: {result.run.server.note}"]
    late = result.run.lag_p99_ms > TOO_LATE_MS
    if arrived is None or late or arrived >= HELD_BACK_ON_THE_WAY * sent or len(result.completed) < MANY_REQUESTS:
        return []
    return [f"the server saw {arrived:.1f} requests in flight where {sent:.1f} were sent: something between holds them"]


def _about_others(result: "LevelResult") -> list[str]:
    ours, generated = sum(record.tokens for record in result.run.records), result.run.server.generated_tokens
    if generated is None or generated <= OTHERS_ABOVE * ours + FEW_TOKENS:
        return []
    return [f"the server generated {generated} tokens, {ours} of them ours: others use it too"]


def _about_requests(result: "LevelResult") -> list[str]:
    found = _about_cut_ones(result)
    if result.run.warm_up_failed:
        found.append(f"{_requests(result.run.warm_up_failed)} of the warm-up failed: some batch sizes may be cold")
    if result.run.prompts_repeated:
        found.append("prompts were sent more than once: the prefix cache may have answered for the model")
    early = sum(1 for record in result.completed if record.tokens < record.asked_tokens)
    if early:
        found.append(f"{_requests(early)} ended early: tokens are counted as received")
    if result.failed:
        found.append(f"{_requests(len(result.failed))} failed, first: {result.failed[0].error[:120]}")
    return found


def _requests(count: int) -> str:
    return "1 request" if count == 1 else f"{count} requests"


def _about_cut_ones(result: "LevelResult") -> list[str]:
    if not result.cut:
        return []
    done = len(result.completed)
    whole = f"only {done} of {done + result.cut} requests were" if done else "no request was"
    return [
        f"{whole} answered whole, {result.cut} cut when the time was up: tok/s, TTFT, ITL and TPOT are of the "
        f"{result.output_tokens} tokens that came in {result.duration_s:.3g} s while all were at work"
    ]


def _busy_share(result: "LevelResult") -> float:
    """The share of the level that was not ramp or drain, so that a short level is not blamed on the client."""
    if result.steady is None:
        return 0.0
    return min(1.0, result.steady.seconds / result.duration_s)
