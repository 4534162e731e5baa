"""What happened to one spelling over the published versions, as dated sentences."""

from collections.abc import Iterator
from itertools import groupby

from ppagent.sglang.flags.describe import changes, described
from ppagent.sglang.flags.flag import Match
from ppagent.sglang.flags.history import Span, catalogue_of, follows, spans, versions_known
from ppagent.sglang.flags.notes import renamed_from, renamed_to


def events(spelling: str) -> tuple[tuple[str, str], ...]:
    """(version, what changed in it) of a flag's spelling, oldest first; empty where no published version has it."""
    found = spans(spelling)
    return (*_first(spelling, found[0]), *_between(found), *_last(spelling, found[-1])) if found else ()


def abbreviation(written: str) -> tuple[tuple[str, str, str], ...]:
    """(from version, to version, meaning) of a spelling where it is no flag itself but the start of some."""
    readings = [(version, _meaning(catalogue_of(version).match(written))) for version in versions_known()]
    runs = [(meaning, [version for version, _ in run]) for meaning, run in groupby(readings, key=lambda r: r[1])]
    return tuple((versions[0], versions[-1], meaning) for meaning, versions in runs if meaning)


def _meaning(match: Match) -> str:
    if match.ambiguous:
        return "ambiguous, an error"
    return f"short for {match.spelling}" if match.spelling not in (None, match.written) else ""


def _first(spelling: str, span: Span) -> Iterator[tuple[str, str]]:
    former = renamed_from(spelling)
    added = f"added in place of {former.old}" if former else "added"
    how = "there in the oldest version known" if span.since == versions_known()[0] else added
    yield span.since, f"{how}: {described(span.flag)}" + ("; deprecated" if span.flag.deprecated else "")


def _between(found: tuple[Span, ...]) -> Iterator[tuple[str, str]]:
    for before, after in zip(found, found[1:], strict=False):
        if not follows(before.until, after.since):
            yield _after(before.until), "gone"
            yield after.since, "back"
        said = "; ".join(changes(before.flag, after.flag))
        if said:
            yield after.since, said


def _last(spelling: str, span: Span) -> Iterator[tuple[str, str]]:
    if span.until == versions_known()[-1]:
        yield span.until, "still there (the newest version known)"
        return
    later = renamed_to(spelling)
    yield _after(span.until), f"renamed to {later.new}; the old name is an error" if later else "gone"


def _after(version: str) -> str:
    known = versions_known()
    return known[known.index(version) + 1]
