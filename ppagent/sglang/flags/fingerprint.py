"""Which published versions a server can be, by the names of its settings: nearly every release adds or drops some.

A log names all of them at its start (`server_args=`) and not the version. Against the source of every version from
0.4.7 to 0.5.19 the right one is among the answers, but for 0.4.9.post3, which has the settings of 0.4.9.post4.
"""

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

from ppagent.sglang.flags.history import catalogue_of, versions_known

_NO_MARKS = frozenset({"config", "help", "custom_sigquit_handler"})
"""A flag without a field, argparse's own, and a field that kept its name when its flag was dropped."""


@dataclass(frozen=True)
class _Marks:
    """Names of settings by which a version is told. Those of deprecated flags may be there or not."""

    version: str
    needed: frozenset[str]
    allowed: frozenset[str]


def versions_with(settings: Collection[str]) -> tuple[str, ...]:
    """The published versions, oldest first, that have exactly these settings; names that were never a flag's do not
    count. Empty for a build between two releases, a version not known here, and for settings that are not all there.
    """
    named = _ever() & frozenset(settings)
    return tuple(marks.version for marks in _marks() if marks.needed <= named <= marks.allowed)


@lru_cache(maxsize=1)
def _marks() -> tuple[_Marks, ...]:
    return tuple(_of(version) for version in versions_known())


def _of(version: str) -> _Marks:
    flags = catalogue_of(version).flags
    needed = {flag.dest for flag in flags if not flag.deprecated and flag.action != "deprecated"}
    return _Marks(version, frozenset(needed - _NO_MARKS), frozenset({flag.dest for flag in flags} - _NO_MARKS))


@lru_cache(maxsize=1)
def _ever() -> frozenset[str]:
    return frozenset[str]().union(*(marks.allowed for marks in _marks()))
