"""Puts load on the running server and measures it."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import BaseModel, Field

from ppagent.bench.session import run_session
from ppagent.bench.shape import Shape
from ppagent.errors import ToolError
from ppagent.evidence.evidence import Finding
from ppagent.plugins import Announcement, Grade, Tool, ToolContext
from ppagent_tools.live_server import levels_finding, reached, shape_of, stage_count, words_of

MOST_S = 120.0
Length = Annotated[
    list[int], Field(min_length=1, max_length=2, description="tokens: one number, or lowest and highest")
]


class LoadArguments(BaseModel, extra="forbid"):
    """What load."""

    concurrency: list[Annotated[int, Field(ge=1, le=1024)]] = Field(
        default_factory=list, description="requests in flight, one level each; empty for 1, half the stages, the stages"
    )
    seconds: float = Field(20.0, ge=2, le=MOST_S, description="of each level")
    think_s: float = Field(0.1, ge=0, le=10, description="pause of a client between requests; 0 hides clumping")
    input_tokens: Length = Field([64, 256])
    output_tokens: Length = Field([32, 96])


class RunBench:
    name = "bench.run"
    summary = (
        "Loads the running server at two or three concurrencies with requests of its own and measures tok/s, time to "
        "the first and between further tokens: how the ring's turn grows with requests in flight."
    )
    grade = Grade.LOAD
    live_only = True
    provides: tuple[str, ...] = ("bench.",)
    arguments: type[BaseModel] = LoadArguments

    def announce(self, context: ToolContext, arguments: BaseModel) -> Announcement:
        asked = _asked(arguments)
        server = reached(context)
        counts = asked.concurrency or _default(stage_count(server))
        return Announcement(
            runs=f"ppagent bench {server.name} --concurrency {','.join(map(str, counts))} --seconds {asked.seconds:g} "
            f"--think-time {asked.think_s:g}",
            seconds=len(counts) * 1.5 * asked.seconds,
            effect="its requests compete with those of the server's users; nothing is changed",
            where=server.name,
        )

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        asked = _asked(arguments)
        server = reached(context)
        results = run_session(server.endpoint, _shapes(asked, stage_count(server)), words_of(server))
        rows = [result.row() for result in results if result.completed]
        if not rows:
            raise ToolError("no request was answered whole: measure for longer, or with shorter answers")
        top = {name: rows[-1][name] for name in ("max_concurrency", "output_throughput", "mean_itl_ms")}
        return [levels_finding(rows, json.dumps(top))]


def tools() -> tuple[Tool, ...]:
    return (RunBench(),)


def _asked(arguments: BaseModel) -> LoadArguments:
    return LoadArguments.model_validate(arguments.model_dump())


def _default(stages: int) -> list[int]:
    return sorted({1, max(1, stages // 2), stages}) if stages > 1 else [1, 4, 8]


def _shapes(asked: LoadArguments, stages: int) -> list[Shape]:
    counts = sorted(set(asked.concurrency)) or _default(stages)
    first = shape_of(counts[0], asked.think_s, asked.input_tokens, asked.output_tokens, asked.seconds)
    return [replace(first, concurrency=count, seed=1000 * n + 1) for n, count in enumerate(counts)]
