"""What several commands share: numbers from the command line, output to a file, remarks beside the output."""

import argparse
import math
import os
import shutil
import sys
from pathlib import Path

from ppagent.cli.streams import NO_ROOM
from ppagent.errors import ExitStatus, UserError

TARGET_HELP = "a recording's folder, a log file, - for pasted text, local, or ssh://[user@]host (several with commas)"

CEILING_HELP = (
    "highest grade of tool that needs no approval (2): 0 to 2 only read, 3 disturbs the server for moments, "
    "4 puts load on it, 5 restarts it"
)
BRAIN_HELP = "rules, a language model (llm), or that where one is set up and rules elsewhere (auto, the default)"


class NumberFrom:
    """An argparse type: a number of at least `least` and at most `most`, refused in words that name the quantity."""

    def __init__(self, least: float, what: str, whole: bool = False, most: float = math.inf) -> None:
        self._least, self._what, self._whole, self._most = least, what, whole, most

    def __call__(self, text: str) -> float:
        try:
            value = int(text) if self._whole else float(text)
        except ValueError:
            kind = "a whole number" if self._whole else "a number"
            raise argparse.ArgumentTypeError(f"{text!r} is not {kind} of {self._what}") from None
        if not value >= self._least:
            raise argparse.ArgumentTypeError(f"{text} is below {self._least:g} {self._what}")
        if value > self._most:
            raise argparse.ArgumentTypeError(f"{text} is above {self._most:g} {self._what}")
        return value


PORT = NumberFrom(1, "port", whole=True, most=65_535)
"""An argparse type: a TCP port."""


def write_file(path: Path, text: str) -> None:
    """Writes a report to a file, whole or not at all: what the file held stays until the new text is on the disk.
    Raises UserError where the file cannot be written."""
    data = text.encode("utf-8", errors="backslashreplace")
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)  # a device, or a pipe
        else:
            _put_in_place(path.resolve(), data)
    except (OSError, RuntimeError) as error:
        full = isinstance(error, OSError) and error.errno in NO_ROOM
        raise UserError(
            f"{path} cannot be written: {getattr(error, 'strerror', None) or error}.",
            "Make room there, or name a file elsewhere."
            if full
            else "Name a file in a folder that exists and is yours.",
            ExitStatus.FAILURE,
        ) from error


def _put_in_place(path: Path, data: bytes) -> None:
    part = path.with_name(f".{path.name[:200]}.{os.getpid()}.part")
    try:
        file = part.open("xb")
    except PermissionError:
        if not path.exists():
            raise
        path.write_bytes(data)  # the file is ours and its folder is not
        return
    try:
        with file:
            file.write(data)
        if path.exists():
            shutil.copymode(path, part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def somebody_there() -> bool:
    """Whether a person can be asked: both the questions and the answers go through a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def says_yes(question: str) -> bool:
    """Whether the person at the terminal types yes. Ctrl-C and the end of the input mean no, and end nothing else."""
    sys.stderr.write(question)
    sys.stderr.flush()
    try:
        return sys.stdin.readline().strip().lower() in ("y", "yes")
    except KeyboardInterrupt:
        sys.stderr.write("no\n")
        return False


def note(sentence: str) -> None:
    """A remark beside the output: on the standard error, so that the output stays a document."""
    from ppagent.evidence.masking import mask
    from ppagent.report.plain import plain

    sys.stderr.write(f"ppagent: {plain(mask(sentence))}\n")
