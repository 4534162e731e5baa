"""What would tell more: the questions that are open, and where their answers would have to come from."""

from ppagent.agent.investigation import Investigation
from ppagent.chat.answers.probes import probe_lines
from ppagent.report.lines import Line, wrapped

MOST_PROBES = 4
RECORD = (
    "This is no live server, and what it holds was read. Record the server while it has its load: "
    "ppagent record ssh://HOST -o DIR."
)


def needs_lines(found: Investigation, width: int) -> list[Line]:
    """The open questions, and how to come by the answers."""
    lines: list[Line] = []
    lines += probe_lines(found, found.next_probes[:MOST_PROBES], width, "  would tell more  ")
    if not lines:
        return wrapped("Nothing more: no open question is left that a tool could answer.", width)
    if found.target_kind == "recording":
        lines += wrapped(RECORD, width, "  ")
    return lines
