"""What to write instead of a spelling that a version does not take, or takes only with a warning."""

import difflib
import fnmatch

from ppagent.sglang.flags.flag import Catalogue, Flag
from ppagent.sglang.flags.history import spans
from ppagent.sglang.flags.notes import renamed_from, renamed_to

_NEAREST = 5


def successor(spelling: str, catalogue: Catalogue) -> str | None:
    """What takes the place of `spelling` in this version: by what any version declares or by the table of renames.

    Older names of what was renamed are given where the version is from before the rename.
    """
    seen: set[str] = set()
    current = spelling
    while current not in seen:
        seen.add(current)
        following = _declared(current) or _renamed(current, catalogue)
        if following is None:
            return None
        if following.partition("=")[0].partition(" ")[0] in catalogue.by_spelling or "{" in following:
            return following
        current = following.partition("=")[0].partition(" ")[0]
    return None


def nearest(spelling: str, catalogue: Catalogue) -> tuple[str, ...]:
    """The spellings of this version that look most like `spelling`, best first. Dashes, underscores and capitals count
    for nothing: `--pp_max_microbatch_size` is nearest to `--pp-max-micro-batch-size`."""
    known: dict[str, str] = {}
    for name in catalogue.by_spelling:
        known.setdefault(_squeezed(name), name)
    wanted = _squeezed(spelling)
    containing = [name for squeezed, name in known.items() if wanted and wanted in squeezed]
    close = [known[match] for match in difflib.get_close_matches(wanted, list(known), n=_NEAREST, cutoff=0.6)]
    return tuple(dict.fromkeys([*close, *containing]))[:_NEAREST]


def _squeezed(name: str) -> str:
    return name.replace("-", "").replace("_", "").lower()


def matching(pattern: str, catalogue: Catalogue) -> tuple[Flag, ...]:
    """The flags one of whose spellings, or whose field, contains `pattern`; with `*`, `?` or `[` it is a glob, with or
    without the dashes in front."""
    wanted = pattern.lower()
    glob = wanted if any(c in wanted for c in "*?[") else f"*{wanted}*"
    return tuple(f for f in catalogue if any(fnmatch.fnmatchcase(name.lower(), glob) for name in _names(f)))


def _names(flag: Flag) -> tuple[str, ...]:
    return (*flag.spellings, *(spelling.lstrip("-") for spelling in flag.spellings), flag.dest)


def _declared(spelling: str) -> str | None:
    """The replacement that the newest version with this spelling declares."""
    history = spans(spelling)
    return history[-1].flag.replaced_by if history else None


def _renamed(spelling: str, catalogue: Catalogue) -> str | None:
    forward, backward = renamed_to(spelling), renamed_from(spelling)
    if forward is not None:
        return forward.new
    return backward.old if backward is not None and spelling not in catalogue.by_spelling else None
