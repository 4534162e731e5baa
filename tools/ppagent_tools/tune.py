"""Experiments on the running server: a live setting, and a relaunch. Measured before and after, and put back.

What does the work is loaded when it is asked for.
"""

from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, Field

from ppagent.causes.cause import Change
from ppagent.evidence.evidence import Finding
from ppagent.model.forecast import Forecast
from ppagent.plugins import Announcement, Grade, Tool, ToolContext
from ppagent_tools.bench_live import Length


class Predicted(BaseModel, extra="forbid"):
    """What the change is forecast to give, output tok/s."""

    baseline: float = Field(gt=0)
    low: float = Field(ge=0)
    high: float = Field(gt=0)


class LimitArguments(BaseModel, extra="forbid"):
    """Which limit, under which load."""

    limit: Annotated[int, Field(ge=1, description="requests that a slot may take: ceil(requests in flight / slots)")]
    concurrency: int = Field(0, ge=0, le=1024, description="requests in flight; 0 for as many as there are stages")
    seconds: float = Field(20.0, ge=0.5, le=120, description="of each measurement; there are three or more")
    rounds: int = Field(4, ge=1, le=12, description="new and old again, at most so often until the difference is told")
    think_s: float = Field(0.1, ge=0, le=10)
    input_tokens: Length = Field([64, 256])
    output_tokens: Length = Field([32, 96])
    observe: bool | None = Field(
        None, description="measure the traffic that is there and send nothing; left out: where there is some"
    )
    predicted: Predicted | None = Field(None, description="the proposal's forecast, for traffic that is observed")

    @property
    def forecast(self) -> Forecast | None:
        """The forecast at the load that is asked for."""
        return _forecast(self.predicted, self.concurrency)


class RelaunchArguments(BaseModel, extra="forbid"):
    """The change of the launch, and the load that it is measured under."""

    set: dict[str, str] = Field(default_factory=dict, description='flags to set, a switch with "true"')
    unset: list[str] = Field(default_factory=list, description="flags to drop")
    env: dict[str, str] = Field(default_factory=dict, description="environment variables to set")
    causes: list[str] = Field(default_factory=list, description="ids of the causes that it is to cure")
    predicted: Predicted | None = Field(None, description="the proposal's forecast, which goes on record first")
    concurrency: int = Field(0, ge=0, le=1024, description="requests in flight; 0 for as many as there are stages")
    seconds: float = Field(30.0, ge=0.5, le=120)
    start_limit_s: float = Field(1800.0, ge=10, le=7200, description="the longest that a start may take")
    think_s: float = Field(0.1, ge=0, le=10)
    input_tokens: Length = Field([64, 256])
    output_tokens: Length = Field([32, 96])

    @property
    def change(self) -> Change:
        return Change(self.set, tuple(self.unset), self.env)

    @property
    def forecast(self) -> Forecast | None:
        """The forecast at the load that is asked for."""
        return _forecast(self.predicted, self.concurrency)


def _forecast(made: Predicted | None, concurrency: int) -> Forecast | None:
    if made is None or not concurrency:
        return None
    return Forecast("output_throughput", concurrency, made.baseline, made.low, max(made.low, made.high), "")


class SetLimit:
    name = "tune.set_limit"
    summary = (
        "Sets pp_max_micro_batch_size on the running server, measures old, new, old again under the traffic that is "
        "there, or a load of its own where there is none, compares answers, and puts the old value back whatever "
        "happens."
    )
    grade = Grade.PERTURB
    live_only = True
    provides: tuple[str, ...] = ("trial.",)
    arguments: type[BaseModel] = LimitArguments

    def announce(self, context: ToolContext, arguments: BaseModel) -> Announcement:
        from ppagent_tools.tune_limit import announced

        return announced(context, LimitArguments.model_validate(arguments.model_dump()))

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        from ppagent_tools.tune_limit import tried

        return tried(context, LimitArguments.model_validate(arguments.model_dump()))


class Relaunch:
    name = "tune.relaunch"
    summary = (
        "Stops the running server and starts it with a changed launch command, measures before and after, keeps the "
        "new launch only if it is better, and brings the old one back otherwise."
    )
    grade = Grade.RESTART
    live_only = True
    provides: tuple[str, ...] = ("trial.",)
    arguments: type[BaseModel] = RelaunchArguments

    def announce(self, context: ToolContext, arguments: BaseModel) -> Announcement:
        from ppagent_tools.tune_relaunch import announced

        return announced(context, RelaunchArguments.model_validate(arguments.model_dump()))

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        from ppagent_tools.tune_relaunch import relaunched

        return relaunched(context, RelaunchArguments.model_validate(arguments.model_dump()))


def tools() -> tuple[Tool, ...]:
    return (SetLimit(), Relaunch())
