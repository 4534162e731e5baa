"""The run as text and Markdown."""

from collections.abc import Sequence

from ppagent_evals.results import Summary, reliability
from ppagent_evals.runner import CaseResult

WIDEST = 100
COLUMNS = ("brain", "passed", "verdict", "causes", "ruled", "fix", "harm", "grounding", "forecast", "calls", "s/case")


def _cells(summary: Summary) -> tuple[str, ...]:
    def share(value: float | None) -> str:
        return "-" if value is None else f"{value:.2f}"

    return (
        summary.brain,
        share(summary.passed) + (f" ±{summary.spread:.2f}" if summary.repeats > 1 else ""),
        share(summary.verdict),
        share(summary.causes),
        share(summary.ruled_out),
        share(summary.fix),
        str(summary.harm),
        share(summary.grounding),
        share(summary.forecast),
        f"{summary.calls:.0f}",
        f"{summary.seconds:.2f}",
    )


def origin_line(summary: Summary) -> str:
    """What the scores rest on."""
    cases = "1 incident" if summary.cases == 1 else f"{summary.cases} incidents"
    return (
        f"{cases}: {summary.measured} measured (a real SGLang, device emulated), "
        f"{summary.reconstructed} reconstructed from reports, {summary.synthetic} synthetic."
    )


def cost_lines(summaries: Sequence[Summary]) -> str:
    """What a model's brains spent, one line a brain that asked one."""
    return "\n".join(_cost_line(summary) for summary in summaries if summary.tokens)


def _cost_line(summary: Summary) -> str:
    runs = "1 run" if summary.repeats == 1 else f"{summary.repeats} runs"
    return f"{summary.brain}: {summary.tokens:,.0f} tokens a case, {summary.usd:.2f} USD in all, {runs}"


def as_text(summaries: Sequence[Summary], width: int = WIDEST) -> str:
    """A row a brain; a column a brain where the row is wider than `width`."""
    rows = [COLUMNS, *(_cells(summary) for summary in summaries)]
    upright = (_aligned(rows, gap) for gap in ("  ", " "))
    fitting = (table for table in upright if max(map(len, table.split("\n"))) <= width)
    return next(fitting, _aligned(list(zip(*rows, strict=True)), "  "))


def _aligned(rows: Sequence[tuple[str, ...]], gap: str) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [gap.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join(lines)


def as_markdown(summaries: Sequence[Summary]) -> str:
    rows = [COLUMNS, ("---",) * len(COLUMNS), *(_cells(summary) for summary in summaries)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def failures(results: Sequence[CaseResult]) -> str:
    """What each failed case got wrong, one line a fault."""
    lines = []
    for result in sorted(results, key=lambda r: r.id):
        if not result.passed:
            lines.append(f"{result.id}: {'; '.join(_faults(result))}")
    return "\n".join(lines)


def _faults(result: CaseResult) -> list[str]:
    score = result.score
    if score is None:
        return [result.error]
    faults = [] if score.verdict else [f"verdict {result.verdict}"]
    if score.recall < 1:
        faults.append(f"misses a cause (supported: {', '.join(result.supported) or 'none'})")
    faults += [f"wrong cause {cause}" for cause in score.wrong_causes if cause not in score.forbidden_causes]
    faults += [f"forbidden cause {cause}" for cause in score.forbidden_causes]
    faults += ["no accepted fix"] if score.fix is False else []
    faults += [f"harm: {harm}" for harm in score.harm]
    faults += [f"grounding {score.grounding:.2f}"] if score.grounding < 1 else []
    return faults


def reliability_text(results: Sequence[CaseResult]) -> str:
    """Of the hypotheses told with some confidence, how many held."""
    rows = reliability(results)
    lines = ["confidence     hypotheses  mean  held"]
    lines += [f"{low:.2f} to {high:.2f}  {count:>10}  {mean:.2f}  {held:.2f}" for low, high, count, mean, held in rows]
    return "\n".join(lines)
