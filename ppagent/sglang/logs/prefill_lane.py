"""Prefill lines of one DP rank, counted as they come."""

import re

from ppagent.sglang.logs.batches import PrefillBatch, parse_batch
from ppagent.sglang.logs.clock import Clock
from ppagent.sglang.logs.decode_lane import REAL, WHOLE, DecodeLane, texts
from ppagent.sglang.logs.prefix import parse_line
from ppagent.sglang.logs.series import Counts, Series, spread_of
from ppagent.sglang.logs.summary import PrefillStats

_match = re.compile(
    rb"[^\]]*\] Prefill batch[^#]*#new-seq: %(whole)b, #new-token: %(whole)b, #cached-token: %(whole)b, "
    rb"token usage: [\d.]+, #running-req: \d+, #queue-req: %(whole)b(?!\d)"
    rb"(?:, #pending-token: %(whole)b(?!\d))?(?:, \w+ graph: \w+)?(?:, input throughput \(token/s\): %(real)b)?"
    % {b"whole": WHOLE, b"real": REAL}
).match


class PrefillLane:
    """Counters of the prefill lines of one DP rank; `decode` is the same rank's, to see what stands between them."""

    def __init__(self, decode: DecodeLane, clock: Clock) -> None:
        self.lines = 0
        self.half_lines = 0
        self._decode = decode
        self._clock = clock
        self._seqs = self._new = self._cached = 0
        self._queue, self._seqs_per_line = Counts(), Counts()
        self._tokens, self._pending, self._rates = Series(), Series(), Series()
        self._pending_high = -1.0
        self._run = self._longest_run = 0
        self._longest_run_line = self._pending_line = self._decode_line = b""

    def take(self, line: bytes, raw: bytes) -> None:
        """Count a prefill line (`line` and `raw` as for `DecodeLane.take`)."""
        match = _match(line, 20)
        if match is None:
            self._take_odd(line, raw)
            return
        seqs, new, cached, queue, pending, rate = match.groups()
        self._count(seqs, int(new), int(cached), raw)
        self._queues(queue, pending, raw)
        if rate is not None:
            self._rates.add(float(rate))
        if self._clock.stamp != line[1:20]:
            self._clock.tick(line[1:20])

    def _take_odd(self, line: bytes, raw: bytes) -> None:
        batch = parse_batch(parse_line(line).message)
        if not isinstance(batch, PrefillBatch) or batch.new_tokens is None or batch.queue is None:
            self.half_lines += 1
            return
        self._count(b"%d" % (batch.new_seqs or 0), batch.new_tokens, batch.cached_tokens or 0, raw)
        self._queues(b"%d" % batch.queue, None if batch.pending_tokens is None else b"%d" % batch.pending_tokens, raw)
        if batch.input_tokens_per_s is not None:
            self._rates.add(batch.input_tokens_per_s)
        self._clock.tick(line[1:20])

    def _count(self, seqs: bytes, new: int, cached: int, raw: bytes) -> None:
        self.lines += 1
        try:
            self._seqs_per_line.counts[seqs] += 1
        except KeyError:
            self._seqs_per_line.first(seqs, raw)
        self._seqs += int(seqs)
        self._new += new
        self._cached += cached
        self._tokens.add(float(new))
        self._decode.prefills_between += 1
        self._decode.prefills += 1
        if self._decode_line is not self._decode.last:
            self._decode_line, self._run = self._decode.last, 0
        self._run += 1
        if self._run > self._longest_run:
            self._longest_run, self._longest_run_line = self._run, raw

    def _queues(self, queue: bytes, pending: bytes | None, raw: bytes) -> None:
        try:
            self._queue.counts[queue] += 1
        except KeyError:
            self._queue.first(queue, raw)
        if pending is None:
            return
        tokens = float(pending)
        self._pending.add(tokens)
        if tokens > self._pending_high:
            self._pending_high, self._pending_line = tokens, raw

    def stats(self) -> PrefillStats | None:
        """What the lines amount to; None where there were none."""
        if not self.lines:
            return None
        examples = {
            "first": self._queue.first_line(),
            "longest_run": self._longest_run_line,
            "queue_max": self._queue.highest_line(),
            "pending_max": self._pending_line,
        }
        return PrefillStats(
            ranks=self._decode.ranks,
            lines=self.lines,
            new_seqs=self._seqs,
            new_tokens=self._new,
            cached_tokens=self._cached,
            seqs_per_line=spread_of(self._seqs_per_line.table()),
            tokens_per_line=self._tokens.spread(),
            queue=spread_of(self._queue.table()),
            pending_tokens=self._pending.spread(),
            input_tokens_per_s=self._rates.spread(),
            longest_run=self._longest_run,
            examples=texts(examples.items()),
        )
