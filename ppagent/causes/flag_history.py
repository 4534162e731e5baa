"""What to write for a flag that an installation does not take: read in its own flags and in those of all versions."""

from dataclasses import dataclass

from packaging.version import Version

from ppagent.evidence.facts import Facts
from ppagent.sglang.flags.flag import Catalogue
from ppagent.sglang.flags.history import catalogue_of, spans, versions_known
from ppagent.sglang.flags.successors import successor
from ppagent.sglang.flags.told import flags_told
from ppagent.sglang.legality.renames import meant_by, renamed
from ppagent.sglang.versions import parse_version


@dataclass(frozen=True)
class Written:
    """A flag as the installation has it. `value` is what it must be set to where the old one carried none."""

    new: str
    value: str = ""


GONE = {
    "--disaggregation-prefill-pp": "the pair agrees on it by itself",
    "--disaggregation-decode-tp": "the pair agrees on it by itself",
    "--disaggregation-decode-dp": "the pair agrees on it by itself",
    "--torchao-config": "the feature was taken out",
}
"""Why later versions dropped a flag without another in its place."""


def installed_catalogue(facts: Facts) -> Catalogue:
    """The flags of the installation as far as the facts tell; of the newest version known where they do not."""
    known = flags_told(facts)
    return known.catalogue if known is not None else catalogue_of(versions_known()[-1])


def spelling_for(option: str, catalogue: Catalogue) -> Written | None:
    """What to write for an option that `catalogue` does not take, an older or newer name of it or what its versions say
    to use. None where it is taken as it is, or nothing is known to stand for it."""
    match = catalogue.match(option)
    if match.flag is not None and not match.flag.stops_with:
        return None
    name = meant_by(option, match.candidates) or renamed(option, catalogue)
    if name is not None and not catalogue.by_spelling[name].stops_with:
        return Written(name)
    declared = successor(option, catalogue) or ""
    new, _, value = declared.replace("=", " ").partition(" ")
    flag = catalogue.by_spelling.get(new)
    if flag is None or "{" in declared or (flag.takes_value and not value and not _took_value(option)):
        return None
    return Written(new, value)


def why_not(option: str, catalogue: Catalogue) -> str:
    """Why there is no such flag and no other name for it, in a few words; empty where nothing is known."""
    history, place = spans(option), parse_version(catalogue.version)
    if not history or place is None:
        return ""
    since, until = history[0].since, history[-1].until
    if Version(since) > Version(place.public):
        return f"it exists from {since} on"
    if Version(until) >= Version(place.public):
        return ""
    declared = history[-1].flag.replaced_by
    instead = f"; {declared} takes its place" if declared else ""
    return GONE.get(option, f"{until} was the last version with it{instead}")


def _took_value(option: str) -> bool:
    history = spans(option)
    return bool(history) and history[-1].flag.takes_value
