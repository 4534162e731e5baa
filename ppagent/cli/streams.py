"""The three standard streams as a program may find them: closed, full, cut off, or unable to write what it has."""

import errno
import io
import os
import sys
from pathlib import Path
from typing import TextIO

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""Errors of writing that are the disk's, not the program's."""


def have_all_streams() -> None:
    """A stream that the program was started without (`<&-`) becomes one that is empty, or that nobody reads."""
    sys.stdin = sys.stdin or _nowhere("r")
    sys.stdout = sys.stdout or _nowhere("w")
    sys.stderr = sys.stderr or _nowhere("w")


def never_fail_to_encode() -> None:
    """On a terminal without UTF-8 a character that it lacks is shown as an escape instead of ending the program."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def believe_no_odd_size() -> None:
    """A terminal size that can be none (`COLUMNS=0`, as from a job without a window) is forgotten, so that the terminal
    itself is asked: a report drawn in no columns would come out empty."""
    for name in ("COLUMNS", "LINES"):
        told = os.environ.get(name, "1")
        if not (told.isdecimal() and int(told) > 0):
            del os.environ[name]


def write_no_more() -> None:
    """Whoever read our output has closed the pipe (`| head`), or its disk is full. The output goes nowhere from here
    on, so that Python's own last flush is quiet too."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _nowhere(mode: str) -> TextIO:
    stream = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 - it lives as long as the program
    if not isinstance(stream, io.TextIOWrapper):
        raise AssertionError("a file opened for text is a text stream")
    return stream
