"""Benchmark results: what clients got at each load level."""

from collections.abc import Sequence

from pydantic import BaseModel

from ppagent.evidence.evidence import FactValue, Finding
from ppagent.plugins import Grade, NoArguments, Tool, ToolContext
from ppagent.targets.target import Shared
from ppagent_tools.bench_levels import Run, failed_requests, levels_of, numeric
from ppagent_tools.bench_rows import read_rows
from ppagent_tools.bench_trials import Trials
from ppagent_tools.reading import Document, around, clusters, json_spans

_QUOTED = ("max_concurrency", "request_rate", "output_throughput", "mean_itl_ms", "mean_tpot_ms", "mean_ttft_ms")


class Results:
    name = "bench.results"
    summary = (
        "Recorded benchmark results, one level of load each: concurrency asked for and achieved, output tok/s, time to "
        "the first and between further tokens, lengths of input and output, requests that failed."
    )
    grade = Grade.READ_FILE
    provides: tuple[str, ...] = ("bench.",)
    arguments: type[BaseModel] = NoArguments

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        found = Document(context.target.shared(Shared.BENCH), Shared.BENCH.value)
        if not found.text.strip():
            raise found.error("the file is empty")
        return _findings(found)


def tools() -> tuple[Tool, ...]:
    return (Results(), Trials())


def _findings(found: Document) -> list[Finding]:
    runs, unread = read_rows(found)
    levels = levels_of(runs)
    if not levels:
        raise found.error("no result names a figure")
    facts: dict[str, FactValue] = {
        "bench.levels": list(levels),
        "bench.failed": sum(failed_requests(run.fields) for run in runs),
    }
    rates = [rate for level in levels if (rate := numeric(level.get("output_throughput"))) is not None]
    if rates:
        facts["bench.best_throughput"] = max(rates)
    known = [level["concurrency"] for level in levels if level.get("concurrency") is not None]
    if known:
        facts["bench.top_concurrency"] = max(known, key=lambda value: numeric(value) or 0.0)
    names: list[FactValue] = list(dict.fromkeys(str(n) for run in runs if (n := run.fields.get("dataset_name"))))
    if names:
        facts["bench.dataset"] = names
    if unread:
        facts["bench.unread"] = unread
    top = max(runs, key=lambda run: numeric(run.fields.get("output_throughput")) or 0.0)
    return [found.finding(facts, _excerpt(top), authority=2)]


def _excerpt(run: Run) -> str:
    """The part of the line with the figures that count."""
    pasted = run.fields.get("pasted")
    if isinstance(pasted, str):
        return pasted
    pieces = clusters(run.line, json_spans(run.line, _QUOTED))
    return pieces[0][0] if len(run.line) > 400 and pieces else around(run.line, 0)
