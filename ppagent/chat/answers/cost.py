"""What the session has cost so far."""

from ppagent.agent.approvals import GRADE_MEANS
from ppagent.agent.budget import Budget
from ppagent.agent.investigation import Investigation
from ppagent.chat.wording import duration
from ppagent.report.lines import Line


def cost_lines(found: Investigation, budget: Budget) -> list[Line]:
    """Time at work, questions by grade, and what a model took."""
    cost = found.cost
    lines = [Line(f"  time      {duration(cost.seconds)} at work (a question may take {budget.seconds:g} s)")]
    for grade, count in sorted(cost.tool_calls.items()):
        lines.append(Line(f"  grade {grade}   {count} question{'' if count == 1 else 's'}: {GRADE_MEANS[int(grade)]}"))
    if found.denied:
        lines.append(Line(f"  denied    {len(found.denied)}"))
    model = f"{cost.tokens} tokens, {cost.usd:.4f} USD (at most {budget.usd:g})" if cost.tokens else "no model asked"
    return [*lines, Line(f"  {found.brain:<9} {model}")]
