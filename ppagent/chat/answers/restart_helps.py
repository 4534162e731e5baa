"""Would a restart help? Of what was found, what outlives a restart with the same command and what does not."""

from ppagent.agent.investigation import Investigation
from ppagent.chat.answers.safety import RESTART
from ppagent.report.lines import Line, wrapped

FOR_A_WHILE = {
    "PP008": "it serves again, until a stage hangs the next time",
    "HW004": "a card that has fallen off the bus may come back with the host, not with the server",
}
"""Causes that a restart alone takes away for some time."""
NO_START = "LA"
"""How the ids of causes begin for which a server does not come up."""
SET_LIVE = "a limit that was set live is gone with it, and the launch's own holds again"


def restart_helps_lines(found: Investigation, width: int) -> list[Line]:
    """Yes or no, and why; then what a restart costs."""
    lines = wrapped(_says(found), width, tone="verdict")
    relaunches = [proposal.id for proposal in found.plan.proposals if proposal.kind == "relaunch"]
    if relaunches:
        lines += wrapped(f"With a changed command: {' or '.join(relaunches)} (/propose {relaunches[0]})", width, "  ")
    started = not any(hypothesis.cause_id.startswith(NO_START) for hypothesis in found.board.supported)
    return [*lines, *(wrapped(RESTART, width, "  ") if started else [])]


def _says(found: Investigation) -> str:
    match found.verdict:
        case "healthy":
            return f"There is nothing that it would mend. {found.summary}"
        case "not_enough_evidence":
            return f"That cannot be told: {found.summary}"
        case _:
            return _of_causes(found)


def _of_causes(found: Investigation) -> str:
    ids = [hypothesis.cause_id for hypothesis in found.board.supported]
    for cause_id in ids:
        if cause_id in FOR_A_WHILE:
            return f"For a while at most: {FOR_A_WHILE[cause_id]} ({cause_id})."
    if "PP003" in ids and found.facts.first("launch.pp_max_micro_batch_size", "launch.max_micro_batch_size") is None:
        return f"It may: {SET_LIVE} (PP003)."
    names = ", ".join(f"{h.judgement.cause.name} ({h.cause_id})" for h in found.board.supported)
    return f"Not with the same command: what was found comes back with it: {names}."
