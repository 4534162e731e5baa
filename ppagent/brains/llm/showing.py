"""How evidence and the board are shown to a model: numbered, short, quoted, and marked as data from the server."""

import json
import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from ppagent.agent.board import Board, Hypothesis
from ppagent.agent.choosing import View
from ppagent.agent.probes import undecided
from ppagent.brains.llm.toolset import Toolset, summary_of
from ppagent.causes.situation import arguments_known
from ppagent.evidence.evidence import Evidence, FactValue, Missing
from ppagent.evidence.quoting import quotable

FACTS_SHOWN = 280
"""Characters of one piece of evidence in an answer."""
LINE_SHOWN = 300
PAGE_SHOWN = 4_000
MOST_UNDECIDED = 8
_ROWS_SHOWN = 3

_MARKUP = re.compile(
    r"<(?=\s*[/|]?\s*(?:evidence|tool|think|system|user|assistant|human|ai\b|im_|s>|bos|eos|start_|end_|eot|function)|\|)"
    r"|\[(?=/?(?:INST|SYS|TOOL|AVAILABLE))",
    re.IGNORECASE,
)
"""What a chat template, or our own marks, would take for the end of a quotation."""


def quoted(text: str, limit: int) -> str:
    """Somebody else's text on the way to a model: no control characters, nothing like the frame around it."""
    return _MARKUP.sub("(", quotable(text, limit))


def shown(evidence: Sequence[Evidence], limit: int = FACTS_SHOWN) -> str:
    """New evidence, a block each; the host is named where there are several."""
    hosts = {item.host for item in evidence if item.host}
    return "\n".join(_block(item, _facts(item, limit), name_host=len(hosts) > 1) for item in evidence)


def page(evidence: Evidence, start: int, lines: int) -> str:
    """Lines of one piece of evidence, whole."""
    every = list(_lines(evidence))
    chosen = every[start - 1 : start - 1 + lines]
    if not chosen:
        return f"{evidence.id} has {len(every)} lines."
    body = "\n".join(chosen)[:PAGE_SHOWN]
    told = body.count("\n") + 1
    return f"{_block(evidence, body)}\nlines {start}-{start + told - 1} of {len(every)}"


def unanswered(missing: Sequence[Missing]) -> str:
    """Why a tool gave no evidence. The reason may hold the server's words."""
    said = "; ".join(quoted(m.why, LINE_SHOWN) for m in missing)
    return f'no answer: <evidence id="none">{said}</evidence>' if said else "no answer"


def board_shown(board: Board) -> str:
    """The board in a few lines: what is supported and why, what is open, what is refuted."""
    supported = [f"  {h.cause_id} {h.judgement.cause.name}: {_first(h)}" for h in board.supported]
    open_ones = sorted(undecided(board), key=lambda h: -h.judgement.confidence)
    named = [f"  {h.cause_id} {h.judgement.cause.name}{_asks(h)}" for h in open_ones[:MOST_UNDECIDED]]
    rest = " ".join(h.cause_id for h in open_ones[MOST_UNDECIDED:])
    refuted = " ".join(h.cause_id for h in board.in_state("refuted"))
    lines = ["supported:", *(supported or ["  none yet"]), "undecided, likeliest first:", *(named or ["  none"])]
    lines += [f"  and {rest}"] if rest else []
    return "\n".join([*lines, f"refuted: {refuted or 'none'}"])


def evidence_index(evidence: Sequence[Evidence]) -> str:
    """Which evidence came from which tool."""
    runs = [(tool, [item.id for item in items]) for tool, items in groupby(evidence, key=lambda item: item.tool)]
    return "; ".join(f"{tool} {ids[0]}-{ids[-1]}" if len(ids) > 1 else f"{tool} {ids[0]}" for tool, ids in runs)


def unasked_shown(view: View, toolset: Toolset) -> str:
    """Tools for `look` that were not asked, with what they tell."""
    unasked = [offer for offer in view.unasked() if offer.name in toolset.plain]
    return "\n".join(f"  {offer.name}: {quoted(summary_of(offer), LINE_SHOWN)}" for offer in unasked) or "  none"


def server_shown(view: View) -> str:
    """What runs, in one line of code's own words."""
    facts = view.facts
    shape = [f"{name} {value.value}" for name in ("pp_size", "tp_size", "dp_size") if (value := facts.arg(name))]
    version = quoted(facts.text("engine.version") or "unknown", 40)
    return f"SGLang {version}; {', '.join(shape) if shape and arguments_known(facts) else 'arguments not known'}"


def _block(evidence: Evidence, body: str, name_host: bool = True) -> str:
    host = f" of {evidence.host}" if evidence.host and name_host else ""
    place = quoted(f"{evidence.artifact}{host}", 80).replace('"', "'")
    return f'<evidence id="{evidence.id}" from="{place}">\n{body}\n</evidence>'


def _facts(evidence: Evidence, limit: int) -> str:
    text = "; ".join(f"{quoted(name, 80)} {_short(value)}" for name, value in evidence.facts.items())
    return text if len(text) <= limit else f"{text[:limit].rsplit(' ', 1)[0]} (more: read_evidence {evidence.id})"


def _short(value: FactValue) -> str:
    """A value in few characters; a long table of numbers as its size and span."""
    match value:
        case bool() | None:
            return json.dumps(value)
        case float():
            return f"{value:.5g}"
        case str():
            return quoted(" ".join(value.split()), 160)
        case dict() if len(value) > _ROWS_SHOWN and all(_is_number(item) for item in value.values()):
            numbers = [float(item) for item in value.values() if isinstance(item, int | float)]
            return f"{len(value)} rows from {min(numbers):.5g} to {max(numbers):.5g}"
        case dict() if len(value) > _ROWS_SHOWN and len({json.dumps(item) for item in value.values()}) == 1:
            return f"{len(value)} rows of {_short(next(iter(value.values())))}"
        case dict():
            return f"{{{', '.join(f'{quoted(key, 60)} {_short(item)}' for key, item in value.items())}}}"
        case list():
            return f"[{', '.join(_short(item) for item in value)}]"
        case _:
            return str(value)


def _is_number(value: FactValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _lines(evidence: Evidence) -> Iterable[str]:
    """Every fact, long texts and lists line by line, then the quote."""
    for name, value in evidence.facts.items():
        if isinstance(value, str) and "\n" in value:
            yield f"{name}:"
            yield from (quoted(f"|{line}", LINE_SHOWN)[1:] for line in value.splitlines())
        elif isinstance(value, list) and len(value) > 1 and isinstance(value[0], dict):
            yield f"{name}:"
            yield from (quoted(json.dumps(item, ensure_ascii=False), LINE_SHOWN) for item in value)
        else:
            yield quoted(f"{name} {json.dumps(value, ensure_ascii=False)}", LINE_SHOWN)
    yield from (f"> {quoted(line, LINE_SHOWN)}" for line in evidence.excerpt.splitlines())


def _first(hypothesis: Hypothesis) -> str:
    judgement = hypothesis.judgement
    if not judgement.because:
        return ""
    strongest = judgement.because[0]
    return f"{quoted(strongest.says, LINE_SHOWN)} [{' '.join(strongest.cites)}]"


def _asks(hypothesis: Hypothesis) -> str:
    tools = dict.fromkeys(probe.tool for probe in hypothesis.judgement.probes)
    return f" (ask {', '.join(tools)})" if tools else ""
