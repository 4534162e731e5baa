"""Would more requests help? What was measured at which load, and whether the load is what is short."""

import re

from ppagent.agent.investigation import Investigation
from ppagent.causes.situation import in_flight, levels, running_cap, slot_limit, slots
from ppagent.chat.answers.cause import cause_and_state
from ppagent.chat.answers.setting import read_setting
from ppagent.chat.wording import tagged
from ppagent.report.lines import Line, wrapped
from ppagent.report.rate import rate

ABOUT_LOAD = ("PP002", "LB001", "PP001", "KV002")


def _how_many(found: Investigation) -> str:
    """What admission lets in; empty where that is not known."""
    cap, limit = running_cap(found.facts), slot_limit(found.facts)
    if cap is None:
        return ""
    slot = f", {limit.value:g} of them in one slot" if limit is not None else ""
    cites = tuple(dict.fromkeys((*cap.cites, *(limit.cites if limit is not None else ()))))
    return tagged(f"At most {cap.value:g} at a time{slot}; what comes on top waits in the queue", cites) + "."


def _verdict(found: Investigation) -> str:
    """Whether more requests at a time would make it faster, in tokens of all."""
    supported = {h.cause_id for h in found.board.supported}
    if supported & {"PP002", "LB001"}:
        return "Yes: there are fewer requests than the server could work on at a time."
    if "PP001" in supported:
        return "Not by themselves: slots stand empty although there are requests for them. Fill the slots first."
    if supported & {"KV001", "KV002", "PP003"}:
        return "No: requests are held back already, so that more of them would only wait."
    return "That cannot be told from what was seen: only a measurement at several loads tells (/bench 1,4,8)."


def _at(found: Investigation, requests: int) -> str:
    """What is known of that very load."""
    measured = levels(found.facts)
    for level in measured:
        if level.concurrency == requests:
            return tagged(f"At C={requests} it gives {rate(level.tokens_per_s)} tok/s, as measured", level.cites) + "."
    cap = running_cap(found.facts)
    queue = ""
    if cap is not None and requests > cap.value:
        queue = f" {tagged(f'{requests - cap.value:g} of them would wait: {cap.value:g} run at a time', cap.cites)}."
    return f"At C={requests} nothing was measured, so that cannot be told (/bench {requests} measures it).{queue}"


def crowd_lines(found: Investigation, question: str, width: int) -> list[Line]:
    """What is known of load and speed."""
    facts = found.facts
    how_many = _how_many(found) if re.search(r"\bhow many\b", question, re.I) else ""
    at = read_setting(question).concurrency
    told = how_many or (_at(found, at) if at is not None else _verdict(found))
    lines = wrapped(told, width, tone="verdict")
    measured = levels(facts)
    if measured:
        speeds = ", ".join(f"{rate(level.tokens_per_s)} tok/s at C={level.concurrency:g}" for level in measured)
        cites = tuple(dict.fromkeys(cite for level in measured for cite in level.cites))
        lines += wrapped(tagged(f"Measured: {speeds}", cites) + ".", width)
    flying, ring = in_flight(facts), slots(facts)
    if flying is not None and ring is not None:
        plural = "" if flying.value == 1 else "s"
        says = f"{rate(flying.value)} request{plural} in flight, {ring.value:g} slots in the ring"
        lines += wrapped(tagged(says, tuple(dict.fromkeys((*flying.cites, *ring.cites)))) + ".", width)
    for cause_id in ABOUT_LOAD:
        hypothesis = found.board.of(cause_id)
        if hypothesis is not None and hypothesis.state != "cannot_tell":
            lines += wrapped(f"{cause_and_state(hypothesis)}.", width, "  ")
    return [*lines, *wrapped("What a load would give: what if 16 requests with limit 2?", width, "  ", tone="dim")]
