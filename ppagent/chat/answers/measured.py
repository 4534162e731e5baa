"""What was measured or tried just now, in a few lines."""

from collections.abc import Iterable, Mapping, Sequence

from ppagent.chat.wording import tagged
from ppagent.evidence.evidence import Evidence, FactValue
from ppagent.report.lines import Line, wrapped

CANNOT_TELL = "cannot tell"


def level_lines(evidence: Sequence[Evidence], width: int) -> list[Line]:
    """Measured load levels, a line each."""
    lines: list[Line] = []
    for row in _rows(evidence, "bench.levels"):
        parts = [f"C={_number(row, 'concurrency')}: {_number(row, 'output_throughput')} tok/s"]
        for name, label in (("mean_itl_ms", "between tokens"), ("mean_ttft_ms", "to the first")):
            if isinstance(row.get(name), int | float):
                parts.append(f"{_number(row, name)} ms {label}")
        lines += wrapped(", ".join(parts), width, "  ")
    return [*lines, Line(f"  taken in as {' '.join(item.id for item in evidence)}", "dim")]


def trial_lines(evidence: Sequence[Evidence], width: int) -> list[Line]:
    """The comparison made last, how sure it is, whether it hit the forecast, and what became of the server."""
    row = newest_trial(evidence)
    if not row:
        return []
    unit = str(row.get("unit") or "tok/s")
    says = (
        f"{row.get('outcome', 'measured')}: {_number(row, 'before')}, then {_number(row, 'after')} {unit}{_gain(row)}"
    )
    lines = wrapped(tagged(says, [item.id for item in evidence]), width, tone="verdict")
    if row.get("outcome") == CANNOT_TELL and isinstance(row.get("why"), str):
        lines += wrapped(str(row["why"]), width, "  because   ")
    forecast = _forecast(row, unit)
    lines += wrapped(forecast, width, "  forecast  ") if forecast else []
    lines += wrapped(str(row.get("outputs") or "not compared"), width, "  answers   ")
    return lines + wrapped(_became(evidence, row), width, "  server    ")


def newest_trial(evidence: Sequence[Evidence]) -> Mapping[str, FactValue]:
    """The comparison made last; empty where there is none."""
    return next(reversed(list(_rows(evidence, "trial.comparisons"))), {})


def _gain(row: Mapping[str, FactValue]) -> str:
    """The gain with its interval; with the noise where a row has no interval."""
    before, after, noise = (row.get(name) for name in ("before", "after", "noise_share"))
    low, high = row.get("gain_low_share"), row.get("gain_high_share")
    if not isinstance(before, int | float) or not isinstance(after, int | float) or not before:
        return ""
    sure = f" (noise {noise:.1%})" if isinstance(noise, int | float) else ""
    if isinstance(low, int | float) and isinstance(high, int | float):
        sure = f", between {low:+.0%} and {high:+.0%} with 95 % confidence"
    return f", {after / before - 1:+.0%}{sure}"


def _forecast(row: Mapping[str, FactValue], unit: str) -> str:
    """The forecast and whether what was measured lies in it; empty where none was made for that load."""
    low, high, after = (row.get(name) for name in ("forecast_low", "forecast_high", "after"))
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return ""
    hit = ""
    if unit == "tok/s" and isinstance(after, int | float):
        hit = ": inside it" if low <= after <= high else f": {'above' if after > high else 'below'} it"
    return f"{low:.4g}-{high:.4g} tok/s{hit}"


def _became(evidence: Sequence[Evidence], row: Mapping[str, FactValue]) -> str:
    facts: Mapping[str, FactValue] = {name: value for item in evidence for name, value in item.facts.items()}
    if facts.get("trial.kept") is True:
        return "it runs with the new launch"
    if facts.get("trial.kept") is False or facts.get("trial.restored") is True:
        old, flags = row.get("old"), row.get("set")
        names = [name.lstrip("-").replace("-", "_") for name in flags] if isinstance(flags, dict) else []
        back = f"{' '.join(names)} is back at {old}" if isinstance(old, int) and names else "as it was before"
        return f"{back}, read back"
    return "NOT put back: ppagent try TARGET --restore"


def _rows(evidence: Iterable[Evidence], name: str) -> Iterable[Mapping[str, FactValue]]:
    for item in evidence:
        value = item.facts.get(name)
        yield from (row for row in (value if isinstance(value, list) else ()) if isinstance(row, dict))


def _number(row: Mapping[str, FactValue], name: str) -> str:
    value = row.get(name)
    return f"{value:.4g}" if isinstance(value, int | float) else "?"
