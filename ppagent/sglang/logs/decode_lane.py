"""Decode lines of one DP rank, counted as they come: the part of log reading that must be fast.

The usual layout of a line is matched by one pattern and counted by its text, without building a record; any other
layout goes through `parse_batch` and the same counters.
"""

import math
import re
from collections import deque
from collections.abc import Iterable

from ppagent.sglang.logs.batches import DecodeBatch, parse_batch
from ppagent.sglang.logs.clock import Clock, moment
from ppagent.sglang.logs.prefix import Ranks, parse_line
from ppagent.sglang.logs.series import Counts, Series, Spread, median, spread_of
from ppagent.sglang.logs.summary import DecodeStats, Level

IDLE_AFTER_S = 5.0
IDLE_INTERVALS = 5.0
_SUSPECTS_HELD = 1024
MOST_GROWTH = 200
"""Tokens that a request gains between two decode lines: 40 by default, more with a longer interval or speculation."""
_RATE_SAMPLES = 512
WHOLE, REAL = rb"(\d{1,15})", rb"(\d{1,15}(?:\.\d+)?)"
"""Numbers as a log prints them. What two processes wrote into one another (`1.2.3`) is none."""

_match = re.compile(
    rb"[^\]]*\] Decode batch[^#]*#running-req: %(whole)b, #token: %(whole)b, token usage: %(real)b, "
    rb"(?:accept len: %(real)b, (?:accept rate: %(real)b, )?)?"
    rb"\w+ graph: (True|False|None), gen throughput \(token/s\): %(real)b, #queue-req: %(whole)b(?!\d)"
    % {b"whole": WHOLE, b"real": REAL}
).match


class DecodeLane:
    """Counters of the decode lines of one DP rank. Feed every one of its counted stage and TP rank, in order.

    `line` is the line without wrappers and milliseconds (its time stands at 1:20), `raw` what the log holds.
    """

    def __init__(self, ranks: Ranks, clock: Clock) -> None:
        self.ranks = ranks
        self.lines = 0
        self.half_lines = 0
        self.last = b""
        self.prefills_between = 0
        self.prefills = 0
        self._clock = clock
        self._in_graph, self._outside, self._unknown = Counts(), Counts(), Counts()
        self._parts = {b"True": self._in_graph, b"False": self._outside, b"None": self._unknown}
        self._by_graph = {graph: part.counts for graph, part in self._parts.items()}
        self._usage, self._queue, self._rate_lines = Counts(), Counts(), Counts()
        self._by_usage, self._by_queue = self._usage.counts, self._queue.counts
        self._tokens, self._accept_len, self._accept_rate = Series(), Series(), Series()
        self._recent_running: deque[bytes] = deque(maxlen=64)
        self._held = self._held_before = (b"", b"")
        self._rates = Series()
        self._recent: deque[float] = deque(maxlen=20)
        self._suspects: list[tuple[float, float]] = []
        self._left_out = 0
        self._samples_left = _RATE_SAMPLES
        self._intervals: dict[float, int] = {}
        self._last_s: float | None = None
        self._stall_s: float | None = None

    def take(self, line: bytes, raw: bytes) -> None:
        """Count a decode line."""
        match = _match(line, 20) or _match_odd(line)
        if match is None:
            self.half_lines += 1
            return
        running, tokens, usage, accept_len, accept_rate, graph, rate, queue = match.groups()
        try:
            self._by_graph[graph][running] += 1
        except KeyError:
            self._parts[graph].first(running, raw)
        try:
            self._by_usage[usage] += 1
        except KeyError:
            self._usage.first(usage, raw)
        try:
            self._by_queue[queue] += 1
        except KeyError:
            self._queue.first(queue, raw)
        if accept_len is not None:
            self._accept_len.add(float(accept_len))
            if accept_rate is not None:
                self._accept_rate.add(float(accept_rate))
        self._tokens.add(float(tokens))
        self._held, self._held_before = (running, tokens), self._held
        self._recent_running.append(running)
        self.last = raw
        self.lines += 1
        self._time(line[1:20], float(rate), raw)

    def _time(self, stamp: bytes, rate: float, raw: bytes) -> None:
        """Throughput, where the line does not average over idle time, and the intervals between lines."""
        clock = self._clock
        if clock.stamp != stamp:
            clock.tick(stamp)
        if self._last_s != clock.now_s:
            self._interval(clock.now_s)
        self._recent.append(rate)
        if clock.quiet_s <= IDLE_AFTER_S or self._goes_on():
            self._rates.add(rate)
        else:
            self._suspects.append((clock.quiet_s, rate))
            if len(self._suspects) > _SUSPECTS_HELD:
                self._judge()
        clock.quiet_s = 0.0
        self.prefills_between = 0
        if self._samples_left:
            self._samples_left -= 1
            self._rate_lines.first(b"%.2f" % rate, raw)

    def _goes_on(self) -> bool:
        """Whether the requests of the line before are still at it, so that the silence between was slowness: nothing
        was prefilled meanwhile, or, in a log without prefill lines, as many requests hold a few tokens more each."""
        if self.lines < 2 or self.prefills:
            return self.lines > 1 and not self.prefills_between
        (running, tokens), (before, held) = self._held, self._held_before
        return running == before and 0 < int(tokens) - int(held) <= MOST_GROWTH * int(running)

    def _interval(self, now_s: float | None) -> None:
        """Note the time since the last line of another second."""
        last_s, self._last_s = self._last_s, now_s
        if last_s is None or now_s is None:
            self._clock.quiet_s = math.inf
            return
        interval_s = now_s - last_s
        try:
            self._intervals[interval_s] += 1
        except KeyError:
            self._intervals[interval_s] = 1
        if not self.prefills_between:
            self._stall_s = max(self._stall_s or 0.0, interval_s)

    def _judge(self) -> None:
        """Decide which lines with silence before them stood after an idle gap, from the intervals seen so far."""
        spread = self._interval_spread()
        idle_s = max(IDLE_AFTER_S, IDLE_INTERVALS * spread.p50) if spread else IDLE_AFTER_S
        for quiet_s, rate in self._suspects:
            if quiet_s > idle_s:
                self._left_out += 1
            else:
                self._rates.add(rate)
        self._suspects = []

    def _interval_spread(self) -> Spread | None:
        within_a_second = self.lines - 1 - sum(self._intervals.values())
        short = {0.0: within_a_second} if within_a_second > 0 else {}
        return spread_of(dict(sorted((short | self._intervals).items())))

    def recent(self, since: int = 0) -> Level | None:
        """Medians of the last 20 decode lines, of those past line `since` where they are fewer; None without any."""
        take = min(len(self._recent), self.lines - since)
        if take <= 0:
            return None
        rates = list(self._recent)[-take:]
        running = [float(text) for text in list(self._recent_running)[-take:]]
        return Level(median(rates), median(running))

    def stats(self) -> DecodeStats | None:
        """What the lines amount to; None where there were none."""
        if not self.lines:
            return None
        self._judge()
        in_graph, outside, queue = self._in_graph.table(), self._outside.table(), self._queue.table()
        running = self._running()
        return DecodeStats(
            ranks=self.ranks,
            lines=self.lines,
            running=spread_of(running),
            running_counts={int(value): count for value, count in running.items()},
            recent_running=tuple(int(value) for value in self._recent_running),
            queue=spread_of(queue),
            queue_share=1.0 - queue.get(0.0, 0) / self.lines,
            tokens=self._tokens.spread(),
            token_usage=spread_of(self._usage.table()),
            tokens_per_s=self._rates.spread(),
            left_out=self._left_out,
            longest_stall_s=self._stall_s,
            graph_label=_label(self.last),
            graph_true=sum(in_graph.values()),
            graph_false=sum(outside.values()),
            max_running_in_graph=int(max(in_graph)) if in_graph else None,
            min_running_outside_graph=int(min(outside)) if outside else None,
            accept_len=self._accept_len.mean,
            accept_rate=self._accept_rate.mean,
            last_at=None if self._last_s is None else moment(self._last_s),
            examples=self._examples(running),
        )

    def _running(self) -> dict[float, int]:
        """How often each number of running requests was printed, with a graph, without one or unsaid."""
        tables = [counts.table() for counts in (self._in_graph, self._outside, self._unknown)]
        return {value: sum(table.get(value, 0) for table in tables) for value in sorted(set().union(*tables))}

    def _examples(self, running: dict[float, int]) -> dict[str, str]:
        parts = (self._in_graph, self._outside, self._unknown)
        by_running = {float(key): line for part in parts for key, line in part.lines.items()}
        spread, rates = spread_of(running), self._rates.spread()
        picked = {
            "first": self._rate_lines.first_line(),
            "last": self.last,
            "running_p50": by_running.get(spread.p50) if spread else None,
            "running_max": by_running.get(spread.high) if spread else None,
            "queue_max": self._queue.highest_line(),
            "usage_max": self._usage.highest_line(),
            "graph_true": self._in_graph.first_line(),
            "graph_false": self._outside.first_line(),
            "tokens_per_s_p50": self._rate_lines.line_near(rates.p50) if rates else None,
        }
        return texts(picked.items())


def _label(line: bytes) -> str | None:
    match = re.search(rb"(\w+) graph: ", line)
    return match[1].decode("ascii", "replace") if match else None


def texts(lines: Iterable[tuple[str, bytes | None]]) -> dict[str, str]:
    """Those lines that exist, as text, cut at 2000 bytes."""
    return {name: line[:2000].decode("utf-8", "replace") for name, line in lines if line}


def _match_odd(line: bytes) -> re.Match[bytes] | None:
    """A line of another layout, read with care and said again in the usual one; None where it cannot be read."""
    batch = parse_batch(parse_line(line).message)
    if not isinstance(batch, DecodeBatch) or None in (batch.running, batch.queue, batch.tokens_per_s):
        return None
    accept = "" if batch.accept_len is None else f"accept len: {batch.accept_len:.2f}, "
    if accept and batch.accept_rate is not None:
        accept += f"accept rate: {batch.accept_rate:.2f}, "
    usual = (
        f"] Decode batch, #running-req: {batch.running}, #token: {batch.tokens or 0}, "
        f"token usage: {batch.token_usage or 0.0:.2f}, {accept}cuda graph: {batch.graph}, "
        f"gen throughput (token/s): {batch.tokens_per_s:.2f}, #queue-req: {batch.queue}"
    )
    return _match(line[:20] + usual.encode("ascii"), 20)
