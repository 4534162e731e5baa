"""How much would it bring? Forecasts of the proposals, and the ceiling of this deployment."""

from ppagent.agent.investigation import Investigation
from ppagent.causes.situation import levels
from ppagent.chat.answers.proposals import range_of
from ppagent.chat.wording import tagged
from ppagent.model.waterfall import LIMIT
from ppagent.report.lines import Line, wrapped
from ppagent.report.rate import rate
from ppagent.report.steps import steps_of


def gain_lines(found: Investigation, width: int) -> list[Line]:
    """A line for each proposal, then the ceiling."""
    lines: list[Line] = [] if found.plan.proposals else wrapped(_now(found), width)
    for step in steps_of(found.plan.proposals):
        says = f"forecast {range_of(step.predicted)}" if step.predicted is not None else "no forecast"
        lines += wrapped(f"{step.id}, {step.heading.lower()}: {says}", width, "  ")
    ceiling = next((step for step in found.plan.waterfall if step.step == LIMIT), None)
    if ceiling is not None:
        says = (
            f"The ceiling at that load, by the bandwidth of the cards' memory with all slots filled and layers even, "
            f"is about {rate(ceiling.value)} {ceiling.unit}."
        )
        lines += wrapped(says, width, "  ")
    if not found.plan.proposals:
        return lines
    return [*lines, *wrapped("A forecast is a range, and only a measurement tells (/try).", width, "  ", tone="dim")]


def _now(found: Investigation) -> str:
    """That there is nothing to gain by what is proposed, beside what was measured."""
    measured = levels(found.facts)[-1:]
    now = [tagged(f"{rate(level.tokens_per_s)} tok/s at C={level.concurrency:g}", level.cites) for level in measured]
    beside = f" Measured: {now[0]}." if now else ""
    return f"Nothing is proposed, so there is no gain to forecast.{beside} What a setting would give: what if ...?"
