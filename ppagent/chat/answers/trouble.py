"""Any errors in the log? Did it crash? The lines of trouble that the log's reading found, each as it stands there."""

from ppagent.agent.investigation import Investigation
from ppagent.agent.probe_words import look_of
from ppagent.chat.wording import tagged
from ppagent.evidence.evidence import Evidence
from ppagent.report.lines import Line, wrapped

TOOL, TROUBLE = "logs.trouble", "trouble."
MOST, LONGEST = 8, 200
HEAD = "Errors, warnings and what was switched off, as the log has them:"


def trouble_lines(found: Investigation, width: int) -> list[Line]:
    """Each kind of trouble with its first line, or that none was seen; then what was found."""
    read = [item for item in found.evidence if item.tool == TOOL]
    lines = _seen(read, width) if read else _unread(found, width)
    return [*lines, *wrapped(f"Found here: {found.summary}", width, "  ")]


def _seen(read: list[Evidence], width: int) -> list[Line]:
    rows = [(kind, item) for item in read if (kind := _kind(item))]
    if not rows:
        says = tagged("None that I know: the log was read for errors and warnings", [item.id for item in read])
        return wrapped(f"{says}.", width, tone="verdict")
    lines = wrapped(HEAD, width, tone="verdict")
    for kind, item in rows[:MOST]:
        count = item.facts[f"{TROUBLE}{kind}"]
        times = f", {count:g} lines" if isinstance(count, int | float) and count > 1 else ""
        lines += wrapped(tagged(f"{kind.replace('_', ' ')}{times}", (item.id,)), width, "  - ")
        lines += wrapped(item.excerpt[:LONGEST], width, "    > ", tone="dim")
    more = len(rows) - MOST
    return [*lines, Line(f"  and {more} more kinds: /evidence", "dim")] if more > 0 else lines


def _kind(item: Evidence) -> str:
    """The kind of trouble that a piece of evidence is of; empty for what is said of the log as a whole."""
    names = (name.removeprefix(TROUBLE) for name in item.facts if name.startswith(TROUBLE))
    return next((name for name in names if "." not in name), "")


def _unread(found: Investigation, width: int) -> list[Line]:
    why = next((missing.why for missing in found.missing if missing.tool == TOOL), "")
    reason = f" ({why})" if why else ""
    says = f"That cannot be told: the log was not read{reason}. To see: {look_of(TOOL).run}"
    return wrapped(says, width, tone="verdict")
