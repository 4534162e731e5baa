"""What a server's `/metrics` says: Prometheus text to numbers, with the rules of SGLang's labels.

Every pipeline stage exports its own copy of the scheduler's metrics (label `pp_rank`), so stages are never added up: a
value is asked for one stage, the first unless said otherwise. TP ranks are copies too (`tp_rank`): the lowest counts.
DP ranks are separate schedulers and are added. The series of one priority repeat what the total holds (`priority=""`
or no such label) and are left out. Read in `srt/metrics/collector.py` (to 0.5.9) and
`srt/observability/metrics_collector.py` of 0.4.7 to 0.5.23.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from typing import Literal, TypeAlias

from ppagent.errors import ToolError
from ppagent.evidence.digits import whole_number
from ppagent.evidence.kept import is_measure

OverDp: TypeAlias = Literal["sum", "max", "mean"]

_SAMPLE = re.compile(
    r"(?P<name>[A-Za-z_:][\w:]*)\s*"
    r"(?:\{(?P<labels>[^\"}]*(?:\"[^\"\\]*(?:\\.[^\"\\]*)*\"[^\"}]*)*)\})?"
    r"\s+(?P<value>\S+)(?:\s+-?\d+)?\s*"
)
_LABEL = re.compile(r"([A-Za-z_]\w*)\s*=\s*\"([^\"\\]*(?:\\.[^\"\\]*)*)\"")
_ESCAPE = re.compile(r"\\(.)")
_NUMBER = re.compile(r"[+-]?(?:[0-9.]+(?:[eE][+-]?[0-9]+)?|[A-Za-z]+)")
"""As the text format writes one; Python would also take `1_000` and digits of other scripts."""
_SCRAPED_AT = re.compile(r"#\s*scraped_at:\s*(\S+)")
LONGEST_LINE = 65_536
"""A line of a scrape that is longer is none: matching one of megabytes takes gigabytes."""
MOST_SERIES = 250_000
"""A server of many ranks states some ten thousand."""
_OF_A_SERVER = ("model_name", "instance", "pod")
"""Labels that are the same on all that one server states: its own, and those that a collector of several adds."""
_LONGEST_WINDOW_S = 86_400.0
"""A rate over more than a day says nothing of a server at work, and mostly a clock was set meanwhile."""
_OVER_DP: dict[OverDp, Callable[[Iterable[float]], float]] = {
    "sum": sum,
    "max": max,
    "mean": lambda values: sum(known := list(values)) / len(known),
}


@dataclass(frozen=True, slots=True)
class Sample:
    """One series at one time. `name` is without SGLang's `sglang:` or `sglang_`."""

    name: str
    labels: Mapping[str, str]
    value: float


@dataclass(frozen=True, slots=True)
class Scrape:
    """One answer of `/metrics`, taken `at` (None where that is unknown). `skipped` counts unreadable lines, and those
    that say a series again with another value."""

    samples: Mapping[str, tuple[Sample, ...]] = field(default_factory=dict)
    at: datetime | None = None
    skipped: int = 0

    def series(self, name: str, **labels: str) -> tuple[Sample, ...]:
        """The samples of `name` that carry `labels` and a value that something can have: nothing here is negative."""
        wanted = labels.items()
        return tuple(
            sample
            for sample in self.samples.get(name, ())
            if is_measure(sample.value)
            and sample.value >= 0
            and all(sample.labels.get(key) == value for key, value in wanted)
        )

    @property
    def servers(self) -> frozenset[str]:
        """The servers that state how many requests run: more than one where somebody put several into one answer."""
        rows = self.samples.get("num_running_reqs", ())
        return frozenset(" ".join(row.labels[key] for key in _OF_A_SERVER if key in row.labels) for row in rows)

    def by_dp(self, name: str, pp_rank: str = "0", **labels: str) -> dict[str, float]:
        """The value at each DP rank (key `""` without DP) as stage `pp_rank` states it, of its lowest TP rank."""
        chosen: dict[str, Sample] = {}
        for sample in self.series(name, **labels):
            if sample.labels.get("pp_rank", "0") != pp_rank or sample.labels.get("priority", ""):
                continue
            dp = sample.labels.get("dp_rank", "")
            if dp not in chosen or _tp(sample) < _tp(chosen[dp]):
                chosen[dp] = sample
        return {dp: sample.value for dp, sample in sorted(chosen.items())}

    def gauge(self, name: str, pp_rank: str = "0", over_dp: OverDp = "sum", **labels: str) -> float | None:
        """One number for the server as stage `pp_rank` states it; None where it is absent or no number."""
        values = self.by_dp(name, pp_rank, **labels)
        return _OVER_DP[over_dp](values.values()) if values else None

    def by_pp_rank(self, name: str, over_dp: OverDp = "mean", **labels: str) -> dict[int, float]:
        """What each stage states, side by side."""
        ranks = {sample.labels.get("pp_rank", "0") for sample in self.series(name, **labels)}
        stages = {whole_number(rank): self.gauge(name, rank, over_dp, **labels) for rank in ranks}
        known = [(stage, value) for stage, value in stages.items() if stage is not None and value is not None]
        return dict(sorted(known))


def parse_metrics(text: str) -> Scrape:
    """Read Prometheus text. A first line `# scraped_at: <ISO 8601>` gives the time. Unreadable lines are counted.

    Raises ToolError where it holds more series than any server states.
    """
    samples: dict[str, dict[frozenset[tuple[str, str]], Sample]] = {}
    at: datetime | None = None
    skipped, known = 0, 0
    for line in text.split("\n"):
        if line.startswith("#"):
            at = at or _scraped_at(line)
            continue
        if not line.strip():
            continue
        sample = _sample(line) if len(line) <= LONGEST_LINE else None
        if sample is None:
            skipped += 1
            continue
        known += 1
        if known > MOST_SERIES:
            raise ToolError(f"more than {MOST_SERIES} samples are in one scrape, which no SGLang server has")
        first = samples.setdefault(sample.name, {}).setdefault(frozenset(sample.labels.items()), sample)
        skipped += first.value != sample.value
    return Scrape({name: tuple(rows.values()) for name, rows in samples.items()}, at, skipped)


def _scraped_at(line: str) -> datetime | None:
    match = _SCRAPED_AT.match(line)
    if match is None:
        return None
    try:
        at = datetime.fromisoformat(match[1])
    except ValueError:
        return None
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


def _sample(line: str) -> Sample | None:
    match = _SAMPLE.fullmatch(line)
    if match is None or _NUMBER.fullmatch(match["value"]) is None:
        return None
    try:
        value = float(match["value"])
    except ValueError:
        return None
    labels = dict(_LABEL.findall(match["labels"] or ""))
    if "\\" in line:
        labels = {name: _ESCAPE.sub(_unescape, text) for name, text in labels.items()}
    return Sample(match["name"].removeprefix("sglang:").removeprefix("sglang_"), labels, value)


def _unescape(match: re.Match[str]) -> str:
    return "\n" if match[1] == "n" else match[1]


def _tp(sample: Sample) -> int:
    return whole_number(sample.labels.get("tp_rank", "0")) or 0


def by_time(scrapes: Sequence[Scrape]) -> list[int]:
    """The places of the scrapes in the order of their times; as they come where a time is missing."""
    times = [scrape.at for scrape in scrapes]
    known = [at for at in times if at is not None]
    places = range(len(scrapes))
    return sorted(places, key=lambda place: known[place]) if len(known) == len(times) else list(places)


def seconds_between(scrapes: Sequence[Scrape]) -> float | None:
    """From the first scrape to the last; None where a time is missing, not in order or over a day apart."""
    times = [scrape.at for scrape in scrapes]
    if len(times) < 2 or times[0] is None or times[-1] is None:
        return None
    seconds = (times[-1] - times[0]).total_seconds()
    return seconds if 0 < seconds <= _LONGEST_WINDOW_S else None


def increases(scrapes: Sequence[Scrape], name: str, **labels: str) -> tuple[Sample, ...]:
    """How much each series of a counter grew over the scrapes. A counter that falls began anew at 0 (restart, flush); a
    series seen once gives no growth. Copies are left out: other TP ranks, and the rows of one priority.

    Nothing at all where a counter fell and then stands where it stood before: two servers answer in turn, and what is
    between their counters is no growth.
    """
    seen: dict[tuple[tuple[str, str], ...], list[float]] = {}
    for scrape in scrapes:
        for sample in scrape.series(name, **labels):
            seen.setdefault(tuple(sorted(sample.labels.items())), []).append(sample.value)
    if any(_of_two_servers(values) for values in seen.values()):
        return ()
    rows = [Sample(name, dict(key), _grown(values)) for key, values in seen.items() if len(values) > 1]
    return _without_copies([row for row in rows if not row.labels.get("priority")])


def _grown(values: Sequence[float]) -> float:
    return sum((new - old if new >= old else new for old, new in pairwise(values)), 0.0)


def _of_two_servers(values: Sequence[float]) -> bool:
    fell = next((place for place, (old, new) in enumerate(pairwise(values), 1) if new < old), None)
    return fell is not None and max(values[fell:]) >= min(values[:fell]) > 0


def _without_copies(rows: list[Sample]) -> tuple[Sample, ...]:
    lowest: dict[tuple[str, str], int] = {}
    for row in rows:
        place = row.labels.get("pp_rank", "0"), row.labels.get("dp_rank", "")
        lowest[place] = min(lowest.get(place, _tp(row)), _tp(row))
    return tuple(
        row for row in rows if _tp(row) == lowest[row.labels.get("pp_rank", "0"), row.labels.get("dp_rank", "")]
    )


def rate_by_pp_rank(scrapes: Sequence[Scrape], name: str, **labels: str) -> dict[int, float]:
    """Growth a second of a counter at each stage, its other labels (category, mode, DP rank) added up. Of
    `forward_execution_seconds_total` it is the busy share of the stage (times the DP ranks)."""
    seconds = seconds_between(scrapes)
    if seconds is None:
        return {}
    rates: dict[int, float] = {}
    for row in increases(scrapes, name, **labels):
        rank = whole_number(row.labels.get("pp_rank", "0"))
        if rank is not None:
            rates[rank] = rates.get(rank, 0.0) + row.value / seconds
    return dict(sorted(rates.items()))


def rate(scrapes: Sequence[Scrape], name: str, pp_rank: str = "0", **labels: str) -> float | None:
    """Growth a second of a counter as stage `pp_rank` states it; None without two timed scrapes that hold it."""
    return rate_by_pp_rank(scrapes, name, **labels).get(int(pp_rank))


def histogram_mean(scrapes: Sequence[Scrape], name: str, pp_rank: str = "0", **labels: str) -> float | None:
    """Mean of what a histogram or summary took up from the first scrape to the last; None where it took up nothing, or
    its sum is not there."""
    count = _growth(scrapes, f"{name}_count", pp_rank, labels)
    total = _growth(scrapes, f"{name}_sum", pp_rank, labels)
    return total / count if count and total is not None else None


def _growth(scrapes: Sequence[Scrape], name: str, pp_rank: str, labels: Mapping[str, str]) -> float | None:
    values = [row.value for row in increases(scrapes, name, **labels) if row.labels.get("pp_rank", "0") == pp_rank]
    return sum(values) if values else None
