"""How a server ended, as its log tells it: the telling error in words, what it usually means, what to look at next.

Not every end is on the list of causes. Where none of them explains it, a reader still wants the error named, not a
question about speed that nothing can answer any more.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

from ppagent.causes.cause import Probe
from ppagent.causes.error_words import (
    CHILD_DIED,
    KERNEL_LOG,
    MEANINGS,
    NOTICED,
    OUT_OF_MEMORY,
    OUT_OF_MEMORY_AT_WORK,
    WHOLE_START,
)
from ppagent.causes.said import said, stated_rates
from ppagent.causes.sighting import came_up, never_came_up, trouble
from ppagent.causes.situation import Cites
from ppagent.evidence.facts import Facts

CAUSES_OF_NO_START = frozenset(
    {"LA001", "LA002", "LA003", "LA004", "CG005", "IC002", "PP008", "HW003", "HW004", "SP003"}
)
"""What can keep a server from coming up; of the other causes nothing can be asked then."""

_OF_A_SERVER_AT_WORK = (
    "logs.decode",
    "logs.prefill",
    "http.metrics",
    "http.info",
    "http.loads",
    "bench.results",
    "profile.take",
    "profile.trace",
    "tune.try",
)
"""Tools that answer nothing about a server that is gone and never served."""

HOST_MEMORY = Probe("host.kernel", "the table above that line says which processes held how much of it", 2)
_OF_THE_SERVER = re.compile(r"sglang|sgl_|python|pt_main_thread")
"""Names of its processes as the kernel cuts them, of 15 characters."""

_CRASH = (
    r"\bcrash\w*|\bhangs?\b|\bhung\b|\bfro(?:ze|zen)\b|\bdeadlock\w*|\bkilled\b|\bdie[sd]\b|\bexits?\b|\bwatchdog\b"
    r"|\bfails? to (?:start|launch|load|boot)|(?:n't|\bnot) (?:start|launch|come up|boot)"
    r"|\b[A-Z]\w+(?:Error|Exception)\b"
)
"""How users tell of a server that is gone, or stands still."""


@dataclass(frozen=True)
class End:
    """An error in the log: its words, who printed it, what it means (empty where nothing is known of it)."""

    says: str
    means: str
    cites: Cites
    probes: tuple[Probe, ...]
    fatal: bool


def end_of(facts: Facts) -> End | None:
    """The telling error of the log, None where it holds none."""
    error, kind = facts.text("log.error"), facts.text("log.error_kind") or ""
    if error is None or kind == "scheduler_exception":
        return _unnamed(facts)
    meaning = next((each for each in MEANINGS if re.search(each.words, error)), None)
    up = came_up(facts)
    means = meaning.means if meaning is not None else ""
    if means == OUT_OF_MEMORY and up is not None and up.yes:
        means = OUT_OF_MEMORY_AT_WORK
    says, fatal = f"{_short(error)}{_on(facts)}", facts.flag("log.ended_by_error") is True
    killed = _killed_by_kernel(facts)
    if killed and means in (CHILD_DIED, NOTICED):
        means = f"the kernel killed {killed} for want of host memory"
        return End(says, means, facts.cite("log.error", "host.oom_killed"), (HOST_MEMORY,), fatal)
    return End(
        says,
        means,
        facts.cite("log.error"),
        meaning.probes if meaning is not None else _probes_for(kind),
        fatal,
    )


def _killed_by_kernel(facts: Facts) -> str:
    """The server's processes that the kernel log names as killed; empty where it names none of them."""
    names = [str(each.get("name")) for each in facts.items("host.oom_killed") if isinstance(each, dict)]
    return ", ".join(dict.fromkeys(name for name in names if _OF_THE_SERVER.match(name)))


def unexplained_end(facts: Facts, supported: Collection[str]) -> End | None:
    """How the server ended, where it did and none of the causes with these ids can end one."""
    end = end_of(facts)
    if end is None or not end.fatal or CAUSES_OF_NO_START.intersection(supported):
        return None
    return None if "KV001" in supported and trouble(facts, "retract_failed") is not None else end


def _unnamed(facts: Facts) -> End | None:
    """A traceback of which the log does not hold the last line."""
    seen = trouble(facts, "scheduler_exception", "raised_at_start", "raised_at_work")
    if seen is None:
        return None
    where = came_up(facts)
    means = where.says if where is not None else ""
    last = Probe("logs.trouble", "the last line of the traceback names the exception", 0)
    return End(f"a traceback whose last line is missing{_on(facts)}", means, seen.cites, (last,), True)


def stopped_at_start(facts: Facts) -> bool:
    """Whether the log shows a start that did not end, and nobody tells of a speed: who does pasted a piece of it."""
    return never_came_up(facts) and not stated_rates(facts)


def questions_of_a_dead_server(facts: Facts) -> frozenset[str]:
    """Tools whose answer a server can no longer give that ended without having served, or that never came up."""
    if stopped_at_start(facts):
        return frozenset(_OF_A_SERVER_AT_WORK)
    served = any(facts.number(name) for name in ("decode.lines", "prefill.lines"))
    end = end_of(facts)
    return frozenset(_OF_A_SERVER_AT_WORK) if end is not None and end.fatal and not served else frozenset()


def _probes_for(kind: str) -> tuple[Probe, ...]:
    return (KERNEL_LOG, WHOLE_START) if kind in ("cuda_error", "nccl_error") else (WHOLE_START,)


def _short(error: str) -> str:
    text = error if len(error) <= 160 else f"{error[:157]}..."
    return f"`{text.replace('`', '')}`"


def _on(facts: Facts) -> str:
    ranks = [str(rank) for rank in facts.items("log.error_ranks")]
    return f" on {', '.join(ranks)}" if ranks else ""


def told_of_an_end(facts: Facts) -> tuple[Probe, ...]:
    """What to look at first where the user tells of a crash or a hang, and no log is at hand that shows it."""
    if facts.get("log.lines") is not None or said(facts, _CRASH) is None:
        return ()
    return (Probe("logs.trouble", "the log's last lines say what ended the server, or which rank fell silent", 0),)
