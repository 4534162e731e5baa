"""PP008 a stage hangs

What it is
    One stage stopped: it crashed, hangs in a kernel, or waits for something that never comes. Its neighbours wait for
    its hidden states or tokens, and their watchdogs end the server.

Why it matters
    The rank that reports the time-out is the one that waited. Looking at it leads nowhere; the one that fell silent
    first is where it began.

Signals
    A watchdog or collective time-out on some stage, or the stacks that a watchdog wrote down; one stage whose log lines
    end well before the others'; decode lines that end without an error.

What refutes it
    One stage. A log in which all stages go on to the end without a time-out.

Remedies
    Look at the stage that went silent first, on its host: its last lines, its kernel log, its stack. A longer watchdog
    only hides it.
"""

import re
from collections.abc import Sequence

from ppagent.causes.cause import STAGES_ASKED, Advice, Change, Declined, Observation, Probe, Remedy
from ppagent.causes.said import said
from ppagent.causes.sighting import came_up, trouble, trouble_words
from ppagent.causes.situation import stages
from ppagent.evidence.facts import Facts

_TIMEOUTS = ("watchdog_timeout", "soft_watchdog", "nccl_timeout", "watchdog_dump")
_HANGS = r"\b(?:hangs?|hung|stuck|freez\w+|frozen|dead ?lock\w*)\b"

HEALTH_CHECK_TOKENS = 16
"""A health check prefills a token or a few, and its one answer token comes out of the prefill."""


class StageHangs:
    id = "PP008"
    name = "a stage hangs"
    prior = 0.04
    wants = (
        "args.pp_size",
        *(f"trouble.{kind}" for kind in _TIMEOUTS),
        "log.silent_rank",
        "log.last_seen",
        "log.ended_running",
        "log.ended_without_decode",
        "decode.lines",
    )

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        ring = stages(facts)
        if ring is not None and ring.value < 2:
            return (Observation("there is one pipeline stage only", ring.cites, 0.001, 0.5),)
        if ring is None and not _pipelined(facts):
            return ()
        found = (_timeout(facts), _receiving(facts), _told(facts), _silent(facts), _no_decode(facts), _goes_on(facts))
        return tuple(o for o in found if o is not None)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        ring = stages(facts)
        if ring is None:
            return (STAGES_ASKED,)
        if ring.value < 2:
            return ()
        if facts.get("log.lines") is None:
            return (Probe("logs.trouble", "time-outs and the last lines of each stage stand in the log", 0),)
        timed_out = trouble(facts, *_TIMEOUTS) is not None
        if timed_out and went_silent(facts) is None:
            return (Probe("logs.trouble", "which stage fell silent first, on every host's log", 0),)
        return ()

    def advise(self, facts: Facts) -> Advice:
        silent = went_silent(facts)
        kinds = (*_TIMEOUTS, "stage_waits")
        cites = facts.cite(*(f"trouble.{kind}" for kind in kinds), "log.silent_rank", "log.last_seen")
        suspect = silent[0] if silent is not None else _neighbour(facts)
        waited = _listed(waiting_ranks(facts)) or "the rank that timed out"
        look = Remedy(
            self.id,
            "operator",
            f"Look at {suspect}: its last lines, its host's kernel log, and its stack (py-spy dump) while it hangs",
            Change(),
            cites,
            risks=("py-spy halts a process for a moment",),
            verify="the same load runs past the point where it hung",
            rollback="none needed",
        )
        declined = (
            Declined("--watchdog-timeout", "a longer wait ends the same way, later", cites),
            Declined(f"a search on {waited}", "it only waited", cites),
        )
        return Advice((look,), declined)


def _pipelined(facts: Facts) -> bool:
    """Whether the log itself shows a pipeline: stages in its tags, or its loop in a stack."""
    return bool(waiting_ranks(facts)) or trouble(facts, "stage_waits") is not None


def went_silent(facts: Facts) -> tuple[str, tuple[str, ...], str] | None:
    """The stage that stopped, the evidence, and how it shows: its lines ended first, or it is the only one that
    reported no time-out (a stopped process does not even count its own)."""
    seen = {rank: str(at) for rank, at in facts.table("log.last_seen").items() if at is not None}
    named = facts.text("log.silent_rank")
    if named is not None:
        return named, facts.cite("log.silent_rank", "log.last_seen"), _since(seen.get(named, ""))
    spared = _only_one_spared(facts)
    if spared is not None:
        return spared, _timeout_cites(facts), "alone reported no time-out"
    if len(seen) < 2 or trouble(facts, *_TIMEOUTS) is None:
        return None
    first = min(seen, key=lambda rank: seen[rank])
    if seen[first] == max(seen.values()) or first in waiting_ranks(facts):
        return None
    return first, facts.cite("log.last_seen"), _since(seen[first])


def waiting_ranks(facts: Facts) -> tuple[str, ...]:
    """The stages that reported a time-out, as far as its lines say."""
    for kind in _TIMEOUTS:
        for field in ("ranks", "rank", "stage"):
            found = re.findall(r"\bPP\d+", trouble_words(facts, kind, field))
            if found:
                return tuple(sorted(set(found), key=lambda rank: int(rank[2:])))
    return ()


def _only_one_spared(facts: Facts) -> str | None:
    """The one stage of a ring of three or more that reported no time-out where all the others did."""
    waited, ring = waiting_ranks(facts), stages(facts)
    if ring is None or ring.value < 3 or len(waited) != ring.value - 1:
        return None
    (spared,) = {f"PP{stage}" for stage in range(int(ring.value))} - set(waited)
    return spared


def _neighbour(facts: Facts) -> str:
    """The stage before those that waited and that did not wait itself: it was to send what never came."""
    waited, ring = waiting_ranks(facts), stages(facts)
    nobody = "the stage whose lines end first, on every host's log"
    if ring is None:
        return nobody
    before = {f"PP{(int(rank[2:]) - 1) % int(ring.value)}": rank for rank in waited}
    suspects = [(rank, after) for rank, after in before.items() if rank not in waited]
    if len(suspects) != 1:
        return nobody
    return f"{suspects[0][0]}, the neighbour that {suspects[0][1]} waited for"


def _listed(ranks: Sequence[str]) -> str:
    return ", ".join(ranks)


def _since(at: str) -> str:
    return f"fell silent first ({at})" if at else "fell silent first"


def _timeout_cites(facts: Facts) -> tuple[str, ...]:
    return facts.cite(*(f"trouble.{kind}" for kind in _TIMEOUTS))


def _timeout(facts: Facts) -> Observation | None:
    seen = trouble(facts, *_TIMEOUTS)
    if seen is None:
        return None
    waited, silent = waiting_ranks(facts), went_silent(facts)
    says = seen.says + (f" on {_listed(waited)}, which waited" if waited else "")
    if silent is not None:
        says += f"; {silent[0]} {silent[2]}"
    cites = seen.cites + (silent[1] if silent is not None else ())
    up = came_up(facts)
    if up is not None and not up.yes:
        return Observation(f"{says}, before the server was up", cites, 0.4, 0.08)
    hard = trouble(facts, "watchdog_timeout", "nccl_timeout") is not None
    soft = trouble(facts, "soft_watchdog") is not None
    return Observation(says, cites, 0.85, 0.008 if hard else 0.08 if soft else 0.03)


def _receiving(facts: Facts) -> Observation | None:
    """An idle stage waits for requests all day, but for hidden states or tokens only while a batch is on its way; that
    may come the next moment, so that a stack alone decides nothing."""
    seen = trouble(facts, "stage_waits")
    calls = [call for call in trouble_words(facts, "stage_waits", "call").split("; ") if call.startswith("_pp_recv")]
    if seen is None or not calls:
        return None
    batch = next((call for call in calls if "pyobj" not in call), None)
    says = f"a stack stands in {batch or calls[0]}: it waits for its neighbour"
    return Observation(says, seen.cites, 0.6, 0.04 if batch is not None else 0.2)


def _told(facts: Facts) -> Observation | None:
    spoken = said(facts, _HANGS)
    if spoken is None or trouble(facts, *_TIMEOUTS, "stage_waits") is None:
        return None
    return Observation(spoken.says, spoken.cites, 0.5, 0.08)


def _silent(facts: Facts) -> Observation | None:
    named = facts.text("log.silent_rank")
    if named is None or trouble(facts, *_TIMEOUTS) is not None:
        return None
    says = f"the lines of {named} end well before those of the other stages"
    return Observation(says, facts.cite("log.silent_rank"), 0.7, 0.02)


def _no_decode(facts: Facts) -> Observation | None:
    if facts.flag("log.ended_running"):
        says = "batch lines end while requests run, and the server speaks on of other things"
        return Observation(says, facts.cite("log.ended_running"), 0.6, 0.08)
    if not facts.flag("log.ended_without_decode") or _probes_only(facts):
        return None
    says = "prefill was logged and no decode line followed"
    return Observation(says, facts.cite("log.ended_without_decode"), 0.4, 0.1)


def _probes_only(facts: Facts) -> bool:
    """Whether all that was prefilled are health checks of a token or a few, after which no decode line is due."""
    longest = facts.number("prefill.tokens_per_line.max")
    return longest is not None and longest <= HEALTH_CHECK_TOKENS


def _goes_on(facts: Facts) -> Observation | None:
    if not facts.number("decode.lines") or facts.get("log.lines") is None:
        return None
    if trouble(facts, *_TIMEOUTS) is not None or facts.text("log.silent_rank") or facts.flag("log.ended_running"):
        return None
    says = "decode lines go on, with no time-out and no stage that falls silent"
    return Observation(says, facts.cite("decode.lines"), 0.02, 0.8)


CAUSE = StageHangs()
