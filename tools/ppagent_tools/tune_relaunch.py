"""What `tune.relaunch` does."""

import json
from collections.abc import Sequence

from ppagent.errors import NotRecorded, PpagentError, ToolError, UserError
from ppagent.evidence.evidence import FactValue, Finding
from ppagent.evidence.masking import mask
from ppagent.plugins import Announcement, ToolContext
from ppagent.targets.live_host import LiveHost
from ppagent.targets.remote.servers import Server
from ppagent.trials.facts import comparison_row
from ppagent.trials.launches import NewLaunch, new_launch
from ppagent.trials.look_again import server_now
from ppagent.trials.other_nodes import other_nodes
from ppagent.trials.outputs import OutputCheck
from ppagent.trials.own_load import OwnLoad
from ppagent.trials.proposals import Proposed
from ppagent.trials.record import measured_forecast, recorded_forecast
from ppagent.trials.relaunch import RelaunchOutcome, Site, run_relaunch
from ppagent.trials.relaunch_story import relaunch_plan
from ppagent.trials.serving import answers
from ppagent.trials.way import Node, Prepare, Way, way_of
from ppagent_tools.live_server import MEASURED, reached, shape_of, stage_count, words_of
from ppagent_tools.tune import RelaunchArguments


def announced(context: ToolContext, asked: RelaunchArguments) -> Announcement:
    """The whole diff and what happens around it. It is remembered, since this and nothing else is agreed to: the loop
    announces once more when the answer is in, which must not pass for what was shown."""
    server, process = reached(context), server_now(_host(context))
    launch = _launch(context, asked, process)
    way = _way(context, asked, process, launch)
    context.cache.setdefault(_shown(asked), launch.new)
    plan = relaunch_plan(launch, server.name, _proposed(asked), "better", asked.seconds, way)
    return Announcement(plan, None, "the server does not serve while it restarts", server.name)


def relaunched(context: ToolContext, asked: RelaunchArguments) -> Sequence[Finding]:
    """The relaunch as evidence. Raises ToolError where the new launch did not come up."""
    process = server_now(_host(context))
    launch = _launch(context, asked, process)
    shown = context.cache.pop(_shown(asked), launch.new)
    if shown != launch.new:
        raise ToolError("the server was started another way since the new launch was shown: ask again")
    prepare = _way(context, asked, process, launch).prepare
    if prepare is None:
        raise ToolError("ppagent does not relaunch this server itself")
    try:
        outcome = _relaunched(context, asked, process.launcher.pid, prepare)
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
        forecast=asked.forecast,
        outputs=outcome.outputs,
    )
    facts: dict[str, FactValue] = {"trial.comparisons": [row], "trial.kept": outcome.kept}
    told = {"outcome": outcome.comparison.outcome, "why": outcome.comparison.why, "kept": outcome.kept}
    return [Finding("trial", facts, json.dumps(told), authority=MEASURED)]


def _shown(asked: RelaunchArguments) -> str:
    return f"tune.relaunch.shown {asked.model_dump_json()}"


def _proposed(asked: RelaunchArguments) -> Proposed:
    return Proposed("this change", "relaunch", tuple(asked.causes), asked.change, (), asked.forecast)


def _host(context: ToolContext) -> LiveHost:
    host = reached(context).host
    if host is None:
        raise NotRecorded("the server's host is not at hand, so it cannot be relaunched")
    return host


def _way(context: ToolContext, asked: RelaunchArguments, process: Server, launch: NewLaunch) -> Way:
    """How it is relaunched. Raises ToolError, with what to do by hand, where ppagent does not."""
    way = way_of(_host(context).link, process, launch, _others(context, asked, process))
    if way.prepare is None:
        commands = "\n".join(mask(line) for line in way.lines)
        raise ToolError(f"ppagent does not relaunch this server itself: {way.reason}. By hand:\n{commands}")
    return way


def _others(context: ToolContext, asked: RelaunchArguments, process: Server) -> tuple[Node, ...]:
    server = reached(context)
    try:
        return other_nodes(process, server.beside, asked.change, server.control.server_info().version or "")
    except UserError as error:
        raise ToolError(str(error)) from error


def _launch(context: ToolContext, asked: RelaunchArguments, process: Server) -> NewLaunch:
    version = reached(context).control.server_info().version or ""
    try:
        return new_launch(process.launcher.cmdline, asked.change, version, _host(context).source)
    except UserError as error:
        raise ToolError(str(error)) from error


def _relaunched(context: ToolContext, asked: RelaunchArguments, pid: int, prepare: Prepare) -> RelaunchOutcome:
    server = reached(context)
    control = server.control
    keeper, launched = prepare()
    concurrency = asked.concurrency or max(2, stage_count(server))
    shape = shape_of(concurrency, asked.think_s, asked.input_tokens, asked.output_tokens, asked.seconds)
    source = words_of(server)
    kept = recorded_forecast(server.name, control.server_info().version or "", _proposed(asked), concurrency)
    outcome = run_relaunch(
        Site(server.name, keeper, pid, launched, context.target.name, lambda: answers(control)),
        lambda: OwnLoad(server.endpoint, shape, source),
        seconds=asked.seconds,
        start_limit_s=asked.start_limit_s,
        check=OutputCheck(control),
        say=context.say,
    )
    measured_forecast(kept, outcome.comparison)
    return outcome
