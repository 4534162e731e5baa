"""The relaunch side of `ppagent try`: the whole diff first, then stop, start, watch, measure, keep or roll back."""

import argparse
import json
import sys
from dataclasses import dataclass

from ppagent.bench.control import Control
from ppagent.bench.endpoint import is_url
from ppagent.bench.reach import Reached
from ppagent.bench.shape import Shape
from ppagent.cli.common import note
from ppagent.cli.load_options import prompt_source
from ppagent.errors import ExitStatus, NotRecorded, UserError
from ppagent.report.labelled import fitted
from ppagent.report.room import columns
from ppagent.targets.live import LiveTarget
from ppagent.targets.live_host import LiveHost
from ppagent.targets.open_live import open_live
from ppagent.trials.launches import NewLaunch, new_launch
from ppagent.trials.look_again import server_now
from ppagent.trials.other_nodes import other_nodes
from ppagent.trials.outputs import OutputCheck
from ppagent.trials.own_load import OwnLoad
from ppagent.trials.proposals import Proposed, proposal_of
from ppagent.trials.record import measured_forecast, recorded_forecast
from ppagent.trials.relaunch import RelaunchOutcome, Site, run_relaunch
from ppagent.trials.relaunch_story import DOES, relaunch_data, relaunch_plan, relaunch_result
from ppagent.trials.serving import answers
from ppagent.trials.way import Prepare, way_of

GRADE = 5


@dataclass(frozen=True)
class Case:
    """A proposal, the server it is for, and the command that it makes."""

    proposed: Proposed
    reached: Reached
    host: LiveHost
    launch: NewLaunch
    version: str


def diagnosed_proposal(args: argparse.Namespace, reached: Reached) -> Proposed:
    """The proposal asked for, by a diagnosis made now."""
    note("no --report is given: diagnosing first, by reading only")
    return proposal_of(_target_of(reached, args), args.proposal)


def run_relaunch_trial(args: argparse.Namespace, reached: Reached, proposed: Proposed) -> int:
    """Plan with the whole diff, approval, experiment, result. An exit status."""
    from ppagent.cli.try_ import agreed, blocked

    case = _case(args, reached, proposed)
    others = other_nodes(case.host.server, reached.beside, proposed.change, case.version)
    way = way_of(case.host.link, case.host.server, case.launch, others)
    plan = relaunch_plan(case.launch, case.reached.name, proposed, args.keep, args.seconds, way)
    if way.prepare is None:
        sys.stdout.write(f"{fitted(plan, columns())}\n")
        return blocked(f"ppagent does not relaunch this server itself: {way.reason}")
    if not agreed(plan, GRADE, args.yes):
        return blocked(f"it {DOES}, which needs a yes to this diff, or --yes {GRADE}")
    try:
        outcome = _carry_out(args, case, way.prepare)
    except KeyboardInterrupt:
        note("cancelled; the old launch serves.")
        return ExitStatus.CANCELLED
    if args.format == "json":
        sys.stdout.write(json.dumps(relaunch_data(reached.name, case.launch, proposed, outcome), indent=2) + "\n")
    else:
        sys.stdout.write(f"{fitted(relaunch_result(proposed, outcome), columns())}\n")
    return ExitStatus.OK if not outcome.failure else ExitStatus.FAILURE


def _case(args: argparse.Namespace, reached: Reached, proposed: Proposed) -> Case:
    host = _host(reached, args)
    try:
        server = host.server
    except NotRecorded as error:
        raise UserError(f"The server's process cannot be seen: {error}.", "Run ppagent where it runs.") from error
    version = reached.control.server_info().version or ""
    launch = new_launch(server.launcher.cmdline, proposed.change, version, host.source)
    return Case(proposed, reached, host, launch, version)


def _host(reached: Reached, args: argparse.Namespace) -> LiveHost:
    """The machine of the server; an address on this one is looked at as `local`."""
    if reached.host is not None:
        return reached.host
    target = _target_of(reached, args)
    return target.live_host(target.hosts[0])


def _target_of(reached: Reached, args: argparse.Namespace) -> LiveTarget:
    if not is_url(args.target):
        return open_live(args.target, port=args.port)
    if reached.endpoint.route != "loopback":
        raise UserError(
            f"{args.target} is on another machine, which an address does not open.", "Name it as ssh://HOST --port N."
        )
    return open_live("local", port=reached.endpoint.port)


def _carry_out(args: argparse.Namespace, case: Case, prepare: Prepare) -> RelaunchOutcome:
    reached, host = case.reached, case.host
    control = reached.control
    process = server_now(host).launcher
    if process.cmdline != host.server.launcher.cmdline:
        raise UserError("The server was started another way since its new launch was shown.", "Try again.")
    keeper, launched = prepare()
    source = prompt_source(args, control)
    shape = _shape(args, control)
    forecast_id = recorded_forecast(reached.name, case.version, case.proposed, shape.concurrency)
    outcome = run_relaunch(
        Site(reached.name, keeper, process.pid, launched, args.target, lambda: answers(control)),
        lambda: OwnLoad(reached.endpoint, shape, source, turnovers=args.turnovers, settle_limit_s=args.max_seconds),
        seconds=args.seconds,
        start_limit_s=args.max_seconds,
        keep=args.keep,
        check=None if args.no_answers else OutputCheck(control),
        say=note,
    )
    measured_forecast(forecast_id, outcome.comparison)
    return outcome


def _shape(args: argparse.Namespace, control: Control) -> Shape:
    from ppagent.cli.load_options import default_concurrencies, trial_shape

    return trial_shape(args, args.concurrency or max(2, default_concurrencies(control)[-1]))
