"""Benchmark results by load level, in one set of names whatever tool measured them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from ppagent.evidence.evidence import FactValue
from ppagent.evidence.kept import is_measure

FEWEST_ENDED = 10
"""Requests that have to end before their number says how many were in flight: those cut off at the ends are missing."""

_SAME = ("output_throughput", "mean_tpot_ms", "mean_itl_ms", "mean_ttft_ms", "median_ttft_ms", "median_itl_ms",
         "median_tpot_ms", "p99_itl_ms", "p99_ttft_ms", "mean_e2e_latency_ms", "accept_length",
         "completed")  # fmt: skip


@dataclass(frozen=True)
class Run:
    """One line of the results: a JSON object and its text."""

    fields: Mapping[str, object]
    line: str


def levels_of(runs: Sequence[Run]) -> list[dict[str, FactValue]]:
    """One object a level, lowest concurrency first. A level that was measured more than once is the mean of its runs;
    a run without any figure is left out."""
    groups: dict[tuple[object, ...], list[dict[str, FactValue]]] = {}
    for run in runs:
        level = _level(run.fields)
        if level is not None:
            key = tuple(level.get(name) for name in ("concurrency", "request_rate", "input_len", "output_len", "tool"))
            groups.setdefault(key, []).append(level)
    levels = [_mean(group) for group in groups.values()]
    return sorted(levels, key=lambda level: numeric(level.get("concurrency")) or 0.0)


def numeric(value: object) -> float | None:
    """The value where a measurement can have it: a finite number, none below zero."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if value >= 0 and is_measure(value) else None


def failed_requests(fields: Mapping[str, object]) -> int:
    """Requests that failed: as counted, by their error texts, or what is missing of those asked for."""
    counted = numeric(fields.get("failed"))
    if counted is not None:
        return int(counted)
    errors = fields.get("errors")
    if isinstance(errors, list):
        return sum(1 for error in errors if error)
    asked, done = numeric(fields.get("num_prompts")), numeric(fields.get("completed"))
    return max(0, int(asked - done)) if asked is not None and done is not None else 0


def _level(fields: Mapping[str, object]) -> dict[str, FactValue] | None:
    rate = numeric(fields.get("output_throughput"))
    tokens, seconds = numeric(fields.get("total_output_tokens")), numeric(fields.get("duration"))
    if rate is None and tokens is not None and seconds:
        rate = round(tokens / seconds, 3)
    level: dict[str, FactValue] = {name: value for name in _SAME if (value := numeric(fields.get(name))) is not None}
    if rate is None and not level.keys() - {"completed"}:
        return None
    if rate is not None:
        level["output_throughput"] = rate
    achieved = _achieved(fields, seconds)
    asked = numeric(fields.get("max_concurrency"))
    if asked is None and achieved is None and _rate(fields.get("request_rate")) == "inf":
        asked = numeric(fields.get("completed"))  # without a rate or a cap, all were sent at once
    rest: dict[str, FactValue] = {
        "concurrency": asked if asked is not None else (round(achieved, 2) if achieved is not None else None),
        "achieved_concurrency": achieved,
        "request_rate": _rate(fields.get("request_rate")),
        "input_len": _length(fields, "random_input_len", "total_input_tokens"),
        "output_len": _length(fields, "random_output_len", "total_output_tokens"),
        "duration_s": seconds,
        "tool": str(fields["tool"]) if fields.get("tool") else None,
        "streamed": _streamed(fields),
    }
    level.update((name, value) for name, value in rest.items() if value is not None)
    return level


def _achieved(fields: Mapping[str, object], seconds: float | None) -> float | None:
    """Requests in flight on average: as the benchmark counted them, else by Little's law over those that ended."""
    counted = numeric(fields.get("concurrency"))
    ended, each_ms = numeric(fields.get("completed")), numeric(fields.get("mean_e2e_latency_ms"))
    if counted is not None or ended is None or ended < FEWEST_ENDED or not each_ms or not seconds:
        return counted
    return round(ended * each_ms / 1000 / seconds, 3)


def _rate(value: object) -> FactValue:
    """Requests per second; `inf` stays text, since JSON has no infinity."""
    if isinstance(value, str):
        return value
    return "inf" if value == float("inf") else numeric(value)


def _length(fields: Mapping[str, object], asked: str, total: str) -> float | None:
    """Tokens of a request: as asked for at random, else the mean of those completed."""
    length = numeric(fields.get(asked))
    if length:
        return length
    tokens, done = numeric(fields.get(total)), numeric(fields.get("completed"))
    return round(tokens / done, 1) if tokens and done else None


def _streamed(fields: Mapping[str, object]) -> bool | None:
    """Whether tokens came one by one. Without streaming the first token's time is the whole request's."""
    first, whole = numeric(fields.get("mean_ttft_ms")), numeric(fields.get("mean_e2e_latency_ms"))
    if isinstance(fields.get("streamed"), bool):
        return bool(fields["streamed"])
    if first is None or not whole:
        return None
    return first < 0.98 * whole


def _mean(group: list[dict[str, FactValue]]) -> dict[str, FactValue]:
    """The runs of one level as one: numbers averaged, requests and time added up."""
    if len(group) == 1:
        return group[0]
    level: dict[str, FactValue] = dict(group[0])
    for name in _names(group):
        values = [value for run in group if (value := numeric(run.get(name))) is not None]
        if values and name not in ("concurrency", "request_rate", "input_len", "output_len"):
            level[name] = sum(values) if name in ("completed", "duration_s") else round(fmean(values), 3)
    level["runs"] = len(group)
    return level


def _names(group: Iterable[Mapping[str, FactValue]]) -> list[str]:
    return list(dict.fromkeys(name for run in group for name in run))
