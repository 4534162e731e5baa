"""The `server_args=` line in pasted text: a terminal breaks it where its width ends, and copying keeps the breaks."""

import re

from ppagent.targets.pasted_sheet import Sheet

_BEGINS = re.compile(r"server_args=(?:\w+\(|\{)")
_ENDS = re.compile(r"[)}]\s*$")
_OTHER = re.compile(r"\s*(?:$|```|\[\d{4}-\d\d-\d\d |Traceback \(|[\w.]*(?:Error|Exception): )")
_BROKEN_INSIDE = re.compile(r"['\"]?\w*['\"]?[=:]\s*\S|[\w.'\"/\\-]*['\")\]},]")
"""What the rest of a broken line looks like: a name with its value, or the end of one."""
MOST_PIECES = 200


def join_broken_arguments(sheet: Sheet) -> None:
    """Put the pieces of each broken line together again; a line that was cut short for good stays as it is."""
    for i, line in enumerate(sheet.lines):
        if sheet.is_free(i) and _BEGINS.search(line) and not _ENDS.search(line):
            _join(sheet, i)


def _join(sheet: Sheet, first: int) -> None:
    last = first
    while last - first < MOST_PIECES and sheet.is_free(last + 1) and _goes_on(sheet.lines[last + 1]):
        last += 1
        if _ENDS.search(sheet.lines[last]):
            break
    sheet.lines[first] = "".join(line.rstrip("\r\n") for line in sheet.lines[first : last + 1])
    for i in range(first + 1, last + 1):
        sheet.lines[i] = ""


def _goes_on(line: str) -> bool:
    return _OTHER.match(line) is None and _BROKEN_INSIDE.search(line) is not None
