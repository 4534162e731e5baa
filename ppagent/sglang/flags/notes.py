"""What important flags do and do not do, and renames that no version declares: a small table."""

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from packaging.version import Version

from ppagent.sglang.versions import parse_version

FILE_NAME = "notes.toml"


@dataclass(frozen=True)
class Note:
    """What the source says of some flags, in the versions `since` to `until` (both included; "" is open)."""

    flags: tuple[str, ...]
    text: str
    source: str
    since: str = ""
    until: str = ""

    def holds_in(self, version: Version) -> bool:
        return not (self.since and version < Version(self.since)) and not (self.until and version > Version(self.until))


@dataclass(frozen=True)
class Rename:
    """A flag that got a new name in version `since`, with no alias kept."""

    old: str
    new: str
    since: str


def notes_on(spellings: tuple[str, ...], version: str = "") -> tuple[Note, ...]:
    """The notes on a flag with one of `spellings`; with `version`, those that hold in it."""
    wanted = parse_version(version)
    found = (note for note in _tables()[0] if set(note.flags) & set(spellings))
    return tuple(note for note in found if wanted is None or note.holds_in(wanted))


def renamed_to(spelling: str) -> Rename | None:
    return next((rename for rename in _tables()[1] if rename.old == spelling), None)


def renamed_from(spelling: str) -> Rename | None:
    return next((rename for rename in _tables()[1] if rename.new == spelling), None)


@lru_cache(maxsize=1)
def _tables() -> tuple[tuple[Note, ...], tuple[Rename, ...]]:
    document = tomllib.loads(resources.files(__package__).joinpath(FILE_NAME).read_text("utf-8"))
    notes = tuple(Note(**{**note, "flags": tuple(note["flags"])}) for note in document["note"])
    return notes, tuple(Rename(**rename) for rename in document["rename"])
