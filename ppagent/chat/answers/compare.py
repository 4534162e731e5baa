"""This server now, beside what an earlier session about it found."""

from collections.abc import Iterator

from ppagent.agent.board import Hypothesis, compute_board
from ppagent.chat.past import Before
from ppagent.evidence.evidence import Evidence
from ppagent.evidence.facts import Facts
from ppagent.report.lines import Line, Tone, wrapped
from ppagent.sglang.launch.diff import unified_diff

NOISE = 0.03
"""Two runs of one load on one server differ by this share."""

FIGURES = (
    ("tok/s in the log", "decode.throughput.p50"),
    ("tok/s by the counters", "metrics.generation_rate"),
    ("requests in a micro-batch, at most", "decode.running_req.max"),
    ("slot limit in force", "internal.slot_limit"),
    ("queue", "decode.queue_req.p50"),
    ("share of steps from a graph", "decode.graph_true_share"),
    ("KV pool used, at most", "decode.token_usage.max"),
    ("requests in flight", "metrics.in_flight"),
)


def compare_lines(before: Before, evidence: tuple[Evidence, ...], width: int) -> list[Line]:
    """What has changed since then: launch, figures, causes. Only what both sessions know is compared."""
    then, now = Facts(before.evidence), Facts(evidence)
    rows = [*_launch(then, now), *_levels(then, now, width), *_figures(then, now, width), *_causes(then, now, width)]
    return [
        *wrapped(before.label, width, tone="heading"),
        *(rows or [Line("  nothing that both sessions know has changed")]),
    ]


def _launch(then: Facts, now: Facts) -> Iterator[Line]:
    old, new = then.text("engine.version"), now.text("engine.version")
    if old and new and old != new:
        yield Line(f"  SGLang {old}, now {new}")
    old, new = then.text("launch.command"), now.text("launch.command")
    if old and new and old != new:
        for line in unified_diff(old, new).splitlines():
            tone: Tone = "good" if line.startswith("+") else "bad" if line.startswith("-") else "dim"
            yield Line(f"    {line}", tone)


def _levels(then: Facts, now: Facts, width: int) -> Iterator[Line]:
    old, new = _speeds(then), _speeds(now)
    for concurrency in sorted(old.keys() & new.keys()):
        yield from _row(f"tok/s at C={concurrency:g}", old[concurrency], new[concurrency], width)


def _figures(then: Facts, now: Facts, width: int) -> Iterator[Line]:
    for label, name in FIGURES:
        old, new = then.number(name), now.number(name)
        if old is not None and new is not None:
            yield from _row(label, old, new, width)


def _row(label: str, old: float, new: float, width: int) -> Iterator[Line]:
    """A figure then and now; the change in percent of a speed only, since half as many requests are no loss."""
    if old == new:
        return
    change = new / old - 1 if old and label.startswith("tok/s") else None
    if change is None:
        says = ""
    elif abs(change) <= NOISE:
        says = f" ({change:+.1%}, within the noise)"
    else:
        says = f" ({change:+.0%})"
    yield from wrapped(f"{label}: {old:.4g}, now {new:.4g}{says}", width, "  ")


def _causes(then: Facts, now: Facts, width: int) -> Iterator[Line]:
    old = {h.cause_id: h for h in compute_board(then).supported}
    new = {h.cause_id: h for h in compute_board(now).supported}
    for cause_id in sorted(old.keys() - new.keys()):
        yield from wrapped(f"{_name(old[cause_id])} is no longer supported", width, "  ", tone="good")
    for cause_id in sorted(new.keys() - old.keys()):
        yield from wrapped(f"{_name(new[cause_id])} is new", width, "  ", tone="bad")


def _name(hypothesis: Hypothesis) -> str:
    return f"{hypothesis.cause_id} {hypothesis.judgement.cause.name}"


def _speeds(facts: Facts) -> dict[float, float]:
    rows = [row for row in facts.items("bench.levels") if isinstance(row, dict)]
    pairs = ((row.get("concurrency"), row.get("output_throughput")) for row in rows)
    return {float(c): float(x) for c, x in pairs if isinstance(c, int | float) and isinstance(x, int | float)}
