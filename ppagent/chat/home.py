"""Where sessions keep what outlives them: $XDG_STATE_HOME/ppagent, readable by their owner only."""

import errno
import os
from collections.abc import Mapping
from pathlib import Path

from ppagent.errors import ExitStatus, UserError


def state_home(environ: Mapping[str, str] | None = None) -> Path:
    """The folder; it is made where it is missing. Raises UserError where it cannot be."""
    environ = os.environ if environ is None else environ
    base = environ.get("XDG_STATE_HOME", "")
    root = Path(base) if base.startswith("/") else Path(environ.get("HOME", "~")).expanduser() / ".local" / "state"
    return private_folder(root / "ppagent")


def private_folder(path: Path) -> Path:
    """`path` as a folder that only its owner can open. Raises UserError where it cannot be made."""
    try:
        for folder in reversed([one for one in (path, *path.parents) if not one.exists()]):
            folder.mkdir(mode=0o700, exist_ok=True)
        if not path.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "it is a file")
    except OSError as error:
        raise UserError(
            f"{path} cannot be made: {error.strerror or error}.",
            "Set XDG_STATE_HOME to a folder that is yours.",
            ExitStatus.FAILURE,
        ) from error
    return path


def write_private(path: Path, text: str) -> None:
    """Writes a file that only its owner can read. Raises UserError where it cannot be written."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError as error:
        raise UserError(
            f"{path} cannot be written: {error.strerror or error}.",
            "Set XDG_STATE_HOME to a folder that is yours.",
            ExitStatus.FAILURE,
        ) from error
