"""Experiments on the running server: a live setting, and a relaunch. Measured before and after, and put back."""

import json
from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, Field

from ppagent.errors import PpagentError, ToolError, UserError
from ppagent.evidence.evidence import FactValue, Finding
from ppagent.plugins import Announcement, Grade, Tool, ToolContext
from ppagent.trials.change import LiveChange, left_behind
from ppagent.trials.facts import live_row
from ppagent.trials.foresight import Foresight, levels_below, measure_levels
from ppagent.trials.limit import LimitState, check_change, read_limit
from ppagent.trials.live import Outcome, run_live
from ppagent.trials.outputs import OutputCheck
from ppagent.trials.own_load import OwnLoad
from ppagent.trials.record import RecordedForesight, record_outcome
from ppagent.trials.story import as_data, live_plan
from ppagent_tools.bench_live import Length
from ppagent_tools.live_server import MEASURED, reached, shape_of, words_of
from ppagent_tools.tune_relaunch import Relaunch

LEVEL_SHARE = 0.4


class LimitArguments(BaseModel, extra="forbid"):
    """Which limit, under which load."""

    limit: Annotated[int, Field(ge=1, description="requests that a slot may take: ceil(requests in flight / slots)")]
    concurrency: int = Field(0, ge=0, le=1024, description="requests in flight; 0 for as many as there are stages")
    seconds: float = Field(20.0, ge=2, le=120, description="of each measurement; there are three")
    think_s: float = Field(0.1, ge=0, le=10)
    input_tokens: Length = Field([64, 256])
    output_tokens: Length = Field([32, 96])


class SetLimit:
    name = "tune.set_limit"
    summary = (
        "Sets pp_max_micro_batch_size on the running server, measures old, new, old again under one load of its own, "
        "compares answers, and puts the old value back whatever happens."
    )
    grade = Grade.PERTURB
    live_only = True
    provides: tuple[str, ...] = ("trial.",)
    arguments: type[BaseModel] = LimitArguments

    def announce(self, context: ToolContext, arguments: BaseModel) -> Announcement:
        asked, server = _asked(arguments), reached(context)
        state = _state(context, asked)
        concurrency = asked.concurrency or max(2, state.stages)
        about_s = 6 * asked.seconds + 2 * LEVEL_SHARE * asked.seconds * len(levels_below(concurrency))
        plan = live_plan(
            server.name,
            state,
            asked.limit,
            f"own load: {concurrency} requests at a time, think time {asked.think_s:g} s",
            seconds=asked.seconds,
            about_s=about_s,
            levels=levels_below(concurrency),
        )
        return Announcement(
            plan, about_s, "one setting is changed and put back; own requests load the server", server.name
        )

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        asked = _asked(arguments)
        state = _state(context, asked)
        concurrency = asked.concurrency or max(2, state.stages)
        outcome = _tried(context, asked, state, concurrency)
        row = live_row(outcome, concurrency)
        facts: dict[str, FactValue] = {"trial.comparisons": [row], "trial.restored": outcome.restored}
        told = as_data(reached(context).name, outcome)
        excerpt = json.dumps({name: told[name] for name in ("outcome", "before", "after", "why", "outputs")})
        return [Finding("trial", facts, excerpt, authority=MEASURED)]


def tools() -> tuple[Tool, ...]:
    return (SetLimit(), Relaunch())


def _asked(arguments: BaseModel) -> LimitArguments:
    return LimitArguments.model_validate(arguments.model_dump())


def _state(context: ToolContext, asked: LimitArguments) -> LimitState:
    """The limit now. Raises ToolError where the change cannot be tried, or an earlier trial left one behind."""
    server = reached(context)
    left = left_behind(server.name)
    if left is not None:
        raise ToolError(f"{left.says}: put it back first with `ppagent try TARGET --restore`")
    state = read_limit(server.control)
    try:
        check_change(state, asked.limit)
    except UserError as error:
        raise ToolError(str(error)) from error
    return state


def _tried(context: ToolContext, asked: LimitArguments, state: LimitState, concurrency: int) -> Outcome:
    server = reached(context)
    control, source = server.control, words_of(server)
    shape = shape_of(concurrency, asked.think_s, asked.input_tokens, asked.output_tokens, asked.seconds)
    short_s = LEVEL_SHARE * asked.seconds
    levels = measure_levels(server.endpoint, shape, source, levels_below(concurrency), short_s, _quiet)
    made = Foresight(control.server_info(), levels, state.value, asked.limit, concurrency)
    foresee = RecordedForesight(made, server.name, state, asked.limit)
    meter = OwnLoad(server.endpoint, shape, source)
    change = LiveChange(control, server.name, state, asked.limit)
    try:
        outcome = run_live(change, meter, seconds=asked.seconds, foresee=foresee, check=OutputCheck(control))
    except ToolError:
        raise
    except PpagentError as error:
        raise ToolError(str(error)) from error
    record_outcome(foresee, outcome)
    return outcome


def _quiet(sentence: str) -> None:
    """Nobody looks on."""
