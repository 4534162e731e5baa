"""What to look at next, told apart from what was looked at already and did not tell."""

from collections.abc import Iterable

from ppagent.agent.investigation import Investigation
from ppagent.agent.probe_words import how_to_see, look_of
from ppagent.causes.cause import Probe
from ppagent.report.lines import Line, wrapped

READ = "read here, which did not tell"


def probe_lines(found: Investigation, probes: Iterable[Probe], width: int, label: str) -> list[Line]:
    """A line for each question that is still open."""
    read = {item.tool for item in found.evidence}
    lines: list[Line] = []
    for probe in probes:
        known = f" ({READ})" if probe.tool in read else ""
        lines += wrapped(f"{look_of(probe.tool).at}{known}: {probe.why} ({how_to_see(probe)})", width, label)
    return lines
