"""What was done to the server in this session, and how to put it back."""

import re
from collections.abc import Iterator, Sequence

from ppagent.agent.approvals import GRADE_MEANS
from ppagent.agent.investigation import Investigation
from ppagent.changes.proposal import Proposal
from ppagent.chat.acts import HOW, TRIALS, Act
from ppagent.evidence.evidence import Evidence
from ppagent.plugins import Grade
from ppagent.report.lines import Line, raw, wrapped

RESTORE = "ppagent try TARGET --restore puts back what an interrupted trial has left behind."
_OLD = re.compile(r"old value \((\d+)\)")
_VALUE = re.compile(r"(\"[a-z_]*micro_batch_size\": )\d+")
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
        of_it = became.pop(0) if act.ended == "done" and became else None
        yield f"{act.call} ({GRADE_MEANS[act.grade]}): {_ended(act, of_it)}"
    for tool in TRIALS:
        yield from (f"{tool}: {_became(one)} [{one.id}]" for one in by_tool.get(tool, ()))


def _ended(act: Act, item: Evidence | None) -> str:
    if item is None:
        return HOW[act.ended]
    return f"{_became(item) if act.tool in TRIALS else HOW[act.ended]} [{item.id}]"


def _nothing(found: Investigation, said: str, width: int) -> list[Line]:
    lines = wrapped(f"I changed nothing on the server: {said}.", width)
    for proposal in found.plan.proposals:
        if proposal.rollback:
            lines += wrapped(f"if you made the change of {proposal.id}: {proposal.rollback}", width, "  ")
            lines += raw(_call_back(proposal), "    ")
    return [*lines, *_launch_before(found, width)]


def _call_back(proposal: Proposal) -> str:
    """The call that sets the old value of a live change; empty where it is none or the old value is not told."""
    old, call = _OLD.search(proposal.rollback), proposal.commands.partition("\n")[0]
    return _VALUE.sub(rf"\g<1>{old[1]}", call, count=1) if old is not None and _VALUE.search(call) else ""


def _launch_before(found: Investigation, width: int) -> list[Line]:
    """The command that a relaunch would take the place of."""
    fact = found.facts.get("launch.command")
    relaunches = any(proposal.kind == "relaunch" for proposal in found.plan.proposals)
    if not relaunches or fact is None or not isinstance(fact.value, str):
        return []
    return [*wrapped(f"that command [{fact.evidence}]:", width, "  "), *raw(fact.value, "    ")]


def _became(item: Evidence) -> str:
    match item.facts.get("trial.kept"), item.facts.get("trial.restored"):
        case True, _:
            return "the server runs with the new launch; the old command is kept on its host"
        case (False, _) | (_, True):
            return "the server is as it was before, read back"
        case _:
            return f"NOT put back: {RESTORE}"
