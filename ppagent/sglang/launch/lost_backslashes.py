"""A launch command as tickets show it: its options on lines of their own, the backslashes between them lost."""

import re

from ppagent.sglang.launch.manifest import is_manifest
from ppagent.sglang.launch.systemd import is_unit

PROGRAM = re.compile(r"sglang\.launch_server|sglang\.cli\.main|\bsglang\s+serve\b|\blaunch_server\.py\b")
_OPTIONS = re.compile(r"[ \t]*--[a-z]")
_CLOSED = re.compile(r"#|\\[ \t]*$|[|&;(]\s*$")
"""A line that goes on or ends by itself, or in a comment, where a backslash would join nothing."""


def with_backslashes(text: str) -> str:
    """`text` with the lines of options below a program's line joined to it; YAML and units fold lines by themselves.

    A command that has some of its backslashes is left as its shell reads it: there it ends where one is missing.
    """
    if is_unit(text) or is_manifest(text):
        return text
    lines = text.split("\n")
    joined = False
    for i, (line, following) in enumerate(zip(lines, lines[1:], strict=False)):
        joined = bool((joined or PROGRAM.search(line)) and not _CLOSED.search(line) and _OPTIONS.match(following))
        if joined:
            lines[i] = f"{line.rstrip()} \\"
    return "\n".join(lines)
