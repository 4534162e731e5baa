"""Can you restart it? What this session does of that, and what it leaves to the person."""

from ppagent.agent.investigation import Investigation
from ppagent.chat.answers.safety import RESTART
from ppagent.report.lines import Line, wrapped

NOT_LIVE = "No: this is no live server, so there is nothing to restart from here."
AS_IT_IS = "No: I restart a server only to try a change of its launch, and none is proposed."


def restart_lines(found: Investigation, width: int) -> list[Line]:
    """Whether and how, and what it does to the users."""
    relaunches = [proposal.id for proposal in found.plan.proposals if proposal.kind == "relaunch"]
    if found.target_kind == "recording":
        lines = wrapped(NOT_LIVE, width, tone="verdict")
        if relaunches:
            lines += wrapped(f"/copy {relaunches[0]} takes the new launch command along.", width, "  ")
        return lines
    if not relaunches:
        return [*wrapped(AS_IT_IS, width, tone="verdict"), *wrapped(RESTART, width, "  ")]
    says = (
        f"Only to try a change: /try {relaunches[0]} shows the whole new launch and asks; then it measures, restarts, "
        "measures again, and brings the old launch back unless the new one is better."
    )
    return [*wrapped(says, width, tone="verdict"), *wrapped(RESTART, width, "  ")]
