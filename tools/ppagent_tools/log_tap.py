"""What a log's lines say beside its summary, taken as they pass by: verbatim start-up lines, stalls of decoding,
and when the server last spoke at all."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from ppagent.sglang.logs.clock import seconds_of
from ppagent.sglang.logs.marks import any_of
from ppagent.sglang.logs.prefix import Ranks, Unwrapped, parse_ranks, unwrap

LONGEST_LOOKED_AT = 400
IDLE_S = 10.0
"""A silence of all batch lines longer than this may be idleness, so a gap that holds one is no stall."""

_MARKS = {
    "args": b"server_args=",
    "weights": b"Load weight end",
    "kv": b"KV Cache",
    "kv_late": b"KV cache allocated.",
    "pool": b"Memory pool end",
    "graph_begin": b"apture",
    "capacity": b"max_total_num_tokens=",
    "ready": b"fired up and ready",
}
_marked = any_of(_MARKS.values())
_BATCH = b" batch"
_HTTP = b"HTTP/1."
_UNHEALTHY = re.compile(rb"/health\S* HTTP/1\.\d\W+50\d")
"""A health check that fails: what an idle server never prints, and a hung one does."""
_GONE = re.compile(rb"\b[Aa]bort(?:ed|ing)?\b[^\n]{0,40}\breq|disconnected from the client|[Cc]lient disconnected")
"""A request that its client gave up, so that nothing runs on though no batch says so."""
_FLUSHED = b"Cache flushed successfully"
"""Said only by a scheduler that holds no request (srt/managers/scheduler.py, flush_cache)."""
MOST_KNOWN = 4096

Note = Callable[[bytes, float | None], None]


@dataclass
class Lane:
    """Times of one rank's batch lines. `stall_s` is the longest time without a decode line in which batch lines kept
    coming: what long prompts do to decoding."""

    decoded: int = 0
    stall_s: float = 0.0
    stall_line: str = ""
    _decode_s: float | None = None
    _batch_s: float | None = None
    _broken: bool = False

    def decode(self, line: bytes, now_s: float | None) -> None:
        """Note a decode line."""
        self.prefill(line, now_s)
        self.decoded += 1
        if now_s is not None and self._decode_s is not None and not self._broken:
            stall_s = now_s - self._decode_s
            if stall_s > self.stall_s:
                self.stall_s, self.stall_line = stall_s, line.decode("utf-8", errors="replace")
        self._decode_s, self._broken = now_s, False

    def prefill(self, line: bytes, now_s: float | None) -> None:
        """Note a prefill line: while they come, decoding stands still but the server works."""
        if now_s is not None and self._batch_s is not None and now_s - self._batch_s > IDLE_S:
            self._broken = True
        self._batch_s = now_s


@dataclass
class LaunchTap:
    """What passed by during one launch. `marked` holds the first line of each kind, as written."""

    marked: dict[str, bytes] = field(default_factory=dict)
    lanes: dict[Ranks, Lane] = field(default_factory=dict)
    last_remark: bytes = b""
    """Time of the last line that is neither a batch nor an HTTP access; a failed health check counts."""

    last_gone: bytes = b""
    """Time of the last line that tells of a request given up by its client."""
    last_idle: bytes = b""
    """Time of the last line that only a server without work says."""

    @property
    def lane(self) -> Lane | None:
        """The lane of the lowest stage, which is the one that counts; of the lowest DP and TP rank there."""
        ranked = [ranks for ranks, lane in self.lanes.items() if lane.decoded]
        lowest = min(ranked, key=lambda r: (r.pp or 0, r.dp or 0, r.tp or 0), default=None)
        return None if lowest is None else self.lanes[lowest]

    def line(self, mark: str) -> str:
        """The first line of a kind as text without its end; empty where none passed."""
        return self.marked.get(mark, b"").decode("utf-8", errors="replace").rstrip("\r\n")


class LogTap:
    """Stands between a target's log and its reader: `lines` passes every line on, without its end.

    Batch lines are most of a log, so what to do with one is looked up by the bytes from its rank tags to its kind.
    """

    def __init__(self) -> None:
        self.launches: list[LaunchTap] = [LaunchTap()]
        self.first_line = b""
        self._known: dict[bytes, Note] = {}
        self._stamp = b""
        self._now_s: float | None = None
        self._plain = False

    def lines(self, log: Iterable[bytes]) -> Iterator[bytes]:
        """Every line of `log`, noted and passed on."""
        for whole in log:
            line = whole.rstrip(b"\r\n")
            note = self._known.get(line[20:44])
            if note is not None and line[:1] == b"[":
                note(line, self._now_s if line[1:20] == self._stamp else self._seconds(line[1:20]))
            elif _BATCH in line[:160]:
                self._batch(line)
            elif _HTTP not in line or _UNHEALTHY.search(line):
                self._other(line)
            yield line

    def _batch(self, line: bytes) -> None:
        """A batch line of a rank that was not seen yet, or in another layout."""
        unwrapped = Unwrapped(line) if line[:1] == b"[" else unwrap(line)
        if unwrapped.quoted and self._plain:
            return
        bare = unwrapped.text
        end = bare.find(b"]")
        kind = bare[end + 2 : end + 15]
        if end < 20 or not kind.startswith((b"Decode batch", b"Prefill batch")):
            self._other(line)
            return
        self.first_line = self.first_line or line.strip()
        ranks = parse_ranks(bare[20:end].lstrip(b".,0123456789").decode("ascii", errors="replace"))
        lane = self.launches[-1].lanes.setdefault(ranks, Lane())
        note = lane.decode if kind.startswith(b"Decode") else lane.prefill
        note(line, self._seconds(bare[1:20]))
        if len(self._known) > MOST_KNOWN:
            self._known.clear()
        if bare is line:
            self._plain = True
            self._known[line[20:44]] = note

    def _other(self, line: bytes) -> None:
        self.first_line = self.first_line or line.strip()
        if _marked(line) is not None:
            for name, mark in _MARKS.items():
                if mark in line:
                    self._mark(name, line)
        if line[:1] == b"[" and line[1:5].isdigit():
            current, at = self.launches[-1], line[1:20]
            current.last_remark = at
            if (b"bort" in line or b"isconnected" in line) and _GONE.search(line[:LONGEST_LOOKED_AT]):
                current.last_gone = at
            elif _FLUSHED in line:
                current.last_idle = at

    def _mark(self, name: str, line: bytes) -> None:
        current = self.launches[-1]
        if name == "args" and ("args" in current.marked or current.lanes):
            current = LaunchTap()
            self.launches.append(current)
            self._known = {}
        current.marked.setdefault(name, line)

    def _seconds(self, stamp: bytes) -> float | None:
        if stamp != self._stamp:
            self._stamp = stamp
            self._now_s = seconds_of(stamp)
        return self._now_s
