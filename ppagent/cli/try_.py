"""`ppagent try`: a before/after experiment on a live server, with a noise band and a way back."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ppagent.cli.common import NumberFrom, note, says_yes, somebody_there
from ppagent.cli.load_options import LIVE_HELP, add_load_arguments
from ppagent.errors import ExitStatus, UserError

if TYPE_CHECKING:
    from ppagent.bench.reach import Reached
    from ppagent.trials.proposals import Proposed

NAME = "try"
HELP = """Tries a change on a running server and measures what it gives.

  ppagent try TARGET --set pp_max_micro_batch_size=1
      live: old, new, old again; put back after
  ppagent try TARGET --proposal P2 --report REPORT.json
      a restart with a new launch command
  ppagent try TARGET --restore
      put back what a trial that died left behind

Nothing is changed before you have seen what will be done and said yes, or allowed its grade
with --yes (3 for a live change, 5 for a restart)."""
GRADES = range(6)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("target", metavar="TARGET", help=LIVE_HELP)
    add("--set", dest="setting", metavar="NAME=VALUE", help="the live setting to try: pp_max_micro_batch_size")
    add("--proposal", metavar="ID", help="the proposal of a diagnosis to try (P2)")
    add("--report", metavar="FILE", help="that diagnosis, as `diagnose --format json` wrote it; made anew without")
    add("--restore", action="store_true", help="put back what an earlier trial left behind, and nothing else")
    add(
        "--yes",
        type=int,
        choices=GRADES,
        default=0,
        metavar="GRADE",
        help="allow up to this grade without asking: 3 or 5, as above",
    )
    add("--observe", action="store_true", help="send nothing: measure the traffic that is there")
    add(
        "--concurrency",
        type=NumberFrom(1, "requests", whole=True),
        metavar="N",
        help="requests in flight of its own load (one a stage)",
    )
    add(
        "--think-time",
        type=NumberFrom(0, "seconds"),
        default=0.1,
        metavar="S",
        help="pause of a client before its next request (0.1)",
    )
    add_load_arguments(parser)
    add(
        "--seconds",
        type=NumberFrom(1, "seconds"),
        default=30.0,
        metavar="S",
        help="how long each measurement takes (30)",
    )
    add("--turnovers", type=NumberFrom(1, "generations", whole=True), default=2, metavar="N",
        help="generations of requests to let pass after a change (2)")  # fmt: skip
    add("--rounds", type=NumberFrom(1, "rounds", whole=True), default=4, metavar="N",
        help="new and old again, live, at most so often until the difference is told (4)")  # fmt: skip
    add("--margin", type=NumberFrom(0.5, "percent"), default=5.0, metavar="PERCENT",
        help="a smaller difference does not matter, live (5)")  # fmt: skip
    add(
        "--max-seconds",
        type=NumberFrom(10, "seconds"),
        default=900.0,
        metavar="S",
        help="longest wait, for requests to turn over or for a start (900)",
    )
    add("--keep", choices=("better", "always", "never"), default="better",
        help="after a restart, whether the new launch stays (if better)")  # fmt: skip
    add("--no-forecast", action="store_true", help="measure no levels for a forecast first")
    add("--no-answers", action="store_true", help="do not compare answers before and after")
    add("--format", choices=("text", "json"), default="text", help="form of the result (text)")


def run(args: argparse.Namespace) -> int:
    asked = [name for name in ("setting", "proposal", "restore") if getattr(args, name)]
    if len(asked) != 1:
        raise UserError("Say what to try: --set, --proposal or --restore, one of them.", "`ppagent try --help`.")
    if args.restore:
        from ppagent.cli.try_restore import run_restore

        return run_restore(args)
    from ppagent.cli.reaching import reached_server

    asked_for = _asked_for(args)  # what is written wrong is said before any server is bothered
    reached = reached_server(args)
    try:
        return _run(args, reached, asked_for)
    finally:
        reached.close()


def _asked_for(args: argparse.Namespace) -> "int | Proposed | None":
    """The limit or the reported proposal to try; None for a proposal that a diagnosis is still to make. Raises
    UserError."""
    if args.setting:
        from ppagent.cli.try_live import read_setting

        return read_setting(args.setting)
    from ppagent.trials.proposals import proposal_in

    return proposal_in(Path(args.report), args.proposal) if args.report else None


def _run(args: argparse.Namespace, reached: "Reached", asked_for: "int | Proposed | None") -> int:
    from ppagent.cli.left_behind import offer_restore
    from ppagent.cli.try_live import limit_of, run_live_trial

    if not offer_restore(reached, args.target, allowed=args.yes >= 3):
        return blocked("an earlier trial's change is still in force, so there is no old state to compare with")
    if isinstance(asked_for, int):
        return run_live_trial(args, reached, asked_for)
    from ppagent.cli.try_relaunch import diagnosed_proposal, run_relaunch_trial

    proposed = asked_for or diagnosed_proposal(args, reached)
    match proposed.kind:
        case "live":
            return run_live_trial(args, reached, limit_of(proposed))
        case "relaunch":
            return run_relaunch_trial(args, reached, proposed)
    raise UserError(f"{proposed.id} is to be done by hand.", "The report says how.")


def agreed(plan: str, grade: int, yes: int) -> bool:
    """Shows the plan; whether it may be carried out: by --yes, or by the person at the terminal."""
    from ppagent.report.labelled import fitted
    from ppagent.report.room import columns

    sys.stderr.write(f"{fitted(plan, columns())}\n")
    if yes >= grade:
        return True
    if not somebody_there():
        return False
    return says_yes("do it? [y]es, [n]o: ")


def blocked(why: str) -> ExitStatus:
    """Nothing was done, and why."""
    note(f"nothing was changed: {why}.")
    return ExitStatus.BLOCKED_BY_POLICY
