"""What `bench.run` does."""

import json
from collections.abc import Sequence
from dataclasses import replace

from ppagent.bench.result import LevelResult
from ppagent.bench.session import run_session
from ppagent.bench.shape import Shape
from ppagent.errors import ToolError
from ppagent.evidence.evidence import Finding
from ppagent.plugins import Announcement, ToolContext
from ppagent.trials.others import serves_others
from ppagent_tools.bench_live import LoadArguments
from ppagent_tools.live_server import levels_finding, reached, shape_of, stage_count, words_of


def announced(context: ToolContext, asked: LoadArguments) -> Announcement:
    """The load, before it is put on."""
    server = reached(context)
    counts = asked.concurrency or _default(stage_count(server))
    return Announcement(
        runs=f"ppagent bench {server.name} --concurrency {','.join(map(str, counts))} --seconds {asked.seconds:g} "
        f"--think-time {asked.think_s:g}",
        seconds=len(counts) * 1.5 * asked.seconds,
        effect="its requests compete with those of the server's users; nothing is changed",
        where=server.name,
    )


def measured(context: ToolContext, asked: LoadArguments) -> Sequence[Finding]:
    """The levels as evidence, a slow server's by the tokens that came: `completed` is 0 where no request ended. Raises
    ToolError where no token came."""
    server = reached(context)
    if not asked.beside_others and serves_others(server.control):
        raise ToolError(
            "the server works for others just now: a level measured beside them would tell of both; its log and "
            "metrics tell of their requests"
        )
    shapes = _shapes(asked, stage_count(server))
    results = run_session(server.endpoint, shapes, words_of(server), done=lambda level: context.say(_in_short(level)))
    rows = [result.row() for result in results if result.output_tokens]
    if not rows:
        raise ToolError(f"no token came within {results[-1].duration_s:.0f} s: measure for longer")
    told = ("max_concurrency", "output_throughput", "mean_itl_ms", "completed", "cut")
    top = {name: rows[-1][name] for name in told}
    return [levels_finding(rows, json.dumps(top))]


def _in_short(level: LevelResult) -> str:
    row = level.row()
    return f"C={row['max_concurrency']}: {row['output_throughput']:.4g} tok/s"


def _default(stages: int) -> list[int]:
    return sorted({1, max(1, stages // 2), stages}) if stages > 1 else [1, 4, 8]


def _shapes(asked: LoadArguments, stages: int) -> list[Shape]:
    counts = sorted(set(asked.concurrency)) or _default(stages)
    first = shape_of(counts[0], asked.think_s, asked.input_tokens, asked.output_tokens, asked.seconds)
    return [replace(first, concurrency=count, seed=1000 * n + 1) for n, count in enumerate(counts)]
