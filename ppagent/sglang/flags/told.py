"""The flags of an installation as one fact of the evidence: only what differs from a published version is written."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import Any, get_args

from ppagent.errors import UserError
from ppagent.evidence.evidence import FactValue
from ppagent.evidence.facts import Facts
from ppagent.sglang.flags.differences import Differences
from ppagent.sglang.flags.flag import Action, Catalogue, Flag
from ppagent.sglang.flags.history import catalogue_of, versions_known
from ppagent.sglang.flags.installed import ORIGIN, InstalledFlags, flags_of_version
from ppagent.sglang.flags.rows import from_row, to_row
from ppagent.sglang.versions import parse_version

MOST_SAID = 8
_SPELLING = re.compile(r"--?[A-Za-z0-9][A-Za-z0-9_.-]{0,80}")
_LEFT_OUT = ("help", "group")
_TEXTS = ("name", "dest", "type", "stops_with")
_LISTS = ("aliases", "choices")


def as_fact(found: InstalledFlags) -> dict[str, FactValue]:
    """What `from_fact` takes back. Names stand in tables of their own: in a bare list the word after the name of a
    secret would be taken for one."""
    apart = found.differences
    says: list[FactValue] = [*found.says]
    unread: list[FactValue] = [*found.catalogue.unread]
    return {
        "from": "source" if found.from_source else "table",
        "version": found.version,
        "release": apart.release,
        "added": [_row(flag) for flag in apart.added],
        "removed": [{"name": name} for name in apart.removed],
        "changed": [_row(flag) for flag in apart.changed],
        "says": says[:MOST_SAID],
        "unread": unread[:MOST_SAID],
    }


def from_fact(value: FactValue) -> InstalledFlags | None:
    """The flags that a fact tells of; None for what is no such fact. Rows that are none are left out."""
    if not isinstance(value, dict):
        return None
    release, version = value.get("release"), value.get("version")
    if release not in versions_known() or not isinstance(release, str) or not isinstance(version, str):
        return None
    names = tuple(str(row["name"]) for row in _rows(value.get("removed")) if "name" in row)
    known = {flag.name: flag for flag in catalogue_of(release)}
    changed = (flag for flag in _flags(value.get("changed")) if flag.name in known)
    apart = Differences(
        release,
        tuple(flag for flag in _flags(value.get("added")) if flag.name not in known),
        names,
        tuple(replace(flag, help=known[flag.name].help, group=known[flag.name].group) for flag in changed),
    )
    says = value.get("says")
    told = tuple(str(sentence) for sentence in says) if isinstance(says, list) else ()
    from_source = value.get("from") == "source"
    catalogue = Catalogue(version, apart.flags, ORIGIN if from_source else "table")
    return InstalledFlags(catalogue, apart, from_source, told)


def flags_told(facts: Facts) -> InstalledFlags | None:
    """The flags as the installed source was seen to declare them, else those of the version; None where that is
    unknown, or older than every table."""
    told = facts.get("source.flags")
    found = from_fact(told.value) if told is not None else None
    version = str(parse_version(facts.text("engine.version") or "") or "")
    if found is not None or not version:
        return found
    try:
        return flags_of_version(version)
    except UserError:
        return None


def _row(flag: Flag) -> FactValue:
    return {key: value for key, value in to_row(flag).items() if key not in _LEFT_OUT}


def _rows(value: object) -> Iterator[Mapping[str, Any]]:
    yield from (row for row in value if isinstance(row, dict)) if isinstance(value, list) else ()


def _flags(value: object) -> Iterator[Flag]:
    for row in _rows(value):
        if _is_flag(row):
            yield from_row({**row})


def _is_flag(row: Mapping[str, Any]) -> bool:
    texts = all(isinstance(row.get(key, ""), str) for key in _TEXTS) and row.get("dest")
    lists = all(isinstance(row.get(key) or [], list) for key in _LISTS)
    known = row.keys() <= {field.name for field in fields(Flag)} and row.get("action", "store") in get_args(Action)
    return bool(texts and lists and known and _SPELLING.fullmatch(row.get("name", "")))
