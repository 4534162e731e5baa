"""The running server behind a live target, for the tools that act on it."""

import os
from collections.abc import Sequence

from ppagent.bench.prompts import Span
from ppagent.bench.reach import Reached, reach_target
from ppagent.bench.session import PromptSource, measure_words
from ppagent.bench.shape import Shape
from ppagent.errors import NotRecorded, PpagentError, ToolError
from ppagent.evidence.evidence import FactValue, Finding
from ppagent.plugins import ToolContext
from ppagent.sglang.server_info import whole
from ppagent.targets.live import LiveTarget
from ppagent_tools.bench_levels import Run, levels_of, numeric

_REACHED = "live_server.reached"
MEASURED = 3
"""Authority of what was measured on the running server just now."""


def reached(context: ToolContext) -> Reached:
    """The server, reached once an investigation, and once more where its connection is lost. Raises NotRecorded for a
    recording, ToolError where none is there."""
    known = context.cache.get(_REACHED)
    if isinstance(known, Reached):
        return known
    if not isinstance(context.target, LiveTarget):
        raise NotRecorded("there is only a recording, and no server to act on")
    try:
        found = reach_target(context.target, None, os.environ, context.target.named)
    except ToolError:
        raise
    except PpagentError as error:
        raise ToolError(str(error)) from error
    context.cache[_REACHED] = found
    return found


def stage_count(server: Reached) -> int:
    """Pipeline stages."""
    return whole(server.control.server_info().effective("pp_size")) or 1


def words_of(server: Reached) -> PromptSource:
    """Prompts of random words, measured in the server's own tokens."""
    return PromptSource(tokens_per_word=measure_words(server.control))


def shape_of(
    concurrency: int, think_s: float, input_tokens: Sequence[int], output_tokens: Sequence[int], seconds: float
) -> Shape:
    """A closed loop out of a tool's arguments; lengths are a pair, lowest and highest."""
    return Shape(
        concurrency=concurrency,
        think_s=think_s,
        input_tokens=_span(input_tokens),
        output_tokens=_span(output_tokens),
        seconds=seconds,
    )


def levels_finding(rows: Sequence[dict[str, object]], excerpt: str) -> Finding:
    """Measured levels as the finding that a recording's benchmark gives, of the highest authority."""
    levels = levels_of([Run(row, "") for row in rows])
    best = max(levels, key=lambda level: numeric(level["output_throughput"]) or 0.0)
    names: list[FactValue] = list(dict.fromkeys(str(row["dataset_name"]) for row in rows))
    facts: dict[str, FactValue] = {
        "bench.levels": list(levels),
        "bench.best_throughput": best["output_throughput"],
        "bench.top_concurrency": max(numeric(row["max_concurrency"]) or 0.0 for row in rows),
        "bench.failed": sum(int(numeric(row["failed"]) or 0) for row in rows),
        "bench.dataset": names,
    }
    return Finding("bench.jsonl", facts, excerpt, authority=MEASURED)


def _span(pair: Sequence[int]) -> Span:
    return Span(min(pair), max(pair))
