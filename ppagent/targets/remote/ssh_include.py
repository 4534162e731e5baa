"""`Include` lines of an ssh configuration, which paramiko passes over in silence."""

import re
import shlex
from pathlib import Path

_INCLUDE = re.compile(r"\s*include[\s=]+(?P<names>.+)", re.IGNORECASE)
_BLOCK = re.compile(r"\s*(?:host|match)[\s=]", re.IGNORECASE)
DEEPEST = 16
"""As OpenSSH has it."""


def expanded_text(path: Path, depth: int = 0) -> str:
    """The configuration with every included file in its place, and the block around an Include taken up again after it.

    Relative names are looked for beside the configuration. A Host line of a file that is included within a block counts
    for itself. Raises OSError where a file cannot be read or includes itself.
    """
    if depth > DEEPEST:
        raise OSError(f"{path} includes itself")
    block = "Host *"
    lines: list[str] = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        match = _INCLUDE.match(line)
        if match is not None:
            lines += [*_included(path.parent, match["names"], depth), block]
            continue
        block = line if _BLOCK.match(line) else block
        lines.append(line)
    return "\n".join(lines)


def _included(folder: Path, names: str, depth: int) -> list[str]:
    found: list[str] = []
    for name in shlex.split(names, comments=True):
        pattern = Path(name).expanduser()
        base = Path(pattern.anchor) if pattern.is_absolute() else folder
        relative = str(pattern.relative_to(pattern.anchor)) if pattern.is_absolute() else str(pattern)
        found += [expanded_text(path, depth + 1) for path in sorted(base.glob(relative)) if path.is_file()]
    return found
