"""What the same deployment gave under other settings: measured comparisons, for causes that only an A/B can prove.

No forecast is made from them: a forecast has to stand on what was measured under the present settings.
"""

from collections.abc import Mapping, Sequence

from pydantic import BaseModel

from ppagent.errors import NotRecorded
from ppagent.evidence.evidence import FactValue, Finding
from ppagent.plugins import Grade, NoArguments, ToolContext
from ppagent.targets.target import Shared
from ppagent_tools.bench_levels import Run, numeric
from ppagent_tools.bench_rows import read_rows
from ppagent_tools.reading import Document

RATES = ("output_throughput", "input_throughput")
SAME_LOAD = ("max_concurrency", "request_rate", "random_input_len", "random_output_len")
ONLY_PREFILL = 8
"""Answers of at most this many tokens say nothing of decoding: such runs are compared by their input tok/s."""


class Trials:
    name = "bench.trials"
    summary = (
        "Measured results of the same deployment under other settings, each against the result under the present ones "
        "at the same load. Simulated results are left out."
    )
    grade = Grade.READ_FILE
    provides: tuple[str, ...] = ("trial.comparisons",)
    arguments: type[BaseModel] = NoArguments

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        trials = Document(context.target.shared(Shared.RELAUNCHES), Shared.RELAUNCHES.value)
        now, _ = read_rows(Document(context.target.shared(Shared.BENCH), Shared.BENCH.value))
        tried, _ = read_rows(trials)
        compared = [(run, row) for run in tried if (row := _comparison(run, now)) is not None]
        if not compared:
            raise NotRecorded(f"{trials.artifact} holds no measured counterpart of a result under the present settings")
        rows: list[FactValue] = [row for _, row in compared]
        return [trials.finding({"trial.comparisons": rows}, compared[0][0].line, authority=2)]


def _comparison(run: Run, now: Sequence[Run]) -> dict[str, FactValue] | None:
    """A trial beside the present result at the same load; None where it was not measured or has no counterpart."""
    change, bench = run.fields.get("change"), run.fields.get("bench")
    if run.fields.get("origin") != "measured" or not isinstance(change, dict) or not isinstance(bench, dict):
        return None
    rate = _rate(bench)
    twin = next((each.fields for each in now if _same_load(each.fields, bench)), None)
    before = numeric(twin.get(rate)) if twin is not None else None
    after = numeric(bench.get(rate))
    if not before or not after:
        return None
    parts: dict[str, FactValue] = {key: change[key] for key in ("set", "unset", "env") if change.get(key)}
    return {**parts, "before": before, "after": after, "what": f"{rate} at the same load"}


def _rate(bench: Mapping[str, object]) -> str:
    answers = numeric(bench.get("random_output_len"))
    return RATES[1] if answers is not None and answers <= ONLY_PREFILL else RATES[0]


def _same_load(one: Mapping[str, object], other: Mapping[str, object]) -> bool:
    """Whether every load field that both name is the same."""
    return all(one[key] == other[key] for key in SAME_LOAD if key in one and key in other)
