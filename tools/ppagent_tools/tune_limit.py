"""What `tune.set_limit` does."""

import json
from collections.abc import Sequence

from ppagent.errors import PpagentError, ToolError, UserError
from ppagent.evidence.counts import agreeing
from ppagent.evidence.evidence import FactValue, Finding
from ppagent.plugins import Announcement, ToolContext
from ppagent.trials.change import LiveChange, left_behind
from ppagent.trials.facts import live_row
from ppagent.trials.foresight import Foresight, levels_below, measure_levels
from ppagent.trials.limit import LimitState, check_change, read_limit
from ppagent.trials.live import Outcome, run_live
from ppagent.trials.next_run import LEVEL_SHARE
from ppagent.trials.observed import ObservedTraffic
from ppagent.trials.others import serves_others
from ppagent.trials.outputs import OutputCheck
from ppagent.trials.own_load import OwnLoad
from ppagent.trials.record import RecordedForesight, record_outcome
from ppagent.trials.story import about_s, as_data, live_plan
from ppagent_tools.live_server import MEASURED, reached, shape_of, words_of
from ppagent_tools.tune import LimitArguments

_OTHERS = "tune_limit.serves_others"


def announced(context: ToolContext, asked: LimitArguments) -> Announcement:
    """The whole plan."""
    server, state = reached(context), _state(context, asked)
    observe = _observes(context, asked)
    concurrency = _concurrency(asked, state)
    levels = () if observe else levels_below(concurrency)
    traffic, seconds = (
        agreeing(f"own load: {concurrency} requests at a time, think time {asked.think_s:g} s"),
        asked.seconds,
    )
    if observe:
        observed = ObservedTraffic(server.control)
        traffic, seconds = observed.describes, observed.expected_s(asked.seconds)
    plan = live_plan(server.name, state, asked.limit, traffic, seconds=seconds, levels=levels, rounds=asked.rounds)
    expected_s = about_s(seconds, len(levels), 1)
    effect = "one setting is changed and put back; "
    effect += "the requests of others feel it" if observe else "own requests load the server"
    return Announcement(plan, expected_s, effect, server.name)


def tried(context: ToolContext, asked: LimitArguments) -> Sequence[Finding]:
    """The trial as evidence. Raises ToolError where it cannot be made; the old value is back then too, or the error
    says that it is not."""
    state = _state(context, asked)
    observe = _observes(context, asked)
    concurrency = None if observe else _concurrency(asked, state)
    try:
        outcome = _outcome(context, asked, state, concurrency)
    except ToolError:
        raise
    except PpagentError as error:
        raise ToolError(str(error)) from error
    facts: dict[str, FactValue] = {
        "trial.comparisons": [live_row(outcome, concurrency)],
        "trial.restored": outcome.restored,
    }
    told = as_data(reached(context).name, outcome, 0 if concurrency is None else len(levels_below(concurrency)))
    excerpt = json.dumps({name: told[name] for name in ("outcome", "before", "after", "why", "outputs", "next")})
    return [Finding("trial", facts, excerpt, authority=MEASURED)]


def _state(context: ToolContext, asked: LimitArguments) -> LimitState:
    """The limit now. Raises ToolError where the change cannot be tried, or an earlier trial left one behind."""
    server = reached(context)
    left = left_behind(server.name)
    if left is not None:
        raise ToolError(f"{left.says}: put it back first with `{left.command}`")
    state = read_limit(server.control)
    try:
        check_change(state, asked.limit)
    except UserError as error:
        raise ToolError(str(error)) from error
    return state


def _concurrency(asked: LimitArguments, state: LimitState) -> int:
    return asked.concurrency or max(2, state.stages)


def _observes(context: ToolContext, asked: LimitArguments) -> bool:
    """Whether the traffic that is there is measured; looked at once, so that what was agreed to is what is done."""
    if asked.observe is not None:
        return asked.observe
    known = context.cache.get(_OTHERS)
    if not isinstance(known, bool):
        known = context.cache[_OTHERS] = serves_others(reached(context).control)
    return known


def _outcome(context: ToolContext, asked: LimitArguments, state: LimitState, concurrency: int | None) -> Outcome:
    if concurrency is None:
        return _observed(context, asked, state)
    return _loaded(context, asked, state, concurrency)


def _observed(context: ToolContext, asked: LimitArguments, state: LimitState) -> Outcome:
    """Under the traffic of others, held against the proposal's forecast where there is one."""
    server = reached(context)
    control = server.control
    forecast = asked.forecast
    foresee = RecordedForesight(lambda first: (forecast, ""), server.name, state, asked.limit) if forecast else None
    outcome = run_live(
        LiveChange(control, server.name, state, asked.limit),
        ObservedTraffic(control),
        seconds=asked.seconds,
        rounds=asked.rounds,
        foresee=foresee,
        check=OutputCheck(control),
        say=context.say,
    )
    if foresee is not None and outcome.unit == "tok/s":
        record_outcome(foresee, outcome)
    return outcome


def _loaded(context: ToolContext, asked: LimitArguments, state: LimitState, concurrency: int) -> Outcome:
    """Under a load of our own."""
    server = reached(context)
    control, source = server.control, words_of(server)
    shape = shape_of(concurrency, asked.think_s, asked.input_tokens, asked.output_tokens, asked.seconds)
    short_s = LEVEL_SHARE * asked.seconds
    levels = measure_levels(server.endpoint, shape, source, levels_below(concurrency), short_s, context.say)
    made = Foresight(control.server_info(), levels, state.value, asked.limit, concurrency)
    foresee = RecordedForesight(made, server.name, state, asked.limit)
    meter, change = OwnLoad(server.endpoint, shape, source), LiveChange(control, server.name, state, asked.limit)
    outcome = run_live(
        change,
        meter,
        seconds=asked.seconds,
        rounds=asked.rounds,
        foresee=foresee,
        check=OutputCheck(control),
        say=context.say,
    )
    record_outcome(foresee, outcome)
    return outcome
