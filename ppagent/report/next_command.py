"""The one command to run where the evidence does not suffice, and what it does, in the words of whoever is on call."""

from ppagent.agent.approvals import GRADE_MEANS
from ppagent.agent.investigation import Investigation
from ppagent.causes.ends import end_of
from ppagent.report.lacking import PASTED
from ppagent.targets.target import NO_SERVER

ON_THE_SERVER = "`local` in its place on the server's own machine"
PASTE_MORE = "; or paste what the commands under LOOK NEXT print, together with this text"
READS = "reads log, launch command, metrics and cards of the running server, and changes nothing"


def next_command(found: Investigation) -> tuple[str, str]:
    """The command and what it does; both empty where the verdict stands."""
    if found.verdict != "not_enough_evidence":
        return "", ""
    if found.target_kind == "recording":
        wants_load = found.target_name != PASTED and _first_tool(found).startswith("bench")
        if wants_load:
            return "ppagent bench ssh://HOST", f"measures the server under one load after another; {ON_THE_SERVER}"
        paste = PASTE_MORE if found.target_name == PASTED else ""
        return "ppagent diagnose ssh://HOST", f"{_when(found)}: it {READS}; {ON_THE_SERVER}{paste}"
    where = words_of(found)
    if NO_SERVER.lower() in found.summary.lower():
        return f"ppagent diagnose {where}", f"once the server runs again and has its usual load: it {READS}"
    if _first_tool(found).startswith("bench"):
        return f"ppagent bench {where}", "measures the server under one load after another; asks before it begins"
    if found.next_probes and found.next_probes[0].grade == 3:
        return f"ppagent diagnose {where} --ceiling 3", "looks deeper, which disturbs the server for moments"
    return f"ppagent diagnose {where}", f"once more while the usual load is on: it {READS}"


def _when(found: Investigation) -> str:
    """A server without load shows nothing of what makes it slow, and one that ended shows nothing at all."""
    end = end_of(found.facts)
    return "once the server runs again" if end is not None and end.fatal else "while the usual load is on"


def words_of(found: Investigation) -> str:
    """A live target as a command names it once more: as the user did, with user and port."""
    if found.target_words:
        return found.target_words
    return "local" if found.target_kind == "local" else f"ssh://{found.target_name}"


def in_words(grade: int) -> str:
    """What a tool of this grade does to the server."""
    return GRADE_MEANS[grade]


def _first_tool(found: Investigation) -> str:
    return found.next_probes[0].tool if found.next_probes else ""
