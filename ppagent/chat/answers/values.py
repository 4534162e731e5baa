"""What is X now? One figure of the server, as it is in force."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from ppagent.agent.investigation import Investigation
from ppagent.causes.situation import in_flight, running_cap, slot_limit, slots
from ppagent.chat.answers.overview import load_now
from ppagent.chat.wording import tagged
from ppagent.evidence.facts import Facts
from ppagent.report.lines import Line, wrapped

LIMIT_FLAGS = frozenset({"--pp-max-micro-batch-size", "--max-micro-batch-size"})
CAP_FLAG = "--max-running-requests"


def slot_limit_now(facts: Facts) -> str:
    """The limit in force; empty where it is not known."""
    known = slot_limit(facts)
    if known is None:
        return ""
    ring = slots(facts)
    of = f" of {ring.value:g}" if ring is not None else ""
    return tagged(f"The slot limit is {known.value:g}: each slot{of} takes so many requests at the most", known.cites)


def running_cap_now(facts: Facts) -> str:
    """How many requests one scheduler runs at a time, and of which one slot; empty where it is not known."""
    known = running_cap(facts)
    if known is None:
        return ""
    return tagged(f"At most {known.value:g} requests run at a time; what comes on top waits in the queue", known.cites)


def requests_now(facts: Facts) -> str:
    """What runs and waits, by log or counters; empty where neither tells."""
    now = load_now(facts)
    if now:
        return f"As last seen: {now}"
    flying = in_flight(facts)
    return tagged(f"{flying.value:g} requests in flight", flying.cites) if flying is not None else ""


def pool_now(facts: Facts) -> str:
    """Tokens that the KV pool holds, as the start told; empty where it did not."""
    fact = facts.first("start.max_total_tokens", "start.kv_tokens", "internal.max_total_num_tokens")
    if fact is None or fact.number is None:
        return ""
    return tagged(f"The KV pool holds {fact.number:.0f} tokens on one rank", (fact.evidence,))


def context_now(facts: Facts) -> str:
    """The longest context, as it was set; empty where it is not known."""
    fact = facts.numeric_arg("context_length")
    return tagged(f"The context length is {fact.number:.0f} tokens", (fact.evidence,)) if fact and fact.number else ""


IN_FORCE: dict[str, Callable[[Facts], str]] = {
    **dict.fromkeys(LIMIT_FLAGS, slot_limit_now),
    CAP_FLAG: running_cap_now,
}
"""By flag, what took effect where the launch does not set it."""


@dataclass(frozen=True)
class Figure:
    """One figure that people ask for."""

    name: str
    asked: re.Pattern[str]
    tells: Callable[[Facts], str]


_OF = r"\b(?:what(?:'s| is| are| was)?|which|current|show(?: me)?)\b.{0,20}?\b"
_LIMIT = re.compile(_OF + r"(?:slot|micro-?\s?batch)(?:es)?.?(?:limit|size)\b", re.I)
FIGURES = (
    Figure("the slot limit", _LIMIT, slot_limit_now),
    Figure(
        "the size of the KV pool",
        re.compile(r"\bkv\b.{0,12}\b(?:size|capacity)\b|\bhow (?:big|large) is the (?:kv|cache|pool)", re.I),
        pool_now,
    ),
    Figure("the context length", re.compile(r"\bcontext.?(?:len\w*|size|window)\W*$", re.I), context_now),
    Figure(
        "the cap on running requests",
        re.compile(_OF + r"(?:max(?:imum)? (?:batch|running|concurren)|running cap|batch limit|request limit)", re.I),
        running_cap_now,
    ),
    Figure(
        "the requests that run",
        re.compile(
            r"\bhow many (?:\w+ ){0,2}(?:requests?|users?|clients?|streams?|sequences?) (?:are |is |do |does )?"
            r"(?:\w+ ){0,2}?(?:running|run|in flight|active|queued|queueing|waiting|in the queue|now)\b"
            r"|\b(?:queue|queued|backlog) (?:length|size|depth)\b|\bhow (?:long|full|deep|big) is the queue\b"
            r"|\bhow full is the (?:kv|cache|pool)",
            re.I,
        ),
        requests_now,
    ),
)
_SUPPOSES = re.compile(r"\bwhat if\b|\bwould\b|\bshould\b|\bset\b|--", re.I)


def figure_in(text: str) -> Figure | None:
    """The figure that is asked for; None where none is, or where a change is meant."""
    if _SUPPOSES.search(text):
        return None
    return next((figure for figure in FIGURES if figure.asked.search(text)), None)


def figure_lines(found: Investigation, figure: Figure, width: int) -> list[Line]:
    """The figure, or that nothing seen tells it."""
    says = figure.tells(found.facts) or f"Nothing that was seen tells {figure.name}"
    return wrapped(f"{says}.", width, tone="verdict")
