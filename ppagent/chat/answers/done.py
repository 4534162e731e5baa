"""What was done to the server in this session, and how to put it back."""

from collections.abc import Sequence

from ppagent.agent.approvals import GRADE_MEANS
from ppagent.agent.investigation import Investigation
from ppagent.chat.measures import TRIES
from ppagent.evidence.evidence import Evidence
from ppagent.plugins import Grade
from ppagent.report.lines import Line, wrapped

RESTORE = "ppagent try TARGET --restore puts back what an interrupted trial has left behind."


def done_lines(found: Investigation, evidence: Sequence[Evidence], width: int) -> list[Line]:
    """Everything above a read. `evidence` is all of the session."""
    counted = {int(grade): count for grade, count in found.cost.tool_calls.items() if count}
    reads = sum(count for grade, count in counted.items() if grade <= Grade.READ_HOST)
    acts = {grade: count for grade, count in sorted(counted.items()) if grade > Grade.READ_HOST}
    tried = [item for item in evidence if item.tool in TRIES]
    said = f"{reads} question{'s' if reads != 1 else ''} that only read"
    if not acts and not tried:
        return _nothing(found, said, width)
    lines = wrapped(f"{said}, and:", width)
    for grade, count in acts.items():
        lines += wrapped(f"grade {grade}, {GRADE_MEANS[grade]}: {count} time{'s' if count != 1 else ''}", width, "  ")
    for item in tried:
        lines += wrapped(f"{item.tool} [{item.id}]: {_became(item)}", width, "  ")
    return lines


def _nothing(found: Investigation, said: str, width: int) -> list[Line]:
    lines = wrapped(f"I changed nothing on the server: {said}.", width)
    for proposal in found.plan.proposals:
        if proposal.rollback:
            lines += wrapped(f"if you made the change of {proposal.id}: {proposal.rollback}", width, "  ")
    return lines


def _became(item: Evidence) -> str:
    match item.facts.get("trial.kept"), item.facts.get("trial.restored"):
        case True, _:
            return "the server runs with the new launch; the old command is kept on its host"
        case (False, _) | (_, True):
            return "the server is as it was before, read back"
        case _:
            return f"NOT put back: {RESTORE}"
