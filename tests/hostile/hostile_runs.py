"""The program as a user starts it: a process of its own, where the account, the streams and the disk matter."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
_ROOTS = os.pathsep.join(str(ROOT / name) for name in (".", "tools", "evals", "prompts"))
_AS_ANYBODY = ["setpriv", "--inh-caps=-all", "--bounding-set=-all"]


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": _ROOTS, "PYTHONDONTWRITEBYTECODE": "1", **more}


def ppagent(
    words: Sequence[str],
    *,
    folder: Path | None = None,
    environ: dict[str, str] | None = None,
    unprivileged: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Runs the command line to its end. `unprivileged`: permissions count, even where this is root."""
    held = _AS_ANYBODY if unprivileged and os.getuid() == 0 else []
    return subprocess.run(
        [*held, sys.executable, "-m", "ppagent", *words],
        cwd=folder,
        env=environment() if environ is None else environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
