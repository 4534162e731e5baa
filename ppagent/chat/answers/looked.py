"""What was looked at: each tool with what it read and the evidence it gave, and what got no answer."""

from collections.abc import Sequence

from ppagent.agent.investigation import Investigation
from ppagent.chat.answers.absent import absent_lines
from ppagent.chat.wording import id_ranges
from ppagent.evidence.evidence import Evidence
from ppagent.report.lines import Line, wrapped

MOST_ARTIFACTS = 4


def looked_lines(found: Investigation, width: int) -> list[Line]:
    """A line for each tool that was asked."""
    by_tool: dict[str, list[Evidence]] = {}
    for item in found.evidence:
        by_tool.setdefault(item.tool, []).append(item)
    lines: list[Line] = []
    for tool, items in by_tool.items():
        lines += wrapped(f"{_artifacts(items)}  {id_ranges(tuple(item.id for item in items))}", width, f"  {tool:<17} ")
    lines += absent_lines(found, width)
    return [*(lines or [Line("  nothing yet")]), Line("  /evidence E7 shows the words behind an id", "dim")]


def _artifacts(items: Sequence[Evidence]) -> str:
    names = list(dict.fromkeys(item.artifact for item in items if item.artifact))
    more = f" and {len(names) - MOST_ARTIFACTS} more" if len(names) > MOST_ARTIFACTS else ""
    return ", ".join(names[:MOST_ARTIFACTS]) + more
