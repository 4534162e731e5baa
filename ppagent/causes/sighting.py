"""Whether something was seen at all: yes or no, with the evidence for it. Start, trouble lines, versions, pipelines."""

from dataclasses import dataclass

from packaging.version import Version

from ppagent.causes.cause import Observation
from ppagent.causes.situation import Cites, Known
from ppagent.evidence.evidence import FactValue
from ppagent.evidence.facts import Facts
from ppagent.sglang.versions import parse_version

AT_WORK = ("decode.lines", "prefill.lines")
FLAG_KINDS = ("flag_unrecognized", "flag_ambiguous", "flag_invalid_choice")
MEMORY_KINDS = ("not_enough_memory", "cuda_oom")
"""Kinds of trouble that end a start for a reason of their own."""

REFUSED = (
    "flag_unrecognized",
    "flag_ambiguous",
    "flag_invalid_choice",
    "flag_expected_argument",
    "pp_model_unsupported",
)
"""Ends of a start that leave a log without any start-up line."""
ANSWERED = ("internal.memory.weight", "internal.slot_limit", "metrics.window_s", "loads.running", "bench.levels")
"""Facts that only a server which came up can have produced."""


@dataclass(frozen=True)
class Sighting:
    """A question answered with yes or no."""

    yes: bool
    cites: Cites
    says: str = ""


def came_up(facts: Facts) -> Sighting | None:
    """Whether the server got through its start; None where nothing tells.

    No as soon as a log was read that has neither the ready line nor a batch, and nothing else shows it at work. Of a
    log that does not hold the start, the frames of a traceback tell: raised while the server was built, or in its loop.
    """
    if facts.flag("start.ready"):
        return Sighting(True, facts.cite("start.ready"), "the server reported itself ready")
    for name in AT_WORK:
        if facts.number(name):
            return Sighting(True, facts.cite(name), "the log shows the server at work")
    for name in ANSWERED:
        if facts.get(name) is not None:
            return Sighting(True, facts.cite(name), "the server answered")
    if facts.flag("start.ready") is False:
        return Sighting(False, facts.cite("start.ready"), "the ready line never came")
    return _by_traceback(facts)


def _by_traceback(facts: Facts) -> Sighting | None:
    """By where the exception was raised; None where no frame of SGLang's shows it, or frames of both places do."""
    building, working = trouble(facts, "raised_at_start"), trouble(facts, "raised_at_work")
    if (building is None) == (working is None):
        return None
    if building is not None:
        return Sighting(False, building.cites, "the exception was raised while the server was built")
    return None if working is None else Sighting(True, working.cites, "the exception was raised in the running loop")


def is_up(facts: Facts) -> Sighting | None:
    """`came_up`, known only where the answer is yes."""
    seen = came_up(facts)
    return seen if seen is not None and seen.yes else None


def never_came_up(facts: Facts) -> bool:
    """Whether the log shows a start that did not end well: how fast such a server is cannot be asked."""
    seen = came_up(facts)
    return not seen.yes if seen is not None else trouble(facts, *REFUSED) is not None


def start_logged(facts: Facts) -> Cites:
    """Evidence that the log covers the start, so that a start-up line that is not there was not printed."""
    return facts.cite("start.weights_gib", "start.max_total_tokens", "start.kv_tokens")[:1]


def trouble(facts: Facts, *kinds: str) -> Known | None:
    """How often the first of these kinds of trouble line was logged; None where none was."""
    for kind in kinds:
        times = facts.number(f"trouble.{kind}")
        if times:
            return Known(times, facts.cite(f"trouble.{kind}"), kind.replace("_", " "))
    return None


def ended_by(facts: Facts, *kinds: str) -> tuple[Observation, ...]:
    """What speaks against a failed start's cause where the log names another end: argparse, memory, the model."""
    other = trouble(facts, *kinds)
    if other is None:
        return ()
    return (Observation(f"another reason stands in the log: {other.says}", other.cites, 0.05, 0.5),)


def trouble_words(facts: Facts, kind: str, field: str) -> str:
    """What a field of that kind of trouble line said, closing stops left out; empty where nothing did."""
    said: list[str] = []
    for fact in facts.all(f"trouble.{kind}.{field}"):
        values = fact.value if isinstance(fact.value, list) else [fact.value]
        said.extend(str(value).rstrip(". ") for value in values if value is not None)
    return "; ".join(dict.fromkeys(said))


def every(facts: Facts, name: str) -> tuple[list[FactValue], Cites]:
    """A list fact over all hosts, with the evidence of each; no evidence where no host states it."""
    stated = [fact for fact in facts.all(name) if isinstance(fact.value, list)]
    items = [item for fact in stated for item in (fact.value if isinstance(fact.value, list) else [])]
    return items, tuple(dict.fromkeys(fact.evidence for fact in stated))


def env(facts: Facts, name: str) -> str | None:
    """An environment variable of the server as text, None where it is not set or not known."""
    fact = facts.get(f"env.{name}")
    return None if fact is None else str(fact.value).strip()


def switched_on(facts: Facts, name: str) -> bool:
    """Whether an environment variable is set to something that means yes."""
    return (env(facts, name) or "").lower() in ("1", "true", "yes", "y", "on")


def version(facts: Facts) -> Version | None:
    """SGLang's version, None where it is unknown."""
    text = facts.text("engine.version")
    return None if text is None else parse_version(text)
