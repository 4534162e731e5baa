"""What a server's log says, as numbers with their meaning fixed.

How lines are counted (0.4.7 to 0.5.23): every pipeline stage prints its own copy of a batch line, so one stage counts,
the lowest in the log. DP ranks are separate schedulers: add their throughputs. Of TP ranks the first of its DP rank
prints (`DP2 TP2` under DP attention). `#running-req` is one micro-batch under pipeline parallelism. The first decode
line, and the first after an idle gap, average over the idle time: they are left out of throughput.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from math import gcd

from ppagent.sglang.logs.prefix import Ranks
from ppagent.sglang.logs.series import Spread
from ppagent.sglang.logs.startup_facts import Startup
from ppagent.sglang.logs.trouble import TroubleKind


def aliases(interval: int, slots: int) -> bool:
    """Whether decode lines at `--decode-log-interval interval` always show the same one of `slots` busy slots."""
    return slots > 1 and interval % slots == 0


def slots_shown(interval: int, slots: int) -> int:
    """How many of `slots` busy slots the decode lines ever show: all of them where the two numbers are coprime."""
    return slots // gcd(interval, slots)


@dataclass(frozen=True, slots=True)
class RankSeen:
    """When a rank printed its last batch line."""

    ranks: Ranks
    at: datetime | None


@dataclass(frozen=True, slots=True)
class Level:
    """Where a server stood over a few decode lines: medians."""

    tokens_per_s: float
    running: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodeStats:
    """Decode lines of one DP rank, as its counted stage printed them.

    `running_counts` is how often each `#running-req` was printed (the fill of the logged slots), `recent_running` the
    last values in order; `queue_share` the share of lines with a queue. `tokens_per_s` is the scheduler's generation
    throughput, all slots together, without the `left_out` lines after idle.
    `longest_stall_s` is the longest time between two lines without a prefill line in it: no request came, so the old
    ones stood still (or, on a decode server of a prefill/decode pair, there were none). `graph_true` and `graph_false`
    count lines by the graph field. `examples` holds one verbatim line for what stands out: `running_p50`,
    `running_max`, `queue_max`, `usage_max`, `tokens_per_s_p50`, `graph_true`, `graph_false`, `first`, `last`.
    """

    ranks: Ranks
    lines: int
    running: Spread | None = None
    running_counts: Mapping[int, int] = field(default_factory=dict)
    recent_running: tuple[int, ...] = ()
    queue: Spread | None = None
    queue_share: float = 0.0
    tokens: Spread | None = None
    token_usage: Spread | None = None
    tokens_per_s: Spread | None = None
    left_out: int = 0
    longest_stall_s: float | None = None
    graph_label: str | None = None
    graph_true: int = 0
    graph_false: int = 0
    max_running_in_graph: int | None = None
    min_running_outside_graph: int | None = None
    accept_len: float | None = None
    accept_rate: float | None = None
    last_at: datetime | None = None
    examples: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefillStats:
    """Prefill lines of one DP rank. `longest_run` is the most prefill lines in a row without a decode line between
    them: decode stands still meanwhile. `examples`: `longest_run` (its last line), `queue_max`, `pending_max`,
    `first`."""

    ranks: Ranks
    lines: int
    new_seqs: int = 0
    new_tokens: int = 0
    cached_tokens: int = 0
    seqs_per_line: Spread | None = None
    tokens_per_line: Spread | None = None
    queue: Spread | None = None
    pending_tokens: Spread | None = None
    input_tokens_per_s: Spread | None = None
    longest_run: int = 0
    examples: Mapping[str, str] = field(default_factory=dict)

    @property
    def cached_share(self) -> float | None:
        """Share of prompt tokens that the prefix cache held."""
        total = self.new_tokens + self.cached_tokens
        return self.cached_tokens / total if total else None


@dataclass(frozen=True, slots=True)
class Event:
    """One line that means trouble or tells something; `raw` is verbatim (cut at 2000 characters)."""

    kind: TroubleKind
    at: datetime | None
    ranks: Ranks
    fields: Mapping[str, str]
    raw: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """All events of one kind. `lines` counts every line, `once` leaves out the copies that other stages and TP ranks
    print; `summed` adds up the kind's counted field the same way. `first` and `last` hold a bounded number each.
    `before` is the level of the 20 decode lines before the first event, `after` that of those past the last one (at
    most 20); throughput of DP ranks added up, running requests averaged over them."""

    kind: TroubleKind
    lines: int
    once: int
    summed: float
    by_pp: Mapping[int | None, int]
    first: tuple[Event, ...]
    last: tuple[Event, ...]
    before: Level | None = None
    after: Level | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """One launch of the server: from its `server_args=` line (or the log's start) to the next.

    `occupancy_percent` is the mean `fwd occupancy` by pipeline stage. `notes` says what the reader must know about the
    counting, for example that stage 0 is not in this log.
    """

    startup: Startup
    decode: tuple[DecodeStats, ...] = ()
    prefill: tuple[PrefillStats, ...] = ()
    troubles: Mapping[str, Tally] = field(default_factory=dict)
    last_seen: tuple[RankSeen, ...] = ()
    occupancy_percent: Mapping[int, float] = field(default_factory=dict)
    last_at: datetime | None = None
    notes: tuple[str, ...] = ()

    @property
    def tokens_per_s(self) -> float | None:
        """Mean generation throughput, DP ranks added up."""
        means = [stats.tokens_per_s.mean for stats in self.decode if stats.tokens_per_s is not None]
        return sum(means) if means else None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSummary:
    """A whole log. `skipped` counts lines left out, by reason: `binary`, `cut` (half a batch line), `overlong`,
    `quoted` (log lines in somebody's text).
    `launches` counts starts; of many only the first and the last stretches are kept."""

    stretches: tuple[Stretch, ...]
    launches: int
    lines: int
    skipped: Mapping[str, int] = field(default_factory=dict)

    @property
    def current(self) -> Stretch:
        """The last launch."""
        return self.stretches[-1]

    @property
    def busiest(self) -> Stretch:
        """The launch with most decode lines: the one to measure, where the last one died early."""
        return max(self.stretches, key=lambda stretch: sum(stats.lines for stats in stretch.decode))
