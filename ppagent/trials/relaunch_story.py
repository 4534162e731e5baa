"""What a relaunch says before and after: the whole diff to agree to, and the result."""

from ppagent.evidence.masking import mask
from ppagent.trials.launches import NewLaunch
from ppagent.trials.proposals import Proposed
from ppagent.trials.relaunch import Keep, RelaunchOutcome
from ppagent.trials.way import Way

_KEPT: dict[Keep, str] = {
    "better": "the new launch is kept if it is measurably better, else the old one is started again",
    "always": "the new launch is kept if it comes up",
    "never": "the old launch is started again in the end, whatever was measured",
}


DOES = "restarts the server with another launch command"
"""What a relaunch (grade 5) does to the server, in words."""


def relaunch_plan(launch: NewLaunch, server: str, proposed: Proposed, keep: Keep, seconds: float, way: Way) -> str:
    """What will be done, with every changed word; or what to do by hand."""
    forecast = proposed.predicted
    foreseen = (
        f"{forecast.low:.4g}-{forecast.high:.4g} tok/s at C={forecast.at_concurrency} (was {forecast.baseline:.4g})"
        if forecast is not None
        else f"none{f', since {mask(proposed.unpredicted)}' if proposed.unpredicted else ''}"
    )
    lines = [
        f"A relaunch of {server} ({proposed.id}: {' '.join(proposed.causes) or 'no cause named'}): it {DOES} (grade 5)",
        "",
        *(f"  {line}" for line in launch.diff.splitlines()),
        "",
        f"  the new command: {launch.new}",
        "",
        f"  forecast   {foreseen}",
        *(f"  risk       {risk}" for risk in proposed.risks),
    ]
    if way.reason:
        return "\n".join((*lines, "", "  by hand:", *(f"    {mask(line)}" for line in way.lines)))
    lines += [
        f"  does       measures for {seconds:.0f} s first, then:",
        *(f"             {mask(line)}" for line in way.lines),
        "             watches the log until it is ready or has failed, and measures again",
        f"  afterwards {_KEPT[keep]}",
        "  way back   as above; whatever becomes of ppagent, the next run finds a note of it",
    ]
    return "\n".join(lines)


def relaunch_result(proposed: Proposed, outcome: RelaunchOutcome) -> str:
    """The result in a few lines."""
    if outcome.failure:
        return "\n".join(
            (
                f"FAILED  {proposed.id}: {mask(outcome.failure)}",
                f"  server     the old launch serves again; {outcome.seconds:.0f} s in all",
                *(f"  ! {remark}" for remark in outcome.remarks),
            )
        )
    comparison = outcome.comparison
    if comparison is None:
        raise AssertionError("a server that came up was measured")
    figures = "  ".join(f"{phase.label} {phase.tokens_per_s:.4g}" for phase in outcome.phases)
    state = "the new launch is kept" if outcome.kept else "the old launch serves again"
    lines = [
        f"{comparison.outcome.upper()}  {proposed.id}: {comparison.why}",
        f"  measured   {figures} tok/s (before and after a restart, so a drift between them cannot be seen)",
        f"  forecast   {_forecast(proposed, comparison.after)}",
        f"  answers    {outcome.outputs_note}",
        f"  server     {state}; it was ready after {outcome.start_s or 0:.0f} s; {outcome.seconds:.0f} s in all",
    ]
    return "\n".join(lines + [f"  ! {remark}" for remark in outcome.remarks])


def relaunch_data(server: str, launch: NewLaunch, proposed: Proposed, outcome: RelaunchOutcome) -> dict[str, object]:
    """The result as a JSON document."""
    comparison, change = outcome.comparison, proposed.change
    return {
        "schema_version": 1,
        "kind": "relaunch",
        "server": server,
        "proposal": proposed.id,
        "causes": list(proposed.causes),
        "change": {"set": dict(change.set), "unset": list(change.unset), "env": dict(change.env)},
        "command": launch.new,
        "diff": launch.diff,
        "outcome": comparison.outcome if comparison is not None else "failed",
        "failure": mask(outcome.failure),
        "before": round(comparison.before, 3) if comparison is not None else None,
        "after": round(comparison.after, 3) if comparison is not None else None,
        "noise_share": round(comparison.noise_share, 4) if comparison is not None else None,
        "why": comparison.why if comparison is not None else "",
        "predicted": proposed.predicted.predicted() if proposed.predicted is not None else None,
        "outputs": outcome.outputs,
        "kept": outcome.kept,
        "start_s": outcome.start_s,
        "seconds": round(outcome.seconds, 1),
        "remarks": list(outcome.remarks),
    }


def _forecast(proposed: Proposed, measured: float) -> str:
    forecast = proposed.predicted
    if forecast is None:
        return "none"
    inside = "inside it" if forecast.low <= measured <= forecast.high else f"{measured / forecast.middle - 1:+.0%} off"
    span = f"{forecast.low:.4g}-{forecast.high:.4g} tok/s at C={forecast.at_concurrency}"
    return f"{span}; measured {measured:.4g}, {inside}"
