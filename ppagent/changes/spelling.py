"""A change in the newest spellings turned into those of the installed version."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ppagent.causes.cause import Change
from ppagent.sglang.flags.flag import Catalogue
from ppagent.sglang.legality.renames import renamed


@dataclass(frozen=True)
class Spelled:
    """A change in the installed version's words, the flags that version lacks, and what it takes no such value for."""

    change: Change
    lacking: tuple[str, ...] = ()
    unfit: Mapping[str, str] = field(default_factory=dict)
    """By flag: why its value is none here, as a clause."""


def spell(change: Change, catalogue: Catalogue | None) -> Spelled:
    """`change` as this version writes it. Without a catalogue the newest spellings are kept."""
    if catalogue is None:
        return Spelled(change)
    written: dict[str, str] = {}
    lacking: list[str] = []
    for flag, value in change.set.items():
        name = renamed(flag, catalogue)
        if name is None:
            lacking.append(flag)
        else:
            written[name] = value
    unset = tuple(_taken_away(flag, written, catalogue) for flag in change.unset)
    unfit = {flag: why for flag, value in written.items() if (why := _unfit(flag, value, catalogue))}
    return Spelled(Change(written, unset, change.env), tuple(lacking), unfit)


def lever_name(lever: str, catalogue: Catalogue | None) -> str | None:
    """A lever as this version calls it: a flag by its spelling here, None where it has none; anything else as it is."""
    if catalogue is None or not lever.startswith("--") or " " in lever:
        return lever
    return renamed(lever, catalogue)


def _unfit(flag: str, value: str, catalogue: Catalogue) -> str:
    """Why a value is none of the choices that a flag has here; empty where it is one, or where any is taken."""
    known = catalogue.by_spelling[flag]
    taken = {str(choice) for choice in known.choices or ()}
    odd = [word for word in (value.split() if known.nargs else [value]) if word not in taken]
    return f"{flag} takes no {odd[0]}" if taken and odd else ""


def _taken_away(flag: str, written: Mapping[str, str], catalogue: Catalogue) -> str:
    """The name under which a flag is taken away. Where its new name is set in the same change, the old one stays: it
    stands in the launch as it is, and is what the version refuses."""
    name = renamed(flag, catalogue)
    return name if name is not None and name not in written else flag
