"""What was measured or tried just now, in a few lines."""

from collections.abc import Iterable, Mapping, Sequence

from ppagent.chat.wording import tagged
from ppagent.evidence.evidence import Evidence, FactValue
from ppagent.report.lines import Line, wrapped


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
    """The comparison made last, whether it beats the noise, and what became of the server."""
    rows = list(_rows(evidence, "trial.comparisons"))
    if not rows:
        return []
    row = rows[-1]
    before, after, noise = row.get("before"), row.get("after"), row.get("noise_share")
    gain = ""
    if isinstance(before, int | float) and isinstance(after, int | float) and before:
        known = f" (noise {noise:.1%})" if isinstance(noise, int | float) else ""
        gain = f", {after / before - 1:+.0%}{known}"
    says = f"{row.get('outcome', 'measured')}: {_number(row, 'before')}, then {_number(row, 'after')} tok/s{gain}"
    lines = wrapped(tagged(says, [item.id for item in evidence]), width, tone="verdict")
    if isinstance(row.get("forecast_low"), int | float):
        lines += wrapped(f"{_number(row, 'forecast_low')}-{_number(row, 'forecast_high')} tok/s", width, "  forecast  ")
    lines += wrapped(str(row.get("outputs") or "not compared"), width, "  answers   ")
    return lines + wrapped(_became(evidence), width, "  server    ")


def _became(evidence: Sequence[Evidence]) -> str:
    facts: Mapping[str, FactValue] = {name: value for item in evidence for name, value in item.facts.items()}
    if facts.get("trial.kept") is True:
        return "it runs with the new launch"
    if facts.get("trial.kept") is False or facts.get("trial.restored") is True:
        return "as it was before, read back"
    return "NOT put back: ppagent try TARGET --restore"


def _rows(evidence: Iterable[Evidence], name: str) -> Iterable[Mapping[str, FactValue]]:
    for item in evidence:
        value = item.facts.get(name)
        yield from (row for row in (value if isinstance(value, list) else ()) if isinstance(row, dict))


def _number(row: Mapping[str, FactValue], name: str) -> str:
    value = row.get(name)
    return f"{value:.4g}" if isinstance(value, int | float) else "?"
