"""A launch flag of one SGLang version, and the set of them as that version's own parser would see it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

FlagValue = str | int | float | bool | None | list["FlagValue"] | dict[str, "FlagValue"]
Action = Literal["store", "store_true", "store_false", "store_const", "boolean_optional", "append", "deprecated"]


@dataclass(frozen=True)
class Flag:
    """One flag. `default` None often means "resolved later by the server", not "off"."""

    name: str
    """Primary spelling with its dashes, as the version declares it first."""
    dest: str
    """The server-args field it sets."""
    aliases: tuple[str, ...] = ()
    """Every other spelling the parser takes, `--no-...` forms of boolean optional actions included."""
    type: str = "str"
    """int, float, str, bool, json or the name of the version's own converter."""
    default: FlagValue = None
    choices: tuple[FlagValue, ...] | None = None
    nargs: str | int | None = None
    action: Action = "store"
    const: FlagValue = None
    help: str = ""
    group: str = ""
    hidden: bool = False
    deprecated: bool = False
    replaced_by: str | None = None
    """The flag (or instruction) that takes its place, where the version names one."""

    @property
    def spellings(self) -> tuple[str, ...]:
        return (self.name, *self.aliases)

    @property
    def takes_value(self) -> bool:
        return self.action in ("store", "append") and self.nargs != 0


@dataclass(frozen=True)
class Match:
    """What argparse makes of one option string: a flag, several candidates (ambiguous), or nothing."""

    written: str
    flag: Flag | None = None
    spelling: str | None = None
    candidates: tuple[str, ...] = ()

    @property
    def ambiguous(self) -> bool:
        return self.flag is None and len(self.candidates) > 1


@dataclass(frozen=True)
class Catalogue:
    """All launch flags of one SGLang version."""

    version: str
    flags: tuple[Flag, ...]
    origin: str = "table"
    """"table" (the checked-in history) or the tree it was read from."""
    unread: tuple[str, ...] = field(default=())
    """What could not be read, one sentence each: a patched, partial or newer tree says so here."""

    def __iter__(self) -> Iterator[Flag]:
        return iter(self.flags)

    @cached_property
    def by_spelling(self) -> dict[str, Flag]:
        return {spelling: flag for flag in self.flags for spelling in flag.spellings}

    @cached_property
    def by_dest(self) -> dict[str, Flag]:
        """First flag of each field; a field set by several flags keeps its undeprecated one."""
        found: dict[str, Flag] = {}
        for flag in sorted(self.flags, key=lambda f: f.deprecated):
            found.setdefault(flag.dest, flag)
        return found

    def match(self, option: str) -> Match:
        """`option` ("--pp", "--tp-size=4" without its value) read as argparse reads it, abbreviations included."""
        exact = self.by_spelling.get(option)
        if exact is not None:
            return Match(option, exact, option)
        if not option.startswith("--"):
            return Match(option)
        candidates = tuple(s for s in self.by_spelling if s.startswith(option))
        if len(candidates) == 1:
            return Match(option, self.by_spelling[candidates[0]], candidates[0], candidates)
        return Match(option, candidates=candidates)
