"""What was measured in a session as lines of a recording: load levels, and trials of other settings."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from ppagent.evidence.evidence import Evidence, FactValue
from ppagent.record.folder import Folder
from ppagent.record.masking import masked
from ppagent.record.outcome import Outcome
from ppagent.targets.target import Shared

MEASURES = "bench.run"
TRIES = ("tune.set_limit", "tune.relaunch")
BENCH, TRY = "ppagent bench", "ppagent try"
"""What the lines say they are of."""
_BENCH_NAMES = {
    "concurrency": "max_concurrency",
    "achieved_concurrency": "concurrency",
    "input_len": "random_input_len",
    "output_len": "random_output_len",
    "duration_s": "duration",
}
"""Facts of a level, and what bench_serving calls them."""

Row = dict[str, Any]


def with_measures(evidence: Sequence[Evidence], folder: Folder, outcome: Outcome) -> None:
    """Puts the levels and trials behind those that the recording holds already. Raises CannotWrite."""
    levels, trials = levels_in(evidence), trials_in(evidence)
    known = {row["max_concurrency"] for row in levels if "max_concurrency" in row}
    twins = [trial["twin"] for trial in trials if trial["twin"]["max_concurrency"] not in known]
    _append(folder, outcome, Shared.BENCH.value, [*levels, *twins])
    _append(folder, outcome, Shared.RELAUNCHES.value, [trial["row"] for trial in trials])


def levels_in(evidence: Iterable[Evidence]) -> list[Row]:
    """Levels that the session measured, in the names of bench_serving."""
    rows = (row for item in evidence if item.tool == MEASURES for row in _rows(item, "bench.levels"))
    return [{"tool": BENCH, **{_BENCH_NAMES.get(key, key): value for key, value in row.items()}} for row in rows]


def trials_in(evidence: Iterable[Evidence]) -> list[Row]:
    """Each trial at a known load: its line of relaunches.jsonl (`row`), and the result under the settings as they are
    (`twin`), which a reader compares it with. The newest evidence of a trial holds those before it."""
    last = [item for item in evidence if item.tool in TRIES][-1:]
    rows = [row for item in last for row in _rows(item, "trial.comparisons") if row.get("concurrency")]
    return [_trial(row, live="old" in row) for row in rows]


def _trial(row: dict[str, FactValue], *, live: bool) -> Row:
    load = {"max_concurrency": row["concurrency"]}
    change = {"set": row.get("set", {}), "unset": row.get("unset", []), "env": row.get("env", {}), "live": live}
    after = load | {"output_throughput": row.get("after"), "tool": TRY}
    before = load | {"output_throughput": row.get("before"), "tool": TRY}
    return {"row": {"change": change, "bench": after, "origin": "measured"}, "twin": before}


def _append(folder: Folder, outcome: Outcome, name: str, rows: Sequence[Row]) -> None:
    if not rows:
        return
    path = folder.root / name
    held = path.read_text(encoding="utf-8", errors="surrogateescape").rstrip("\n") if path.is_file() else ""
    text = "\n".join(filter(None, [held, *(json.dumps(row, ensure_ascii=False) for row in rows)]))
    outcome.add("", name, folder.write(name, masked(name, f"{text}\n")))


def _rows(item: Evidence, name: str) -> list[dict[str, FactValue]]:
    rows = item.facts.get(name)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
