"""Offers the trial of a live change: a yes starts it, and it shows first what it would do."""

from ppagent.agent.approvals import GRADE_MEANS
from ppagent.chat.session import Session
from ppagent.report.lines import Line, wrapped


def offer_trial(session: Session) -> None:
    """Where a live change is proposed for a live server, a yes starts its trial."""
    found = session.found()
    live = next((proposal for proposal in found.plan.proposals if proposal.kind == "live"), None)
    if live is None or found.target_kind == "recording" or session.consent.dialog is None:
        return
    session.offer = f"/try {live.id}"
    session.say(
        wrapped(
            f"Shall I try {live.id} live? I measure before and after, and put the old value back (yes shows the plan).",
            session.screen.width,
        )
    )


def put_off_lines(session: Session) -> list[Line]:
    """What could be looked at further, if the person allows it."""
    call = session.put_off
    if call is None:
        return []
    says = (
        f"{call['tool']} ({GRADE_MEANS[call['grade']]}): {call['why']}. Say go on, and I show first what it would do."
    )
    return wrapped(says, session.screen.width, "  FURTHER  ", tone="dim")
