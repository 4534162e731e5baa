"""What `tune.relaunch` does."""

import json
from collections.abc import Sequence

from ppagent.errors import NotRecorded, PpagentError, ToolError, UserError
from ppagent.evidence.evidence import FactValue, Finding
from ppagent.ledger import new_id
from ppagent.plugins import Announcement, ToolContext
from ppagent.trials.facts import comparison_row
from ppagent.trials.launches import NewLaunch, new_launch, why_not
from ppagent.trials.machine import Machine
from ppagent.trials.outputs import OutputCheck
from ppagent.trials.own_load import OwnLoad
from ppagent.trials.proposals import Proposed
from ppagent.trials.relaunch import RelaunchOutcome, Site, run_relaunch
from ppagent.trials.relaunch_story import relaunch_plan
from ppagent.trials.serving import answers
from ppagent_tools.live_server import MEASURED, reached, shape_of, stage_count, words_of
from ppagent_tools.tune import RelaunchArguments


def announced(context: ToolContext, asked: RelaunchArguments) -> Announcement:
    """The whole diff and what happens around it."""
    server = reached(context)
    proposed = Proposed("this change", "relaunch", tuple(asked.causes), asked.change, (), None)
    plan = relaunch_plan(_launch(context, asked), server.name, proposed, "better", asked.seconds)
    return Announcement(plan, None, "the server does not serve while it restarts", server.name)


def relaunched(context: ToolContext, asked: RelaunchArguments) -> Sequence[Finding]:
    """The relaunch as evidence. Raises ToolError where the new launch did not come up."""
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
