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
    required: bool = False
    stops_with: str = ""
    """What the server says when it refuses to start because this flag is used at all; "" where it may be used."""

    @property
    def spellings(self) -> tuple[str, ...]:
        return (self.name, *self.aliases)

    @property
    def takes_value(self) -> bool:
        return self.action in ("store", "append") and self.nargs != 0


HELP = Flag("--help", "help", ("-h",), type="bool", action="store_true", stops_with="It prints the flags and exits.")
"""The flag that argparse itself adds to every parser; no catalogue lists it."""


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
    unsure: frozenset[str] = frozenset()
    """First spellings of flags of which something could not be read."""
    partial: bool = False
    """Whether there may be flags that were not read."""

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
        """`option` ("--pp", "--tp-size=4", "-h") read as the server's own argparse reads it.

        An exact spelling wins, then one written before "="; else every spelling that it begins is a candidate, and two
        are ambiguous even where both belong to one flag. So do CPython 3.10 to 3.13 (Lib/argparse.py: _parse_optional,
        _get_option_tuples), which are what SGLang runs on. `--help` is in every parser and so among the candidates.
        """
        spellings = {**self.by_spelling, **dict.fromkeys(HELP.spellings, HELP)}
        written = option if option in spellings else option.partition("=")[0]
        if written in spellings:
            return Match(option, spellings[written], written, (written,))
        if len(written) < 2 or written[0] != "-" or written == "--":
            return Match(option)
        candidates = tuple(s for s in spellings if s.startswith(written) or s == written[:2])
        if len(candidates) == 1:
            return Match(option, spellings[candidates[0]], candidates[0], candidates)
        return Match(option, candidates=candidates)
