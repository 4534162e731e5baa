"""What if I do nothing, and how long would it take: what waiting costs, and what a change costs in time."""

import re

from ppagent.agent.investigation import Investigation
from ppagent.changes.proposal import Proposal
from ppagent.chat.answers.overview import load_now
from ppagent.chat.wording import duration
from ppagent.report.lines import Line, wrapped

NOT_KNOWN = "Whether it gets worse by itself is not known: that depends on the load to come."
NO_TIMES = "Nothing has to be done, so nothing takes any time."
LIVE = (
    "one call, answered at once. Running requests are not moved, so it shows when those of now have ended and others "
    "have taken their places"
)
RELAUNCH = "as long as the server takes to start, in which it answers nothing"
NOT_TIMED = "Nothing seen has timed that: in the last start's log, from its first line to 'The server is fired up'"
_LOADED = re.compile(r"Load weight end\. elapsed=(\d+(?:\.\d+)?) ?s")
OPERATOR = "done by you outside the server, which I cannot time"


def nothing_lines(found: Investigation, width: int) -> list[Line]:
    """What goes on as it is, and what each cause costs as long as it stays."""
    match found.verdict:
        case "healthy":
            return [*wrapped(f"Nothing is lost by it. {found.summary}", width, tone="verdict"),
                    *wrapped(NOT_KNOWN, width, "  ")]  # fmt: skip
        case "not_enough_evidence":
            return wrapped(f"That cannot be told: {found.summary}", width, tone="verdict")
        case _:
            return _stays(found, width)


def _stays(found: Investigation, width: int) -> list[Line]:
    lines = wrapped("Then it stays as it is, with what was found:", width, tone="verdict")
    for hypothesis in found.board.supported:
        alone = found.plan.gains.get(hypothesis.cause_id)
        price = "what it costs is not priced here"
        if alone is not None:
            low, high = alone.low - alone.baseline, alone.high - alone.baseline
            price = f"curing it alone would bring {low:+.0f} to {high:+.0f} tok/s at C={alone.at_concurrency:g}"
        lines += wrapped(f"{hypothesis.judgement.cause.name} ({hypothesis.cause_id}): {price}", width, "  - ")
    now = load_now(found.facts)
    lines += wrapped(f"As seen: {now}.", width, "  ") if now else []
    return [*lines, *wrapped(NOT_KNOWN, width, "  ")]


def how_long_lines(found: Investigation, width: int) -> list[Line]:
    """What each proposal takes until it works."""
    if not found.plan.proposals:
        known = NO_TIMES if found.verdict == "healthy" else "No change is proposed that would take any time."
        return wrapped(known, width)
    lines: list[Line] = []
    said: dict[str, str] = {}
    for proposal in found.plan.proposals:
        text = _takes(proposal, found)
        first = said.setdefault(text, proposal.id)
        lines += wrapped(f"{text}." if first == proposal.id else f"as {first}", width, f"  {proposal.id}  ")
    return lines


def _takes(proposal: Proposal, found: Investigation) -> str:
    match proposal.kind:
        case "live":
            return LIVE
        case "relaunch":
            return f"{RELAUNCH}. {loading_time(found) or NOT_TIMED}"
        case _:
            return OPERATOR


def loading_time(found: Investigation) -> str:
    """How long the slowest rank took to load its weights at the last start; empty where no evidence quotes a second or
    more."""
    timed = [(float(m[1]), item.id) for item in found.evidence for m in _LOADED.finditer(item.excerpt)]
    seconds, cited = max(timed, default=(0.0, ""))
    if seconds < 1:
        return ""
    return f"Loading the weights took {duration(seconds)} at the last start [{cited}]; what comes after it is on top"
