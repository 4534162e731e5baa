"""What got no answer: of a recording or a paste what is not in it, in a line; of a live server each with its reason."""

from ppagent.agent.investigation import Investigation
from ppagent.agent.probe_words import look_of
from ppagent.report.lines import Line, wrapped

ALSO = {
    "bench.trials": "trials of other settings",
    "http.loads": "the server's own count of its load",
    "profile.read": "a profiler trace",
    "source.flags": "the installed SGLang's source",
}
"""Tools that read what no open question asks for by itself."""
PASTED = "pasted text"


def absent_lines(found: Investigation, width: int) -> list[Line]:
    """Nothing where everything answered."""
    if found.target_kind != "recording":
        lines: list[Line] = []
        for missing in found.missing:
            lines += wrapped(f"{missing.tool}: {missing.why}", width, "  no answer  ", tone="dim")
        return lines
    names = list(dict.fromkeys(named(missing.tool) for missing in found.missing))
    where = "not in the paste" if found.target_name == PASTED else "not recorded"
    return wrapped(f"{where}: {', '.join(names)}", width, "  ", tone="dim") if names else []


def named(tool: str) -> str:
    """What a tool looks at, in words."""
    return ALSO.get(tool) or look_of(tool).at
