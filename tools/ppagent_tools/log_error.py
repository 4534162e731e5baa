"""The one error of a log that tells most: what stopped the server, as far as a line says so."""

import re
from collections.abc import Mapping, Sequence

from ppagent.evidence.evidence import FactValue, Finding
from ppagent.sglang.logs.prefix import parse_line
from ppagent.sglang.logs.summary import Event, Tally
from ppagent.sglang.logs.trouble_flags import FLAG_KINDS
from ppagent_tools.log_reading import HostLog

_ANNOUNCE = ("scheduler_exception", "child_died")
"""Lines that say that something ended and not why."""
_FRAMES = ("raised_at_start", "raised_at_work", "stage_waits", "watchdog_dump", "assert_line")
_GO_ON = ("unbalanced_memory", "kv_transfer_failed", "retract_failed", "grammar_timeout", "nan_logits", "soft_watchdog")
"""Errors that a server outlives; what it died of is another line, if it did."""
_EXCEPTION = re.compile(r"[\w.]*(?:Error|Exception)\b")
_REFUSALS = frozenset(kind.id for kind in FLAG_KINDS)
"""Before the arguments are printed: where the server came up, an earlier try in the same file was refused."""
_ENDS = ("scheduler_exception", "child_died")
_NEAR = 3
"""Lines between an assertion and the exception it raises: none, or the marks under the source line."""
_LEAD = 100
LONGEST = 240
MOST_RANKS = 8


def error_findings(log: HostLog, troubles: Mapping[str, Tally]) -> list[Finding]:
    """The most telling error of one host's log; nothing where there is none."""
    up = bool(log.tap.line("ready") or log.stretch.decode)
    ended = any(kind in troubles for kind in _ENDS)
    past = {kind for kind, tally in troubles.items() if (up and kind in _REFUSALS) or (not ended and _went_on(tally))}
    event = telling_error({kind: tally for kind, tally in troubles.items() if kind not in past})
    if event is None:
        return []
    asserted = _asserted(event, troubles)
    facts: dict[str, FactValue] = {
        "log.error": f"{_message(event)}{asserted}"[:LONGEST],
        "log.error_kind": event.kind.id,
        "log.ended_by_error": event.kind.severity == "fatal" or ended,
    }
    ranks = _ranks(troubles[event.kind.id])
    if ranks:
        facts["log.error_ranks"] = ranks
    return [log.finding(facts, event.raw, event.at)]


def telling_error(troubles: Mapping[str, Tally]) -> Event | None:
    """The first error after the first line that says a scheduler ended: its traceback's; what other ranks print later
    follows from it. Without such a line, the first fatal one, else the last error, else the line that tells of the end,
    else an error that a server outlives.
    """
    announced = _sorted(troubles, _ANNOUNCE)
    named = [kind for kind in troubles if kind not in (*_ANNOUNCE, *_FRAMES)]
    errors = [each for each in _sorted(troubles, named) if each.kind.severity in ("error", "fatal")]
    grave = [each for each in errors if not _is_outlived(each)]
    begun = next((each.line for each in announced if each.kind.id == "scheduler_exception"), 0)
    fatal = [each for each in grave if each.kind.severity == "fatal"]
    after = [each for each in grave if each.line >= begun]
    if begun and after:
        return after[0]
    if fatal:
        return fatal[0]
    return next(iter([*grave[-1:], *announced, *errors]), None)


def _went_on(tally: Tally) -> bool:
    """Whether the server decoded on after an error: that of a request which was refused, as one longer than the
    context, is no trouble of the server."""
    return tally.kind.severity == "error" and tally.after is not None


def _is_outlived(event: Event) -> bool:
    return event.kind.id in _GO_ON and "raised" not in event.fields


def _sorted(troubles: Mapping[str, Tally], kinds: Sequence[str]) -> list[Event]:
    events = [each for kind in kinds if kind in troubles for each in (*troubles[kind].first, *troubles[kind].last)]
    return sorted(events, key=lambda each: each.line)


def _message(event: Event) -> str:
    """The line, without a long lead of other things that libraries printed into it."""
    message = parse_line(event.raw).message
    match = re.search(event.kind.pattern, message)
    if match is not None and match.start() > _LEAD and _EXCEPTION.match(message) is None:
        message = message[match.start() :]
    return " ".join(message.split())


def _asserted(event: Event, troubles: Mapping[str, Tally]) -> str:
    """What failed, for an AssertionError without a message: the source line right above it."""
    if event.kind.id != "assertion" or event.fields.get("message"):
        return ""
    lines = _sorted(troubles, ("assert_line",))
    above = next((each for each in lines if 0 < event.line - each.line <= _NEAR), None)
    return "" if above is None else f": assert {above.fields['condition']}"


def _ranks(tally: Tally) -> list[FactValue]:
    said = dict.fromkeys(_who(each) for each in (*tally.first, *tally.last))
    ranks: list[FactValue] = [rank for rank in said if rank]
    return ranks[:MOST_RANKS]


def _who(event: Event) -> str:
    """The rank that a line names itself, else the tags of its prefix; a free line's speaker is a guess."""
    if "rank" in event.fields:
        return f"rank {event.fields['rank']}"
    return str(event.ranks)
