"""What several commands share: numbers from the command line, output to a file, remarks beside the output."""

import argparse
import math
import sys
from pathlib import Path

from ppagent.errors import ExitStatus, UserError

TARGET_HELP = "a recording's folder, a log file, - for pasted text, local, or ssh://[user@]host (several with commas)"


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
    """Writes a report to a file. Raises UserError where the file cannot be written."""
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise UserError(
            f"{path} cannot be written: {error.strerror or error}.",
            "Name a file in a folder that exists and is yours.",
            ExitStatus.FAILURE,
        ) from error


def somebody_there() -> bool:
    """Whether a person can be asked: both the questions and the answers go through a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def note(sentence: str) -> None:
    """A remark beside the output: on the standard error, so that the output stays a document."""
    from ppagent.evidence.masking import mask
    from ppagent.report.plain import plain

    sys.stderr.write(f"ppagent: {plain(mask(sentence))}\n")
