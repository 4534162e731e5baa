"""What an installation's flags add, lack and declare differently from a published version's, and the way back."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from ppagent.sglang.flags.describe import changes
from ppagent.sglang.flags.flag import Catalogue, Flag
from ppagent.sglang.flags.history import alike, catalogue_of, release_below
from ppagent.sglang.versions import parse_version

_MOST_NAMED = 6


@dataclass(frozen=True)
class Differences:
    """Flags that differ from those of the published version `release`; help texts and groups do not count."""

    release: str
    added: tuple[Flag, ...] = ()
    removed: tuple[str, ...] = ()
    """First spellings, as the release has them."""
    changed: tuple[Flag, ...] = ()
    """As the installation declares them; the release has a flag of the same first spelling."""

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)

    @cached_property
    def flags(self) -> tuple[Flag, ...]:
        """All flags of the installation: the release's with the differences made in them."""
        changed = {flag.name: flag for flag in self.changed}
        kept = (flag for flag in catalogue_of(self.release) if flag.name not in self.removed)
        return (*(changed.get(flag.name, flag) for flag in kept), *self.added)

    def about(self, spelling: str) -> str:
        """What differs of one flag, in words; empty where nothing does."""
        before = catalogue_of(self.release).by_spelling.get(spelling)
        after = next((flag for flag in self.flags if spelling in flag.spellings), None)
        if before is None or after is None:
            return "" if before is after else f"{spelling} is {'new' if before is None else 'not there'}"
        said = "; ".join(changes(before, after))
        return f"{spelling}: {said}" if said else ""


def differences(catalogue: Catalogue, release: str) -> Differences:
    """How `catalogue` differs from the published version `release`."""
    expected = {flag.name: flag for flag in catalogue_of(release)}
    found = {flag.name: flag for flag in catalogue}
    return Differences(
        release,
        tuple(flag for name, flag in found.items() if name not in expected),
        tuple(name for name in expected if name not in found),
        tuple(flag for name, flag in found.items() if name in expected and not alike(flag, expected[name])),
    )


def departures(catalogue: Catalogue) -> tuple[str, ...]:
    """Sentences on what a tree's flags add, lack or set differently from the published version of the same name, or
    from the nearest earlier one; empty where its version is not known, or newer than all that is."""
    version = parse_version(catalogue.version)
    release = release_below(version) if version is not None else None
    if version is None or release is None:
        return ()
    found = differences(catalogue, release)
    said = (
        ("adds", [flag.name for flag in found.added]),
        ("lacks", found.removed),
        ("declares differently", [flag.name for flag in found.changed]),
    )
    parts = [f"{verb} {_listed(names)}" for verb, names in said if names]
    if not parts:
        return ()
    if release != version.public:
        return (f"Compared with {release}, the nearest earlier release known here, it {', '.join(parts)}.",)
    return (f"This tree is not the published {release}: it {', '.join(parts)}.",)


def _listed(names: Iterable[str]) -> str:
    ordered: Sequence[str] = sorted(names)
    shown = ", ".join(ordered[:_MOST_NAMED])
    return shown if len(ordered) <= _MOST_NAMED else f"{shown} and {len(ordered) - _MOST_NAMED} more"
