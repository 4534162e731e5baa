"""What stands in front of a message: wrappers of the log's carrier, then SGLang's own time and rank tags.

SGLang writes `[YYYY-MM-DD HH:MM:SS<tags>] message`, with milliseconds after the seconds where `SGLANG_LOG_MS` is set
(0.5.6+). A tag appears only where that size exceeds one, and the order of the tags changed three times (0.4.10, 0.5.6,
0.5.9), so they are read as a set. Read in `srt/utils/common.py: configure_logger` and
`srt/managers/scheduler.py: run_scheduler_process` of 0.4.7 to 0.5.23.
"""

import json
import re
from dataclasses import dataclass
from datetime import datetime

_ANSI = re.compile(rb"\x1b\[[0-9;?]*[ -/]*[@-~]")
_WRAPPERS = re.compile(
    rb"(?:"
    rb"\[pod/[^\]\s]+\] "  # kubectl logs --prefix
    rb"|\([^()\n]{0,80}?(?:\([^()\n]{0,80}\))?[^()\n]{0,80}?\bpid=\d+[^()\n]{0,80}\) "  # Ray
    rb"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d) "
    rb"(?:(?:stdout|stderr) (?P<part>[FP]) |[\w.-]+ [\w@.-]+\[\d+\]: )?"  # CRI, journald short-iso, --timestamps
    rb"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]+ [\w@./-]+\[\d+\]: "  # journald short
    rb"|[A-Za-z0-9][\w.-]{0,63}[ ]*\| "  # docker compose
    rb"){1,4}"
)
_ANY_LEAD = re.compile(rb"(?:[^\[\]'\"{}]|\[\d+\](?=:)){1,120}?(?=\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)")
"""What else people and tools put in front of a line: indentation, `> `, `server.log:12:`, other carriers. Quotes and
braces are none: behind them stands what a user wrote."""
_LINE = re.compile(
    r"\[(?P<at>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?:[.,](?P<fraction>\d{1,6}))?"
    r"(?P<tags>(?: [A-Z][A-Z_]*\d+)*)\] ?(?P<message>.*)",
    re.DOTALL,
)
NO_TIME = "0000-00-00 00:00:00"
"""Stands where a batch line came without its day: from loggers of people's own, and from SGLang up to 0.3."""
_TIMELESS = re.compile(
    rb"(?:\[(?:gpu=\d+|\d\d:\d\d:\d\d)(?P<tags>(?: [A-Z][A-Z_]*\d+)*)\] )?(?P<message>(?:Decode|Prefill) batch\b.*)",
    re.DOTALL,
)
_TAG = re.compile(r"([A-Z][A-Z_]*?)(\d{1,6})\b")
_RANK_OF_TAG = {"DP": "dp", "PP": "pp", "TP": "tp", "EP": "ep", "ATTN_CP": "attn_cp", "MOE_DP": "moe_dp"}


@dataclass(frozen=True, slots=True)
class Ranks:
    """Which process wrote a line; None where its tag is absent (size one, or no scheduler)."""

    dp: int | None = None
    pp: int | None = None
    tp: int | None = None
    ep: int | None = None
    attn_cp: int | None = None
    moe_dp: int | None = None

    @property
    def tagged(self) -> bool:
        """Whether any rank is known: the line is a scheduler's of a parallel deployment."""
        return self != NO_RANKS

    def __str__(self) -> str:
        parts = [f"{tag}{rank}" for tag, name in _RANK_OF_TAG.items() if (rank := getattr(self, name)) is not None]
        return " ".join(parts)


NO_RANKS = Ranks()


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line: `at` in the server's local time, None where the line has no prefix (a traceback, free text)."""

    at: datetime | None
    ranks: Ranks
    message: str
    raw: str


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """A line without its carrier's wrappers; `partial` where the carrier cut a long line and goes on in the next."""

    text: bytes
    partial: bool = False
    quoted: bool = False
    """Something else than a carrier stood in front: in a log whose other lines have nothing there, somebody quotes."""


def unwrap(line: bytes) -> Unwrapped:
    """`line` without colour and without what Ray, Docker, journald, Kubernetes and people put in front of it."""
    if b"\x1b" in line:
        line = _ANSI.sub(b"", line)
    if line.startswith(b'{"log":'):
        return _docker_json(line)
    match = _WRAPPERS.match(line)
    bare = line[match.end() :] if match is not None else line
    lead = _ANY_LEAD.match(bare) if bare[:1] != b"[" and b"[" in bare else None
    partial = match is not None and match["part"] == b"P"
    return Unwrapped(bare[lead.end() :] if lead else bare, partial, quoted=lead is not None)


def _docker_json(line: bytes) -> Unwrapped:
    try:
        text = json.loads(line)["log"]
    except (ValueError, KeyError, TypeError):
        return Unwrapped(line)
    if not isinstance(text, str):
        return Unwrapped(line)
    inner = _ANSI.sub(b"", text.encode("utf-8", "replace"))
    return Unwrapped(inner.rstrip(b"\n"), partial=not inner.endswith(b"\n"))


def with_time(line: bytes) -> bytes | None:
    """A batch line that has no day of its own, with `NO_TIME` in its place; None for any other line."""
    match = _TIMELESS.match(line)
    return None if match is None else b"[%b%b] %b" % (NO_TIME.encode(), match["tags"] or b"", match["message"])


def parse_ranks(tags: str) -> Ranks:
    """The ranks of a tag text such as ` DP0 PP3 TP1`, in any order; tags of later versions are ignored."""
    known = {_RANK_OF_TAG[name]: int(rank) for name, rank in _TAG.findall(tags) if name in _RANK_OF_TAG}
    return Ranks(**known) if known else NO_RANKS


def parse_line(line: bytes | str) -> LogLine:
    """Take one line apart. Undecodable bytes become U+FFFD; a line without SGLang's prefix is all message."""
    data = line.encode("utf-8", "replace") if isinstance(line, str) else line
    data = data.rstrip(b"\r\n")
    raw = data.decode("utf-8", "replace")
    text = unwrap(data).text.decode("utf-8", "replace")
    match = _LINE.match(text)
    if match is None:
        return LogLine(None, NO_RANKS, text, raw)
    at = _moment(match["at"], match["fraction"])
    if at is None and match["at"] != NO_TIME:
        return LogLine(None, NO_RANKS, text, raw)
    return LogLine(at, parse_ranks(match["tags"]), match["message"], raw)


def _moment(stamp: str, fraction: str | None) -> datetime | None:
    try:
        at = datetime.fromisoformat(stamp)
    except ValueError:
        return None
    return at if fraction is None else at.replace(microsecond=int(fraction.ljust(6, "0")))
