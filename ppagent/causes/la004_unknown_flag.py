"""LA004 unknown or renamed flag

What it is
    The installed version does not know a flag of the launch: renamed, dropped, not there yet, an abbreviation that now
    fits several flags, or a value that left the list of choices.

Why it matters
    argparse stops before anything else happens. Recipes on the web are written for another version more often than not.

Signals
    `unrecognized arguments`, `ambiguous option`, `invalid choice` from argparse; options that the version's own
    catalogue does not have.

What refutes it
    A server that came up with this command. A command whose every option the version's catalogue takes.

Remedies
    The name that this version has for it, with the same value; where it has none, without the flag.
"""

import re
import shlex

from ppagent.causes.cause import Advice, Change, Observation, Probe, Remedy
from ppagent.causes.flag_history import installed_catalogue, spelling_for, why_not
from ppagent.causes.sighting import FLAG_KINDS, MEMORY_KINDS, ended_by, is_up, trouble, trouble_words, version
from ppagent.evidence.facts import Facts

MOST_SHOWN = 240
"""Characters of a list of choices."""
_KINDS = (*FLAG_KINDS, "flag_invalid_value", "flag_expected_argument", "flag_required")


class UnknownFlag:
    id = "LA004"
    name = "unknown or renamed flag"
    prior = 0.05
    wants = ("launch.unknown", "launch.ambiguous", *(f"trouble.{kind}" for kind in FLAG_KINDS), "engine.version")

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        up = is_up(facts)
        if up is not None:
            return (Observation(f"{up.says} with its flags", up.cites, 0.005, 0.8),)
        found = (_argparse(facts), _catalogue(facts), _clean(facts))
        others = ended_by(facts, "pp_flag_conflict", "pp_model_unsupported", *MEMORY_KINDS)
        return (*(o for o in found if o is not None), *others)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        if self.observe(facts):
            return ()
        return (
            Probe("logs.trouble", "argparse names the option it refuses", 0),
            Probe("server.launch", "the launch command can be checked against the version's own flags", 0),
        )

    def advise(self, facts: Facts) -> Advice:
        options = _refused(facts)
        cites = facts.cite(*(f"trouble.{kind}" for kind in _KINDS), "launch.unknown", "launch.ambiguous")
        remedies = tuple(_remedy(facts, option, cites) for option in options)
        return Advice(remedies or (_by_hand(_wanted(facts), cites),))


def _refused(facts: Facts) -> tuple[str, ...]:
    """Option strings the version does not take, without values."""
    listed = [str(o) for name in ("launch.unknown", "launch.ambiguous") for o in facts.items(name)]
    said = trouble_words(facts, "flag_unrecognized", "arguments").split()
    said += trouble_words(facts, "flag_ambiguous", "option").split()
    dashed = [word.partition("=")[0].rstrip(";") for word in (*listed, *said) if word.startswith("-")]
    return tuple(dict.fromkeys(dashed))


def _said(facts: Facts) -> str:
    choice = trouble_words(facts, "flag_invalid_choice", "choices")
    if choice:
        argument = trouble_words(facts, "flag_invalid_choice", "argument")
        value = trouble_words(facts, "flag_invalid_choice", "value")
        return f"{argument} takes no {value} in this version, only {_some(choice)}"
    for kind, field in (("flag_invalid_value", "reason"), ("flag_expected_argument", "argument")):
        if words := trouble_words(facts, kind, field):
            return f"{kind.replace('_', ' ')}: {words[:200]}"
    return trouble_words(facts, "flag_required", "arguments") or "the option that argparse names"


def _wanted(facts: Facts) -> str:
    """What to write instead, where no option is unknown: one of the choices, or what argparse misses."""
    choices = trouble_words(facts, "flag_invalid_choice", "choices")
    if not choices:
        return _said(facts)
    return f"one of these after {trouble_words(facts, 'flag_invalid_choice', 'argument')}: {_some(choices)}"


def _some(choices: str) -> str:
    """The choices, whole ones only where there are too many to read."""
    return choices if len(choices) <= MOST_SHOWN else f"{choices[:MOST_SHOWN].rpartition(',')[0]} and more"


def _argparse(facts: Facts) -> Observation | None:
    seen = trouble(facts, *_KINDS)
    if seen is None:
        return None
    refused = _refused(facts)
    says = f"argparse refuses {', '.join(refused[:4])}" if refused else f"argparse refuses the launch: {_said(facts)}"
    certain = trouble(facts, *FLAG_KINDS) is not None
    return Observation(says, seen.cites, 0.8 if certain else 0.5, 0.002 if certain else 0.008)


def _catalogue(facts: Facts) -> Observation | None:
    """The version's own flags against the command; a patched server may know more than its version."""
    cites = facts.cite("launch.unknown", "launch.ambiguous")
    names = [str(o) for name in ("launch.unknown", "launch.ambiguous") for o in facts.items(name)]
    if not names:
        return None
    return Observation(f"this version does not take {', '.join(names[:4])}", cites, 0.8, 0.01)


def _clean(facts: Facts) -> Observation | None:
    """A command that was read with the version's flags and has no option it does not take."""
    cites = facts.cite("launch.command", "engine.version")
    doubtful = facts.items("launch.unknown") or facts.items("launch.ambiguous") or trouble(facts, *_KINDS)
    if "launch.command" not in facts or "engine.version" not in facts or doubtful:
        return None
    return Observation("the version's catalogue takes every option of the command", cites, 0.05, 0.9)


def _value_of(facts: Facts, option: str) -> str:
    """What follows the option in the command, or in argparse's own words; empty where nothing does."""
    for text in (facts.text("launch.command") or "", trouble_words(facts, "flag_unrecognized", "arguments")):
        match = re.search(rf"(?<!\S){re.escape(option)}(?:=|\s+)([^\s;]+)", text)
        if match is not None and not match.group(1).startswith("--"):
            return " ".join(shlex.split(match.group(1))) if match.group(1).count('"') % 2 == 0 else match.group(1)
    return ""


def _remedy(facts: Facts, option: str, cites: tuple[str, ...]) -> Remedy:
    installed, catalogue = version(facts), installed_catalogue(facts)
    rename = spelling_for(option, catalogue)
    name = f"SGLang {installed if installed is not None else catalogue.version}"
    which = name if installed is not None else f"{name}, the one taken since none is named"
    if rename is not None:
        value = rename.value or _value_of(facts, option) or "true"
        return _relaunch(
            f"Write {rename.new} {value} instead of {option}: that is its name in {which}",
            Change(set={rename.new: value}, unset=(option,)),
            cites,
        )
    candidates = trouble_words(facts, "flag_ambiguous", "candidates")
    if candidates and option == trouble_words(facts, "flag_ambiguous", "option"):
        return _by_hand(f"{option} in full: {candidates}", cites)
    reason = why_not(option, catalogue)
    refuses = f"{name} does not have" if installed is not None else "argparse refuses"
    title = f"Start without {option}, which {refuses}" + (f": {reason}" if reason else "")
    return _relaunch(title, Change(unset=(option,)), cites)


def _relaunch(title: str, change: Change, cites: tuple[str, ...]) -> Remedy:
    return Remedy(
        "LA004",
        "relaunch",
        title,
        change,
        cites,
        verify="the server reports itself ready",
        rollback="none: it does not start now",
    )


def _by_hand(what: str, cites: tuple[str, ...]) -> Remedy:
    return Remedy(
        "LA004",
        "operator",
        f"Write {what}",
        Change(),
        cites,
        verify="argparse takes the command",
        rollback="none: it does not start now",
    )


CAUSE = UnknownFlag()
