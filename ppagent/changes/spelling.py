"""A change in the newest spellings turned into those of the installed version."""

from dataclasses import dataclass

from ppagent.causes.cause import Change
from ppagent.sglang.flags.flag import Catalogue

OLDER_NAMES: dict[str, tuple[str, ...]] = {
    "--pp-max-micro-batch-size": ("--max-micro-batch-size",),
    "--cuda-graph-max-bs-decode": ("--cuda-graph-max-bs",),
    "--cuda-graph-bs-decode": ("--cuda-graph-bs",),
    "--disable-decode-cuda-graph": ("--disable-cuda-graph",),
    "--incremental-streaming-output": ("--stream-output",),
}
"""What the same lever was called before, newest first (0.5.4: slot limit; 0.5.14: graphs by phase)."""


@dataclass(frozen=True)
class Spelled:
    """A change in the installed version's words, and the flags that version lacks."""

    change: Change
    lacking: tuple[str, ...] = ()


def spell(change: Change, catalogue: Catalogue | None) -> Spelled:
    """`change` as this version writes it. Without a catalogue the newest spellings are kept."""
    if catalogue is None:
        return Spelled(change)
    written: dict[str, str] = {}
    lacking: list[str] = []
    for flag, value in change.set.items():
        name = spelling(flag, catalogue)
        if name is None:
            lacking.append(flag)
        else:
            written[name] = value
    unset = tuple(spelling(flag, catalogue) or flag for flag in change.unset)
    return Spelled(Change(written, unset, change.env), tuple(lacking))


def spelling(flag: str, catalogue: Catalogue) -> str | None:
    """How this version spells `flag`: itself, else an older name; None where it has neither."""
    candidates = (flag, *OLDER_NAMES.get(flag, ()))
    known = [name for name in candidates if name in catalogue.by_spelling]
    current = [name for name in known if not catalogue.by_spelling[name].deprecated]
    return next(iter(current or known), None)
