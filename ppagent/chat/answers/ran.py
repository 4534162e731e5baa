"""What was run on the user's machines: every tool that was asked, where, and what that does to a server."""

from collections.abc import Mapping, Sequence
from itertools import groupby

from ppagent.agent.investigation import Investigation
from ppagent.agent.toolbox import Toolbox
from ppagent.chat.acts import Act
from ppagent.chat.answers.absent import named
from ppagent.chat.answers.done import act_rows
from ppagent.chat.wording import id_ranges
from ppagent.evidence.evidence import Evidence
from ppagent.plugins import Grade
from ppagent.report.lines import Line, wrapped
from ppagent.report.next_command import in_words

ON_FILES = "No command ran on a server: all of this was read from what was recorded."
NOTES = "/evidence E7 shows the words behind an id; undo tells how to put a change back"


def ran_lines(
    found: Investigation, toolbox: Toolbox, asked: Sequence[str], acts: Sequence[Act], width: int
) -> list[Line]:
    """A line for each question, by how much it disturbs, what answered and what did not, and what did more than read.
    `asked`: keys of the questions, a tool's name and its arguments."""
    reads = ((_grade(toolbox, key), key) for key in dict.fromkeys(asked))
    graded = sorted((row for row in reads if row[0] <= Grade.READ_HOST), key=lambda row: row[0])
    if not graded and not acts:
        return wrapped("Nothing yet: nothing was asked of the target.", width)
    lines = wrapped(_head(found, graded, acts), width, tone="verdict")
    answers = {tool: list(items) for tool, items in groupby(sorted(found.evidence, key=_tool), key=_tool)}
    for grade, rows in groupby(graded, key=lambda row: row[0]):
        lines.append(Line(f"  {in_words(grade)}:", "heading"))
        for _, key in rows:
            lines += _row(key, answers, found.target_name, width)
    lines += [Line("  more than reads:", "heading")] if acts else []
    for row in act_rows(acts, found.evidence):
        lines += wrapped(row, width, "    ")
    silent = list(dict.fromkeys(key.partition(" ")[0] for _, key in graded if key.partition(" ")[0] not in answers))
    names = dict.fromkeys(named(tool) for tool in silent)
    lines += wrapped(f"no answer: {', '.join(names)}", width, "  ", tone="dim") if names else []
    return [*lines, *wrapped(NOTES, width, "  ", tone="dim")]


def _head(found: Investigation, graded: Sequence[tuple[int, str]], acts: Sequence[Act]) -> str:
    if found.target_kind == "recording":
        return ON_FILES
    hosts = ", ".join(dict.fromkeys(item.host for item in found.evidence if item.host)) or found.target_name
    told = f"and {len(acts)} that did more" if acts else "I changed nothing on the server"
    return f"On {hosts}: {len(graded)} questions that only read; {told}."


def _row(key: str, answers: Mapping[str, Sequence[Evidence]], target: str, width: int) -> list[Line]:
    tool, _, arguments = key.partition(" ")
    call = tool if arguments in ("", "{}") else f"{tool} {arguments}"
    items = answers.get(tool, ())
    if not items:
        return []
    names = ", ".join(dict.fromkeys(item.artifact for item in items if item.artifact))
    hosts = ", ".join(dict.fromkeys(item.host for item in items if item.host and item.host != target))
    place = f"{names} on {hosts}" if hosts else names
    return wrapped(f"{place}  {id_ranges(tuple(item.id for item in items))}", width, f"    {call:<17} ")


def _grade(toolbox: Toolbox, key: str) -> int:
    offer = toolbox.find(key.partition(" ")[0])
    return int(offer.grade) if offer is not None else 0


def _tool(item: Evidence) -> str:
    return item.tool
