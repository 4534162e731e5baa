"""Launch flags over SGLang's published versions, from the checked-in table."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from packaging.version import Version

from ppagent.errors import UserError
from ppagent.sglang.flags.flag import Catalogue, Flag
from ppagent.sglang.flags.table import published
from ppagent.sglang.versions import parse_version


@dataclass(frozen=True)
class Span:
    """Published versions `since` to `until`, both included, in which nothing about a flag changed but its help text."""

    since: str
    until: str
    flag: Flag


def versions_known() -> tuple[str, ...]:
    """The published versions in the table, oldest first."""
    return published().versions


@lru_cache(maxsize=64)
def catalogue_of(version: str) -> Catalogue:
    """The flags of a published version, or of the nearest one below it, which `unread` then says.

    Help texts are shortened and the newest there are. Raises UserError for text that is no version, and for versions
    older than the table.
    """
    wanted = parse_version(version)
    if wanted is None:
        raise UserError(f'"{version}" is not a version.', "Write it like 0.5.10.")
    place = _nearest(wanted)
    if place is None:
        raise UserError(f"SGLang {version} is older than {versions_known()[0]}.", "Pipelines came with 0.4.7.")
    named = versions_known()[place]
    return Catalogue(named, published().flags_at(place), unread=_about(wanted, named))


def spans(spelling: str) -> tuple[Span, ...]:
    """The history of `spelling`, primary or alias, oldest first; empty where no published version has it."""
    table = published()
    runs = [run for name in table.names_with(spelling) for run in table.runs_of(name) if spelling in run.flag.spellings]
    found: list[Span] = []
    last = None
    for run in sorted(runs, key=lambda run: run.first):
        since, until = table.versions[run.first], table.versions[run.last]
        if found and last is not None and run.first == last + 1 and _alike(found[-1].flag, run.flag):
            since = found.pop().since
        found.append(Span(since, until, run.flag))
        last = run.last
    return tuple(found)


def follows(earlier: str, later: str) -> bool:
    """Whether `later` is the published version right after `earlier`."""
    known = versions_known()
    place = known.index(earlier)
    return known[place + 1 : place + 2] == (later,)


def departures(catalogue: Catalogue) -> tuple[str, ...]:
    """Sentences on what a tree's flags add, lack or set differently from the published version of the same name."""
    if catalogue.version not in versions_known():
        return ()
    expected = {f.name: f for f in catalogue_of(catalogue.version)}
    found = {f.name: f for f in catalogue}
    changed = [n for n in found.keys() & expected.keys() if not _alike(found[n], expected[n])]
    said = (
        ("adds", found.keys() - expected.keys()),
        ("lacks", expected.keys() - found.keys()),
        ("declares differently", changed),
    )
    parts = [f"{verb} {_listed(names)}" for verb, names in said if names]
    if not parts:
        return ()
    return (f"This tree is not the published {catalogue.version}: it {', '.join(parts)}.",)


def _nearest(wanted: Version) -> int | None:
    """Place of the newest published version that is not above `wanted`; local parts ("+cu130") do not count."""
    bare = Version(wanted.public)
    below = [place for place, text in enumerate(versions_known()) if Version(text) <= bare]
    return below[-1] if below else None


def _about(wanted: Version, named: str) -> tuple[str, ...]:
    if Version(wanted.public) == Version(named):
        return ()
    newest = versions_known()[-1]
    if wanted > Version(newest):
        return (f"SGLang {wanted} is newer than {newest}, the newest known here; these are the flags of {newest}.",)
    return (
        f"SGLang {wanted} is not a published version known here; these are the flags of {named}, the nearest below.",
    )


def _alike(one: Flag, other: Flag) -> bool:
    """Equal but for help text and group."""
    plain = [replace(flag, help="", group="") for flag in (one, other)]
    return plain[0] == plain[1] and repr(plain[0]) == repr(plain[1])


def _listed(names: Iterable[str]) -> str:
    ordered: Sequence[str] = sorted(names)
    shown = ", ".join(ordered[:6])
    return shown if len(ordered) <= 6 else f"{shown} and {len(ordered) - 6} more"
