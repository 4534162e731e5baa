"""Evidence, unfolded: what one question to a tool found, and the words it was read from."""

import json
from collections.abc import Sequence

from ppagent.agent.investigation import Investigation
from ppagent.chat.answers.absent import absent_lines
from ppagent.chat.wording import id_ranges
from ppagent.evidence.evidence import Evidence
from ppagent.report.lines import Line, raw, wrapped

MOST_VALUE = 2_000
"""Characters of one fact that are shown."""


def evidence_list(found: Investigation, archive: Sequence[Evidence], width: int) -> list[Line]:
    """All evidence that counts, a line each, what got no answer, and the ids of what is of before."""
    lines = [_row(item, width) for item in found.evidence]
    lines += absent_lines(found, width)
    past = id_ranges(tuple(item.id for item in archive if item not in found.evidence))
    lines += (
        wrapped(f"{past}: nothing is concluded from it any more", width, "  before     ", tone="dim") if past else []
    )
    return lines or [Line("  no evidence yet", "dim")]


def evidence_lines(item: Evidence, width: int) -> list[Line]:
    """One piece of evidence, whole."""
    where = " · ".join(part for part in (item.tool, item.artifact, item.host, item.at) if part)
    lines = [Line(f"{item.id}  {where}", "heading")]
    names = max((len(name) for name in item.facts), default=0)
    for name, value in item.facts.items():
        lines += wrapped(_shown(value)[:MOST_VALUE], width, f"  {name:<{min(names, 34)}}  ", " " * 6)
    if item.excerpt:
        lines.append(Line("  as it stands there:", "dim"))
        lines += raw(item.excerpt, "  > ", "dim")
    return lines


def _row(item: Evidence, width: int) -> Line:
    text = f"  {item.id:<4} {item.tool:<17} {item.artifact:<18} {', '.join(item.facts)}"
    return Line(text if len(text) <= width else f"{text[: width - 3]}...")


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
