"""Launch flags over SGLang's published versions, from the checked-in table."""

from dataclasses import dataclass, replace
from functools import lru_cache

from packaging.version import Version

from ppagent.errors import UserError
from ppagent.sglang.flags.flag import Catalogue, Flag
from ppagent.sglang.flags.table import published
from ppagent.sglang.versions import between_releases, parse_version


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
    named = release_below(wanted)
    if named is None:
        raise UserError(f"SGLang {version} is older than {versions_known()[0]}.", "Pipelines came with 0.4.7.")
    return Catalogue(named, published().flags_at(versions_known().index(named)), unread=_about(wanted, named))


def release_below(version: Version) -> str | None:
    """The newest published version that is not above `version`; local parts ("+cu130") do not count."""
    bare = Version(version.public)
    below = [text for text in versions_known() if Version(text) <= bare]
    return below[-1] if below else None


def between(version: str) -> str:
    """What a version is that lies between two published ones, with the one before it, as a clause; empty for any
    other."""
    parsed = parse_version(version)
    release = release_below(parsed) if parsed is not None and between_releases(parsed) else None
    if parsed is None or release is None:
        return ""
    kind = "built from source" if parsed.is_devrelease else "a candidate"
    return f"{kind}; the nearest earlier release known is {release}"


def spans(spelling: str) -> tuple[Span, ...]:
    """The history of `spelling`, primary or alias, oldest first; empty where no published version has it."""
    table = published()
    runs = [run for name in table.names_with(spelling) for run in table.runs_of(name) if spelling in run.flag.spellings]
    found: list[Span] = []
    last = None
    for run in sorted(runs, key=lambda run: run.first):
        since, until = table.versions[run.first], table.versions[run.last]
        if found and last is not None and run.first == last + 1 and alike(found[-1].flag, run.flag):
            since = found.pop().since
        found.append(Span(since, until, run.flag))
        last = run.last
    return tuple(found)


def follows(earlier: str, later: str) -> bool:
    """Whether `later` is the published version right after `earlier`."""
    known = versions_known()
    place = known.index(earlier)
    return known[place + 1 : place + 2] == (later,)


def _about(wanted: Version, named: str) -> tuple[str, ...]:
    if Version(wanted.public) == Version(named):
        return ()
    newest = versions_known()[-1]
    if wanted.is_devrelease and named != newest:
        return (f"SGLang {wanted} was {between(str(wanted))}. These are its flags.",)
    if wanted > Version(newest):
        return (f"SGLang {wanted} is newer than {newest}, the newest known here; these are the flags of {newest}.",)
    return (
        f"SGLang {wanted} is not a published version known here; these are the flags of {named}, the nearest below.",
    )


def alike(one: Flag, other: Flag) -> bool:
    """Equal but for help text and group."""
    plain = [replace(flag, help="", group="") for flag in (one, other)]
    return plain[0] == plain[1] and repr(plain[0]) == repr(plain[1])
