"""`Include` lines of an ssh configuration, which paramiko passes over in silence."""

import fnmatch
import re
import shlex
from pathlib import Path

_INCLUDE = re.compile(r"\s*include[\s=]+(?P<names>.+)", re.IGNORECASE)
_BLOCK = re.compile(r"\s*(?P<kind>host|match)[\s=]+(?P<names>.+)", re.IGNORECASE)
DEEPEST = 16
"""As OpenSSH has it."""


def expanded_text(path: Path, alias: str, depth: int = 0) -> str:
    """The configuration as far as it may concern `alias`, with every included file in its place.

    As in OpenSSH, an Include within a Host block counts only where the block does, and relative names are looked for
    beside the configuration. Raises OSError where a file cannot be read or includes itself.
    """
    if depth > DEEPEST:
        raise OSError(f"{path} includes itself")
    block, active = "Host *", True
    lines: list[str] = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        include, opened = _INCLUDE.match(line), _BLOCK.match(line)
        if include is not None:
            lines += [*_included(path.parent, include["names"], alias, depth), block] if active else []
            continue
        if opened is not None:
            block, active = line, opened["kind"].lower() == "match" or meant_by(opened["names"], alias)
        lines.append(line)
    return "\n".join(lines)


def meant_by(names: str, alias: str, *, also_by_all: bool = True) -> bool:
    """Whether the patterns of a Host line speak of `alias`. Without `also_by_all`, `*` alone does not."""
    found = False
    for pattern in names.replace('"', " ").split():
        bare = pattern.removeprefix("!")
        if fnmatch.fnmatchcase(alias, bare) and (also_by_all or set(bare) - set("*?")):
            if bare != pattern:
                return False
            found = True
    return found


def _included(folder: Path, names: str, alias: str, depth: int) -> list[str]:
    found: list[str] = []
    for name in shlex.split(names, comments=True):
        pattern = Path(name).expanduser()
        base = Path(pattern.anchor) if pattern.is_absolute() else folder
        relative = str(pattern.relative_to(pattern.anchor)) if pattern.is_absolute() else str(pattern)
        found += [expanded_text(path, alias, depth + 1) for path in sorted(base.glob(relative)) if path.is_file()]
    return found
