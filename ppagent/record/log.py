"""A server's log for a recording: the server's own lines, and in words what lies between its beginning and its end."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from ppagent.targets.remote.log_stream import HEAD_BYTES, REMARK, TAIL_BYTES

HEAD = HEAD_BYTES
TAIL = TAIL_BYTES + (1 << 20)
"""Never less than a live target sends, so that its log is not cut a second time."""


@dataclass(frozen=True)
class RecordedLog:
    """The text, undecodable bytes carried along, and a sentence for each piece that is not in it."""

    text: str
    cuts: tuple[str, ...]


def recorded_log(lines: Iterable[bytes], *, head: int = HEAD, tail: int = TAIL) -> RecordedLog:
    """Takes at most `head` bytes from the beginning and `tail` bytes from the end, in whole lines."""
    first: list[bytes] = []
    last: deque[bytes] = deque()
    cuts: list[str] = []
    sizes = {"first": 0, "last": 0, "dropped": 0}
    for line in lines:
        if line.startswith(REMARK):
            cuts.append(_said(line, len(first) + len(last)))
        elif not last and sizes["first"] + len(line) <= head:
            first.append(line)
            sizes["first"] += len(line)
        else:
            last.append(line)
            sizes["last"] += len(line)
        while sizes["last"] > tail and len(last) > 1:
            sizes["last"] -= len(last[0])
            sizes["dropped"] += len(last.popleft())
    if sizes["dropped"]:
        cuts.append(f"{sizes['dropped'] / (1 << 20):.1f} MiB of the log were left out after line {len(first)}")
    return RecordedLog(b"".join((*first, *last)).decode("utf-8", errors="surrogateescape"), tuple(cuts))


def _said(remark: bytes, after: int) -> str:
    """What a live target says of the log, and where."""
    words = remark.removeprefix(REMARK).decode("utf-8", errors="replace").strip()
    return f"{words.removesuffix(' here')} after line {after}" if words.endswith(" here") else words
