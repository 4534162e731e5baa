"""The relaunch side of `ppagent try`: the whole diff first, then stop, start, watch, measure, keep or roll back."""

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path

from ppagent.bench.control import Control
from ppagent.bench.endpoint import is_url
from ppagent.bench.reach import Reached
from ppagent.bench.shape import Shape
from ppagent.cli.common import note
from ppagent.cli.load_options import prompt_source
from ppagent.errors import ExitStatus, NotRecorded, UserError
from ppagent.ledger import Forecasted, Measured, new_id, now, record_forecast, record_measured
from ppagent.targets.live import LiveTarget
from ppagent.targets.live_host import LiveHost
from ppagent.targets.open_live import open_live
from ppagent.trials.launches import NewLaunch, new_launch, why_not
from ppagent.trials.machine import Machine
from ppagent.trials.outputs import OutputCheck
from ppagent.trials.own_load import OwnLoad
from ppagent.trials.proposals import Proposed, proposal_in, proposal_of
from ppagent.trials.relaunch import RelaunchOutcome, Site, run_relaunch
from ppagent.trials.relaunch_story import relaunch_data, relaunch_plan, relaunch_result
from ppagent.trials.serving import answers

GRADE = 5


@dataclass(frozen=True)
class Case:
    """A proposal, the server it is for, and the command that it makes."""

    proposed: Proposed
    reached: Reached
    host: LiveHost
    launch: NewLaunch
    version: str


def find_proposal(args: argparse.Namespace, reached: Reached) -> Proposed:
    """The proposal asked for: in the report, or by a diagnosis made now."""
    if args.report:
        return proposal_in(Path(args.report), args.proposal)
    note("no --report is given: diagnosing first, by reading only")
    return proposal_of(_target_of(reached, args), args.proposal)


def run_relaunch_trial(args: argparse.Namespace, reached: Reached, proposed: Proposed) -> int:
    """Plan with the whole diff, approval, experiment, result. An exit status."""
    from ppagent.cli.try_ import agreed, blocked

    case = _case(args, reached, proposed)
    reason = why_not(case.host.server)
    plan = relaunch_plan(case.launch, case.reached.name, proposed, args.keep, args.seconds, reason)
    if reason:
        sys.stdout.write(f"{plan}\n")
        return blocked(f"ppagent does not relaunch this server: {reason}")
    if not agreed(plan, GRADE, args.yes):
        return blocked(f"it needs a yes to this diff, or --yes {GRADE}")
    try:
        outcome = _carry_out(args, case)
    except KeyboardInterrupt:
        note("cancelled; the old launch serves.")
        return ExitStatus.CANCELLED
    if args.format == "json":
        sys.stdout.write(json.dumps(relaunch_data(reached.name, case.launch, proposed, outcome), indent=2) + "\n")
    else:
        sys.stdout.write(relaunch_result(proposed, outcome) + "\n")
    return ExitStatus.OK if not outcome.failure else ExitStatus.FAILURE


def _case(args: argparse.Namespace, reached: Reached, proposed: Proposed) -> Case:
    host = _host(reached, args)
    try:
        server = host.server
    except NotRecorded as error:
        raise UserError(f"The server's process cannot be seen: {error}.", "Run ppagent where it runs.") from error
    version = reached.control.server_info().version or ""
    return Case(proposed, reached, host, new_launch(server.launcher.cmdline, proposed.change, version), version)


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


def _carry_out(args: argparse.Namespace, case: Case) -> RelaunchOutcome:
    reached, host = case.reached, case.host
    control = reached.control
    machine = Machine(host.link, _python(host))
    launched = machine.save(host.server.launcher.pid, new_id())
    machine.prepare(launched.folder, case.launch.argv, case.launch.env)
    source = prompt_source(args, control)
    shape = _shape(args, control)
    forecast_id = _recorded(case, shape)
    outcome = run_relaunch(
        Site(reached.name, machine, host.server.launcher.pid, launched, args.target, lambda: answers(control)),
        lambda: OwnLoad(reached.endpoint, shape, source, turnovers=args.turnovers, settle_limit_s=args.max_seconds),
        seconds=args.seconds,
        start_limit_s=args.max_seconds,
        keep=args.keep,
        check=None if args.no_answers else OutputCheck(control),
        say=note,
    )
    if forecast_id and outcome.comparison is not None:
        found = outcome.comparison
        noise = round(found.noise_share, 4)
        record_measured(Measured(forecast_id, now(), found.before, found.after, noise, found.outcome))
    return outcome


def _shape(args: argparse.Namespace, control: Control) -> Shape:
    from ppagent.cli.load_options import default_concurrencies

    concurrency = args.concurrency or max(2, default_concurrencies(control)[-1])
    return Shape(
        concurrency=concurrency,
        think_s=args.think_time,
        input_tokens=args.input_len,
        output_tokens=args.output_len,
        seed=args.seed,
        seconds=args.seconds,
    )


def _recorded(case: Case, shape: Shape) -> str:
    """Puts the proposal's forecast on record; empty where there is none for this load."""
    made = case.proposed.predicted
    if made is None or made.at_concurrency != shape.concurrency:
        return ""
    entry = Forecasted(
        id=new_id(),
        at=now(),
        server=case.reached.name,
        version=case.version,
        change={**case.proposed.change.set, **dict.fromkeys(case.proposed.change.unset, "unset")},
        metric=made.metric,
        concurrency=made.at_concurrency,
        baseline=made.baseline,
        low=made.low,
        high=made.high,
    )
    record_forecast(entry)
    return entry.id


def _python(host: LiveHost) -> str:
    """A Python of the host for a program of the standard library: the file that runs the server, whatever its
    environment."""
    return host.server.launcher.exe or "python3"
