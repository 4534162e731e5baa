"""What came of a trial: did it help, what had been forecast, and is it to be kept?"""

from collections.abc import Sequence

from ppagent.agent.investigation import Investigation
from ppagent.chat.acts import HOW, TRIALS, Act
from ppagent.chat.answers.measured import newest_trial, trial_lines
from ppagent.chat.answers.proposals import range_of
from ppagent.evidence.evidence import Evidence
from ppagent.report.lines import Line, wrapped

BETTER = "better"
NOT_TRIED = "Nothing was tried in this session yet: /try measures a change before and after, and asks first."
PUT_BACK = "The trial has put the old setting back, so nothing is kept by itself."


def tried_in(evidence: Sequence[Evidence]) -> list[Evidence]:
    """What trials of this session became."""
    return [item for item in evidence if item.tool in TRIALS]


def helped_lines(evidence: Sequence[Evidence], acts: Sequence[Act], width: int) -> list[Line]:
    """The newest trial's result, or why it has none; empty where none was begun."""
    last = next((act for act in reversed(acts) if act.tool in TRIALS), None)
    if last is not None and last.ended != "done":
        return wrapped(f"That cannot be told: the trial ({last.call}) was {HOW[last.ended]}.", width, tone="verdict")
    return trial_lines(tried_in(evidence)[-1:], width)


def foretold_lines(found: Investigation, width: int) -> list[Line]:
    """The forecasts of what is proposed; empty where there are none."""
    lines: list[Line] = []
    for proposal in found.plan.proposals:
        if proposal.predicted is not None:
            lines += wrapped(f"{proposal.id}: forecast {range_of(proposal.predicted)}", width, "  ")
    return lines


def keep_lines(found: Investigation, evidence: Sequence[Evidence], width: int) -> list[Line]:
    """Whether what was tried is worth keeping, and how it is kept."""
    row = newest_trial(tried_in(evidence)[-1:])
    if not row:
        return wrapped(NOT_TRIED, width, tone="verdict")
    outcome = row.get("outcome")
    if outcome != BETTER:
        return wrapped(f"Nothing measured asks for that: {outcome}. {PUT_BACK}", width, tone="verdict")
    lines = wrapped(f"Yes: it was better under this load. {PUT_BACK}", width, tone="verdict")
    for proposal in found.plan.proposals:
        if proposal.kind == "live":
            says = f"until the next restart: {proposal.id} is the call that sets it (/propose {proposal.id})"
            lines += wrapped(says, width, "  ")
        if proposal.kind == "relaunch":
            says = f"for good: {proposal.id} has it in the launch, one restart (/propose {proposal.id})"
            lines += wrapped(says, width, "  ")
    return lines
