"""Puts load on the running server and measures it. What does the work is loaded when it is asked for."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, Field

from ppagent.evidence.evidence import Finding
from ppagent.plugins import Announcement, Grade, Tool, ToolContext

MOST_S = 120.0
Length = Annotated[
    list[int], Field(min_length=1, max_length=2, description="tokens: one number, or lowest and highest")
]


class LoadArguments(BaseModel, extra="forbid"):
    """What load."""

    concurrency: list[Annotated[int, Field(ge=1, le=1024)]] = Field(
        default_factory=list, description="requests in flight, one level each; empty for 1, half the stages, the stages"
    )
    seconds: float = Field(20.0, ge=0.5, le=MOST_S, description="of each level")
    think_s: float = Field(0.1, ge=0, le=10, description="pause of a client between requests; 0 hides clumping")
    input_tokens: Length = Field([64, 256])
    output_tokens: Length = Field([32, 96])
    beside_others: bool = Field(False, description="measure although the server works for others just now")


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
        from ppagent_tools.bench_run import announced

        return announced(context, _asked(arguments))

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        from ppagent_tools.bench_run import measured

        return measured(context, _asked(arguments))


def tools() -> tuple[Tool, ...]:
    return (RunBench(),)


def _asked(arguments: BaseModel) -> LoadArguments:
    return LoadArguments.model_validate(arguments.model_dump())
