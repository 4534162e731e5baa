"""The published versions' flags in one table: per flag, the runs of versions in which nothing about it changed.

A run holds only what differs from the run before. Help text and group are kept as the newest version that has the flag
writes them; they change too often to be worth their room.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources
from typing import Any

from ppagent.sglang.flags.flag import Catalogue, Flag
from ppagent.sglang.flags.rows import difference, from_row, to_row
from ppagent.sglang.flags.wording import says_deprecated

FILE_NAME = "history.json"
HELP_CHARS = 200
_LATEST_ONLY = ("help", "group")


@dataclass(frozen=True)
class Run:
    """Versions `first` to `last` (their places in `Table.versions`, both included) in which a flag stayed the same."""

    first: int
    last: int
    flag: Flag


@dataclass(frozen=True)
class Table:
    """The flags of every version, by primary name."""

    versions: tuple[str, ...]
    entries: Mapping[str, Any]

    def runs_of(self, name: str) -> Iterator[Run]:
        """The runs of the flag whose primary name is `name`, oldest first."""
        entry = self.entries[name]
        row: dict[str, Any] = {"name": name, **entry.get("latest", {})}
        for first, last, changes in entry["runs"]:
            row = {**row, **changes}
            yield Run(first, last, from_row(row))

    def flags_at(self, place: int) -> tuple[Flag, ...]:
        """The flags of the version at `place`."""
        return tuple(flag for name in self.entries if (flag := self._at(name, place)) is not None)

    def names_with(self, spelling: str) -> list[str]:
        """Primary names of the flags that had `spelling` in some version."""
        return [name for name, entry in self.entries.items() if name == spelling or _mentions(entry, spelling)]

    def _at(self, name: str, place: int) -> Flag | None:
        entry = self.entries[name]
        row: dict[str, Any] = {"name": name, **entry.get("latest", {})}
        for first, last, changes in entry["runs"]:
            if first > place:
                return None
            row.update(changes)
            if place <= last:
                return from_row(_of_its_time(row))
        return None


def _of_its_time(row: dict[str, Any]) -> dict[str, Any]:
    """Without a help text, of which the table keeps the newest only, that calls a flag deprecated which was not yet."""
    if row.get("deprecated") or not says_deprecated(row.get("help", "")):
        return row
    return {key: value for key, value in row.items() if key != "help"}


@lru_cache(maxsize=1)
def published() -> Table:
    """The checked-in table of published versions."""
    text = resources.files(__package__).joinpath(FILE_NAME).read_text("utf-8")
    return decode(json.loads(text))


def decode(document: Mapping[str, Any]) -> Table:
    return Table(tuple(document["versions"]), document["flags"])


def encode(catalogues: Sequence[Catalogue]) -> dict[str, Any]:
    """The table of `catalogues`, which must come oldest first."""
    entries: dict[str, dict[str, Any]] = {}
    rows: dict[str, dict[str, Any]] = {}
    for place, catalogue in enumerate(catalogues):
        for flag in catalogue:
            entry = entries.setdefault(flag.name, {"runs": []})
            entry["latest"] = {k: v for k, v in to_row(_shortened(flag)).items() if k in _LATEST_ONLY}
            row = {k: v for k, v in to_row(flag).items() if k not in ("name", *_LATEST_ONLY)}
            _extend(entry["runs"], place, difference(rows.get(flag.name, {}), row), continued=flag.name in rows)
            rows[flag.name] = row
    newest = [flag.name for flag in catalogues[-1]]
    ordered = [*newest, *sorted(entries.keys() - set(newest))]
    return {"versions": [c.version for c in catalogues], "flags": {name: entries[name] for name in ordered}}


def _extend(runs: list[list[Any]], place: int, changes: dict[str, Any], *, continued: bool) -> None:
    if continued and not changes and runs[-1][1] == place - 1:
        runs[-1][1] = place
        return
    runs.append([place, place, changes])


def _shortened(flag: Flag) -> Flag:
    text = flag.help
    return flag if len(text) <= HELP_CHARS else replace(flag, help=text[: HELP_CHARS - 3].rsplit(" ", 1)[0] + "...")


def _mentions(entry: Mapping[str, Any], spelling: str) -> bool:
    changes: Iterable[Mapping[str, Any]] = (run[2] for run in entry["runs"])
    return any(spelling in change.get("aliases", ()) for change in changes)
