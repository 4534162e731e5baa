"""A relaunch of the server with another command, as a tool: measured before and after, kept only if better."""

import json
from collections.abc import Sequence

from pydantic import BaseModel, Field

from ppagent.causes.cause import Change
from ppagent.errors import NotRecorded, PpagentError, ToolError, UserError
from ppagent.evidence.evidence import FactValue, Finding
from ppagent.ledger import new_id
from ppagent.plugins import Announcement, Grade, ToolContext
from ppagent.trials.facts import comparison_row
from ppagent.trials.launches import NewLaunch, new_launch, why_not
from ppagent.trials.machine import Machine
from ppagent.trials.outputs import OutputCheck
from ppagent.trials.own_load import OwnLoad
from ppagent.trials.proposals import Proposed
from ppagent.trials.relaunch import RelaunchOutcome, Site, run_relaunch
from ppagent.trials.relaunch_story import relaunch_plan
from ppagent.trials.serving import answers
from ppagent_tools.bench_live import Length
from ppagent_tools.live_server import MEASURED, reached, shape_of, stage_count, words_of


class RelaunchArguments(BaseModel, extra="forbid"):
    """The change of the launch, and the load that it is measured under."""

    set: dict[str, str] = Field(default_factory=dict, description='flags to set, a switch with "true"')
    unset: list[str] = Field(default_factory=list, description="flags to drop")
    env: dict[str, str] = Field(default_factory=dict, description="environment variables to set")
    causes: list[str] = Field(default_factory=list, description="ids of the causes that it is to cure")
    concurrency: int = Field(0, ge=0, le=1024, description="requests in flight; 0 for as many as there are stages")
    seconds: float = Field(30.0, ge=2, le=120)
    start_limit_s: float = Field(1800.0, ge=10, le=7200, description="the longest that a start may take")
    think_s: float = Field(0.1, ge=0, le=10)
    input_tokens: Length = Field([64, 256])
    output_tokens: Length = Field([32, 96])

    @property
    def change(self) -> Change:
        return Change(self.set, tuple(self.unset), self.env)


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
        asked, server = _asked(arguments), reached(context)
        proposed = Proposed("this change", "relaunch", tuple(asked.causes), asked.change, (), None)
        plan = relaunch_plan(_launch(context, asked), server.name, proposed, "better", asked.seconds)
        return Announcement(plan, None, "the server does not serve while it restarts", server.name)

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        asked = _asked(arguments)
        launch = _launch(context, asked)
        try:
            outcome = _relaunched(context, asked, launch)
        except ToolError:
            raise
        except PpagentError as error:
            raise ToolError(str(error)) from error
        if outcome.comparison is None:
            raise ToolError(f"the new launch did not come up, the old one serves again: {outcome.failure}")
        row = comparison_row(
            asked.change,
            outcome.comparison,
            causes=asked.causes,
            concurrency=asked.concurrency or None,
            forecast=None,
            outputs=outcome.outputs,
        )
        facts: dict[str, FactValue] = {"trial.comparisons": [row], "trial.kept": outcome.kept}
        return [Finding("trial", facts, json.dumps({"why": outcome.comparison.why}), authority=MEASURED)]


def _asked(arguments: BaseModel) -> RelaunchArguments:
    return RelaunchArguments.model_validate(arguments.model_dump())


def _launch(context: ToolContext, asked: RelaunchArguments) -> NewLaunch:
    server = reached(context)
    if server.host is None:
        raise NotRecorded("the server's host is not at hand, so it cannot be relaunched")
    reason = why_not(server.host.server)
    if reason:
        raise ToolError(f"ppagent does not relaunch this server itself: {reason}")
    version = server.control.server_info().version or ""
    try:
        return new_launch(server.host.server.launcher.cmdline, asked.change, version)
    except UserError as error:
        raise ToolError(str(error)) from error


def _relaunched(context: ToolContext, asked: RelaunchArguments, launch: NewLaunch) -> RelaunchOutcome:
    server = reached(context)
    if server.host is None:
        raise NotRecorded("the server's host is not at hand, so it cannot be relaunched")
    control, process = server.control, server.host.server.launcher
    machine = Machine(server.host.link, process.exe or "python3")
    launched = machine.save(process.pid, new_id())
    machine.prepare(launched.folder, launch.argv, launch.env)
    concurrency = asked.concurrency or max(2, stage_count(server))
    shape = shape_of(concurrency, asked.think_s, asked.input_tokens, asked.output_tokens, asked.seconds)
    source = words_of(server)
    return run_relaunch(
        Site(server.name, machine, process.pid, launched, context.target.name, lambda: answers(control)),
        lambda: OwnLoad(server.endpoint, shape, source),
        seconds=asked.seconds,
        start_limit_s=asked.start_limit_s,
        check=OutputCheck(control),
    )
