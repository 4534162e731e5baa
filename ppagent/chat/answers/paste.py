"""What a pasted piece of a log, of /metrics or of nvidia-smi says, read as a target's would be and held beside it."""

from collections.abc import Iterator

from ppagent.agent.investigation import Investigation
from ppagent.agent.probe_words import look_of
from ppagent.agent.toolbox import Toolbox
from ppagent.errors import ToolError
from ppagent.evidence.evidence import FactValue, Finding
from ppagent.evidence.vocabulary import VOCABULARY
from ppagent.plugins import ToolContext
from ppagent.report.lines import Line, wrapped
from ppagent.targets.pasted import Pasted

READERS = (
    "logs.decode", "logs.prefill", "logs.startup", "logs.trouble", "http.metrics", "http.info", "http.loads",
    "gpu.samples", "gpu.topology", "gpu.processes", "host.kernel", "bench.results",
)  # fmt: skip
"""Tools that read what people paste."""
PLAIN = {
    "decode.running_req": "requests running (#running-req)",
    "decode.queue_req": "requests waiting (#queue-req)",
    "decode.throughput": "tok/s",
    "decode.graph_true_share": "share of decode steps run from a graph",
    "metrics.running_reqs": "requests running, of one micro-batch",
    "metrics.queue_reqs": "requests waiting",
    "metrics.token_usage": "share of the KV pool in use",
    "metrics.gen_throughput": "tok/s",
}
"""What people call a figure; the others go by the vocabulary."""
ASIDE = (
    "decode.lines", "decode.running_req_histogram", "decode.graph_label", "decode.graph_false_running_min",
    "decode.graph_true_running_max", "decode.queue_share", "decode.interval_lines", "prefill.lines", "log.",
    "recording.",
)  # fmt: skip
"""How facts begin that say something of the paste and nothing of the server."""
TROUBLE = "trouble."
MOST_FACTS = 12
MOST_VALUE = 120
TYPICAL = (".p50", ".mean", ".max", ".min")
NOT_TAKEN = (
    "That is not taken as evidence: nothing in it tells that it is of this server and of the same time. To have it "
    "judged, with whatever else you have: ppagent diagnose - (paste, then Ctrl-D), or ppagent chat FILE."
)
UNREAD = "That is text of a log. I read nothing in it that tells about speed."


def paste_lines(found: Investigation, toolbox: Toolbox, pasted: Pasted, width: int) -> list[Line]:
    """Each tool that could read something, the figures with their meaning, and what this session has beside them."""
    lines: list[Line] = []
    for tool, findings in _read(toolbox, pasted):
        telling = [(name, value) for name, value in _telling(findings) if not name.startswith(ASIDE)]
        lines += [Line(f"Read as {look_of(tool).at}:", "verdict")] if telling else []
        for name, value in telling[:MOST_FACTS]:
            here = found.facts.first(name)
            beside = f" (here {_shown(here.value)} [{here.evidence}])" if here is not None else ""
            lines += wrapped(f"{_meaning(name)}: {_shown(value)}{beside}", width, "  - ")
    return [*(lines or wrapped(UNREAD, width, tone="verdict")), *wrapped(NOT_TAKEN, width, "  ", tone="dim")]


def _read(toolbox: Toolbox, pasted: Pasted) -> Iterator[tuple[str, list[Finding]]]:
    for name in READERS:
        offer = toolbox.find(name)
        if offer is None or not offer.built_in:
            continue
        try:
            findings = list(offer.tool.run(ToolContext(pasted), offer.tool.arguments()))
        except ToolError:
            continue  # not in the paste
        if any(finding.facts for finding in findings):
            yield name, findings


def _telling(findings: list[Finding]) -> Iterator[tuple[str, FactValue]]:
    """Each figure once: of a family of statistics the most typical."""
    facts = {name: value for finding in findings for name, value in finding.facts.items() if value is not None}
    said: set[str] = set()
    for name, value in facts.items():
        stem = _stem(name)
        if stem in said:
            continue
        said.add(stem)
        typical = next((stem + end for end in TYPICAL if stem + end in facts), name)
        yield typical, facts.get(typical, value)


def _stem(name: str) -> str:
    """The family's name where there is one in the vocabulary."""
    if name.startswith(TROUBLE):
        return name
    stem = name.rpartition(".")[0]
    return stem if f"{stem}.*" in VOCABULARY and name not in VOCABULARY else name


def _meaning(name: str) -> str:
    stem = _stem(name)
    if stem in PLAIN:
        return PLAIN[stem]
    if name.startswith(TROUBLE):
        return ", ".join(name.removeprefix(TROUBLE).replace("_", " ").split("."))
    whole = VOCABULARY.get(name) or VOCABULARY.get(f"{stem}.*") or name
    return whole.partition(":")[0] if stem != name else whole


def _shown(value: FactValue) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"
        case dict():
            return ", ".join(f"{key} {_shown(one)}" for key, one in value.items())[:MOST_VALUE]
        case list():
            return ", ".join(_shown(one) for one in value)[:MOST_VALUE]
        case _:
            return str(value)[:MOST_VALUE]
