"""What no tool could read, for a reader: what is simply not there in one sentence, all else with its reason."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ppagent.agent.investigation import Investigation
from ppagent.agent.probe_words import look_of
from ppagent.evidence.evidence import Missing

PASTED = "pasted text"
"""The name of a target that is text on the standard input."""
OF_THE_VERSION = ("server.version", "source.flags")
"""Tools that read the version in the installation."""
_ABSENT = re.compile(
    r"(?:\S+|SGLang's version|the installed source) (?:was|were) not recorded(?:: there is only a log)?"
    r"|neither .* (?:was|were) recorded|no profiler trace .*"
    r"|.* in the pasted text"
)
"""What a target says of what it does not hold."""
_AT = {
    "bench.trials": "earlier restarts",
    "profile.read": "a profiler trace",
    "source.flags": "the installed source",
    "server.version": "SGLang's version",
}
"""What tools look at that no question names."""


@dataclass(frozen=True)
class Lacking:
    """One thing, or several of a kind: what it is and why it is not known."""

    what: str
    why: str


def lacking(found: Investigation) -> tuple[Lacking, ...]:
    """What was not read at all first, then what is not there, then what could not be read."""
    absent: list[Missing] = []
    others: list[Missing] = []
    for missing in found.missing:
        (absent if _ABSENT.fullmatch(missing.why) and not _known(missing, found) else others).append(missing)
    if any(missing.tool == "server.version" for missing in others):
        others = [missing for missing in others if missing.tool != "source.flags" or not _known(missing, found)]
    return (*_unread(found), *_not_there(absent, found), *_unreadable(others, found))


def _unreadable(others: Sequence[Missing], found: Investigation) -> Iterator[Lacking]:
    """What could not be read for one reason is told together."""
    things: dict[str, list[str]] = {}
    for missing in others:
        things.setdefault(_why(missing, found), []).append(_at(missing))
    return (Lacking(", ".join(dict.fromkeys(each)), why) for why, each in things.items())


def _unread(found: Investigation) -> Iterator[Lacking]:
    """What is there and was not read, or not to its end, each said once."""
    reasons = [evidence.facts.get("tool.unread") for evidence in found.evidence]
    for reason in dict.fromkeys(str(each) for one in reasons if isinstance(one, list) for each in one):
        yield Lacking("not read", reason)


def _not_there(absent: Sequence[Missing], found: Investigation) -> Iterator[Lacking]:
    """Named by what it is to a person, not by the tool that asked for it."""
    several = len({missing.host for missing in found.missing if missing.host}) > 1
    wanted = [missing for missing in absent if missing.tool != "user.stated"]
    names = [f"{_kind(m)} of {m.host}" if several and m.host else _kind(m) for m in wanted]
    if names:
        where = "not pasted" if found.target_name == PASTED else "not recorded"
        yield Lacking(where, ", ".join(dict.fromkeys(names)))


def _kind(missing: Missing) -> str:
    """Several tools read the log; where there is none, it is lacking once."""
    return "the log" if missing.tool.startswith("logs.") else _at(missing)


def _at(missing: Missing) -> str:
    return _AT.get(missing.tool) or look_of(missing.tool).at


def _why(missing: Missing, found: Investigation) -> str:
    """Why a tool has no answer; of the version, that somebody stated it, where that is how it is known."""
    if _known(missing, found):
        version = found.facts.text("engine.version")
        return f"{version} as stated; no installation was there to read it in"
    return missing.why + (f" on {missing.host}" if missing.host else "")


def _known(missing: Missing, found: Investigation) -> bool:
    """Whether it is known all the same, since somebody stated it."""
    stated = found.facts.text("engine.source") == "stated" and found.facts.get("engine.version") is not None
    return missing.tool in OF_THE_VERSION and stated
