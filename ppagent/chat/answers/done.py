"""What was done to the server in this session, and how to put it back."""

from collections.abc import Iterator, Sequence

from ppagent.agent.approvals import GRADE_MEANS
from ppagent.agent.investigation import Investigation
from ppagent.chat.acts import HOW, TRIALS, Act
from ppagent.evidence.evidence import Evidence
from ppagent.plugins import Grade
from ppagent.report.lines import Line, wrapped

RESTORE = "ppagent try TARGET --restore puts back what an interrupted trial has left behind."
CLEAN = "No trial has left anything behind on it: the old setting stands."


def done_lines(
    found: Investigation, evidence: Sequence[Evidence], acts: Sequence[Act], left: Sequence[Line], width: int
) -> list[Line]:
    """Everything above a read. `evidence` is all of the session; `left` tells of what trials have left behind."""
    reads = sum(count for grade, count in found.cost.tool_calls.items() if int(grade) <= Grade.READ_HOST)
    said = f"{reads} question{'s' if reads != 1 else ''} that only read"
    rows = list(act_rows(acts, evidence))
    if not rows:
        return [*_nothing(found, said, width), *left]
    lines = wrapped(f"{said}, and:", width)
    for row in rows:
        lines += wrapped(row, width, "  - ")
    changed = any(act.tool in TRIALS for act in acts)
    return [*lines, *(left or (wrapped(CLEAN, width, "  ") if changed else []))]


def act_rows(acts: Sequence[Act], evidence: Sequence[Evidence]) -> Iterator[str]:
    """A sentence for each: the call, what it does to a server, how it ended, what it became."""
    by_tool: dict[str, list[Evidence]] = {}
    for item in evidence:
        by_tool.setdefault(item.tool, []).append(item)
    for act in acts:
        became = by_tool.get(act.tool, [])
        item = became.pop(0) if act.ended == "done" and became else None
        yield f"{act.call} ({GRADE_MEANS[act.grade]}): {_ended(act, item)}"
    for tool in TRIALS:
        yield from (f"{tool}: {_became(item)} [{item.id}]" for item in by_tool.get(tool, ()))


def _ended(act: Act, item: Evidence | None) -> str:
    if item is None:
        return HOW[act.ended]
    return f"{_became(item) if act.tool in TRIALS else HOW[act.ended]} [{item.id}]"


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
