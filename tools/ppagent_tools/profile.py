"""What profiler traces show: those of a recording, and new ones of a running server.

What does the work is loaded when it is asked for.
"""

from collections.abc import Sequence

from pydantic import BaseModel, Field

from ppagent.evidence.evidence import Finding
from ppagent.plugins import Announcement, Grade, NoArguments, Tool, ToolContext


class TakeArguments(BaseModel, extra="forbid"):
    """How much is traced, and under which load."""

    steps: int = Field(32, ge=4, le=256, description="forwards of each stage; some for every slot of the ring")
    concurrency: int = Field(
        0, ge=0, le=256, description="own requests in flight meanwhile; 0 for none, or one a stage where nothing runs"
    )
    limit_s: float = Field(60.0, ge=1, le=600, description="the longest that the steps may take")
    keep: bool = Field(False, description="leave the traces on the hosts afterwards")


class ReadTraces:
    name = "profile.read"
    summary = (
        "Reads the profiler traces of a recording: how long each stage's card computed, waited for its neighbours or "
        "idled inside and outside the forwards, how many stages work at a time, and whether decode runs from graphs."
    )
    grade = Grade.READ_FILE
    provides: tuple[str, ...] = ("profile.",)
    arguments: type[BaseModel] = NoArguments

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        from ppagent_tools.profile_read import recorded

        return recorded(context)


class TakeTraces:
    name = "profile.take"
    summary = (
        "Has the running server's profiler trace some forwards of every rank (no stacks, no shapes) and reads the "
        "traces: busy share, waiting and gaps of each stage, stages at work at a time, graphs or single launches."
    )
    grade = Grade.PERTURB
    live_only = True
    provides: tuple[str, ...] = ("profile.",)
    arguments: type[BaseModel] = TakeArguments

    def announce(self, context: ToolContext, arguments: BaseModel) -> Announcement:
        from ppagent_tools.profile_take import announced

        return announced(context, TakeArguments.model_validate(arguments.model_dump()))

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        from ppagent_tools.profile_take import taken

        return taken(context, TakeArguments.model_validate(arguments.model_dump()))


def tools() -> tuple[Tool, ...]:
    return (ReadTraces(), TakeTraces())
