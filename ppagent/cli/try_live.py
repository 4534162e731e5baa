"""The live side of `ppagent try`: from the command line to the experiment and back."""

import argparse
import json
import sys
from dataclasses import dataclass

from ppagent.bench.prompts import Span
from ppagent.bench.reach import Reached
from ppagent.bench.session import PromptSource
from ppagent.bench.shape import Shape
from ppagent.cli.common import note
from ppagent.cli.load_options import prompt_source, trial_shape
from ppagent.errors import ExitStatus, ToolError, UserError
from ppagent.evidence.digits import whole_number
from ppagent.report.labelled import fitted
from ppagent.report.room import columns
from ppagent.trials.change import LiveChange
from ppagent.trials.foresight import Foresight, levels_below, measure_levels
from ppagent.trials.limit import NAMES, LimitState, check_change, read_limit
from ppagent.trials.live import Outcome, run_live
from ppagent.trials.next_run import LEVEL_SHARE
from ppagent.trials.note import read_note
from ppagent.trials.observed import ObservedTraffic
from ppagent.trials.others import serves_others
from ppagent.trials.outputs import OutputCheck
from ppagent.trials.own_load import OwnLoad
from ppagent.trials.phase import Meter
from ppagent.trials.proposals import Proposed
from ppagent.trials.record import RecordedForesight, record_outcome
from ppagent.trials.story import DOES, as_data, live_plan, live_result

GRADE = 3
BESIDE_OTHERS = "; others use the server now, so what it gives this load depends on them: --observe measures theirs"


@dataclass(frozen=True)
class Trial:
    """What is to be tried, all settled."""

    reached: Reached
    state: LimitState
    new: int
    shape: Shape
    seconds: float
    observe: bool
    levels: tuple[int, ...]


def run_live_trial(args: argparse.Namespace, reached: Reached, new: int) -> int:
    """Plan, approval, experiment, result. An exit status."""
    from ppagent.cli.try_ import agreed, blocked

    trial = _trial(args, reached, new)
    traffic, seconds = _traffic(args, trial)
    plan = live_plan(
        reached.name,
        trial.state,
        trial.new,
        traffic,
        seconds=seconds,
        levels=trial.levels,
        rounds=args.rounds,
        margin=args.margin / 100,
    )
    if not agreed(plan, GRADE, args.yes):
        return blocked(f"it {DOES}, which needs a yes, or --yes {GRADE}")
    try:
        outcome = _carry_out(args, trial)
    except KeyboardInterrupt:
        note(f"cancelled; {_as_it_is(trial)}.")
        return ExitStatus.CANCELLED
    if args.format == "json":
        sys.stdout.write(json.dumps(as_data(reached.name, outcome, len(trial.levels)), indent=2) + "\n")
    else:
        sys.stdout.write(f"{fitted(live_result(outcome, len(trial.levels)), columns())}\n")
    return ExitStatus.NOT_ENOUGH_EVIDENCE if outcome.comparison.outcome == "cannot tell" else ExitStatus.OK


def _as_it_is(trial: Trial) -> str:
    """How the setting was left, and what puts it back where that was cut short."""
    left = read_note(trial.reached.name)
    if left is not None:
        return f"{left.says}. Put it back with: {left.command}"
    try:
        return f"{trial.state.key} is at {read_limit(trial.reached.control).value}"
    except ToolError as error:
        return f"nothing is left changed, but {error}"


def read_setting(text: str) -> int:
    """The value in `pp_max_micro_batch_size=1`, dashes allowed. Raises UserError."""
    name, equals, value = text.partition("=")
    if name.strip().lstrip("-").replace("-", "_") not in NAMES:
        raise UserError(f"{name} cannot be set on a running server.", f"Live there is {NAMES[0]} alone.")
    limit = whole_number(value)
    if not equals or not limit:
        raise UserError(f"--set {text} has no whole number of at least 1.", f"Write --set {NAMES[0]}=1.")
    return limit


def limit_of(proposed: Proposed) -> int:
    """The slot limit that a live proposal sets. Raises UserError where it sets something else."""
    settings = [f"{flag}={value}" for flag, value in proposed.change.set.items()]
    if len(settings) != 1:
        raise UserError(f"{proposed.id} sets no single live value.", "Choose another proposal.")
    return read_setting(settings[0])


def _trial(args: argparse.Namespace, reached: Reached, new: int) -> Trial:
    state = read_limit(reached.control)
    check_change(state, new)
    concurrency = args.concurrency or max(2, state.stages)
    shape = trial_shape(args, concurrency)
    levels = () if args.observe or args.no_forecast else levels_below(concurrency)
    return Trial(reached, state, new, shape, args.seconds, args.observe, levels)


def _traffic(args: argparse.Namespace, trial: Trial) -> tuple[str, float]:
    """The traffic in words, and how long a measurement under it takes."""
    if args.observe:
        observed = ObservedTraffic(trial.reached.control)
        return observed.describes, observed.expected_s(trial.seconds)
    name = args.prompts.name if args.prompts is not None else ""
    describes = OwnLoad(trial.reached.endpoint, trial.shape, PromptSource(name=name)).describes
    return describes + (BESIDE_OTHERS if serves_others(trial.reached.control) else ""), trial.seconds


def _carry_out(args: argparse.Namespace, trial: Trial) -> Outcome:
    control = trial.reached.control
    check = None if args.no_answers else OutputCheck(control)
    change = LiveChange(control, trial.reached.name, trial.state, trial.new, target=args.target)
    meter: Meter = ObservedTraffic(control)
    foresee = None
    if not trial.observe:
        source = prompt_source(args, control)
        endpoint, limit_s = trial.reached.endpoint, args.max_seconds
        levels = measure_levels(endpoint, _short(trial.shape), source, trial.levels, LEVEL_SHARE * trial.seconds, _say)
        meter = OwnLoad(endpoint, trial.shape, source, turnovers=args.turnovers, settle_limit_s=limit_s)
        if not args.no_forecast:
            made = Foresight(control.server_info(), levels, trial.state.value, trial.new, trial.shape.concurrency or 1)
            foresee = RecordedForesight(made, trial.reached.name, trial.state, trial.new)
    outcome = run_live(
        change,
        meter,
        seconds=trial.seconds,
        rounds=args.rounds,
        margin=args.margin / 100,
        foresee=foresee,
        check=check,
        say=_say,
    )
    if foresee is not None:
        record_outcome(foresee, outcome)
    return outcome


def _short(shape: Shape) -> Shape:
    """For levels that only show the turn: answers of half the length do."""
    low, high = shape.output_tokens.low, shape.output_tokens.high
    return Shape(
        concurrency=shape.concurrency,
        input_tokens=shape.input_tokens,
        output_tokens=Span(max(2, low // 2), max(2, high // 2)),
        seed=shape.seed,
    )


def _say(sentence: str) -> None:
    note(sentence)
