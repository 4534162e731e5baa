"""What a trial says before and after: the plan to agree to, and the result."""

from collections.abc import Mapping

from ppagent.trials.facts import causes_of, flag_of
from ppagent.trials.limit import LimitState
from ppagent.trials.live import Outcome
from ppagent.trials.next_run import LEVEL_SHARE, in_words, next_run, next_words
from ppagent.trials.noise import MATTERS
from ppagent.trials.rounds import ROUNDS

DOES = "changes a setting of the running server and puts it back"
"""What a live trial (grade 3) does to the server, in words."""


def live_plan(
    server: str,
    state: LimitState,
    new: int,
    traffic: str,
    *,
    seconds: float,
    levels: tuple[int, ...],
    rounds: int = ROUNDS,
    margin: float = MATTERS,
) -> str:
    """What will be done, where, at which grade, for how long and with what effect."""
    lower = new < state.value
    room = new * state.stages
    effect = (
        f"running requests stay where they are; above {room} at a time they wait in the queue meanwhile"
        if lower
        else "requests may gather in fewer slots"
    )
    before = f"load levels C = {', '.join(map(str, levels))} for a forecast, then " if levels else ""
    return "\n".join(
        (
            f"A live trial on {server} (SGLang {state.version or 'of unknown version'}, PP{state.stages}): it {DOES} "
            "(grade 3)",
            f"  changes    {state.key}: {state.value} -> {new} -> {state.value}, through POST /set_internal_state",
            f"  measures   {before}{state.value}, {new}, {state.value} again, {seconds:.0f} s each once requests "
            "have turned over" + (f", up to {rounds} times" if rounds > 1 else ""),
            f"  decides    whether a difference of {margin:.0%} or more can be told from none, with 95 % confidence",
            f"  traffic    {traffic}",
            f"  takes      {_takes(about_s(seconds, len(levels), 1), about_s(seconds, len(levels), rounds))}",
            f"  effect     {effect}; memory and answers stay the same",
            "  way back   the old value is put back and read back whatever happens; a note of it is written first, so "
            "that the next run can do it after a crash",
        )
    )


def about_s(seconds: float, levels: int, rounds: int) -> float:
    """How long a trial takes: a guess, since requests take about as long to turn over as a measurement does."""
    return (1 + 2 * rounds) * 2 * seconds + levels * 2 * LEVEL_SHARE * seconds + 5


def _takes(least_s: float, most_s: float) -> str:
    more = f", {in_words(most_s)} at the most where noise hides the answer" if most_s > least_s else ""
    return f"about {in_words(least_s)}{more}"


def live_result(outcome: Outcome, levels: int = 0) -> str:
    """The result in a few lines. `levels` were measured for a forecast first."""
    comparison = outcome.comparison
    figures = "  ".join(f"{phase.label} {phase.tokens_per_s:.4g}" for phase in outcome.phases)
    lines = [
        f"{comparison.outcome.upper()}  {outcome.key} {outcome.old} -> {outcome.new}: {comparison.why}",
        f"  measured   {figures} tok/s"
        + (f"; compared as {outcome.unit}" if outcome.unit != "tok/s" else "")
        + _itls(outcome),
        f"  forecast   {_forecast(outcome)}",
        f"  answers    {outcome.outputs_note}",
    ]
    if outcome.in_flight_at_change:
        whole = outcome.in_flight_at_change - outcome.lost
        was = "was" if whole == 1 else "were"
        lines.append(
            f"  in flight  {whole} of the {outcome.in_flight_at_change} in flight at the changes {was} answered whole"
        )
    lines.append(f"  server     {outcome.key} is back at {outcome.old}, read back; {outcome.seconds:.0f} s in all")
    if comparison.outcome == "cannot tell" and (then := next_words(outcome, levels)):
        lines.append(f"  next       {then}")
    lines += [f"  ! {remark}" for remark in outcome.remarks]
    return "\n".join(lines)


def as_data(server: str, outcome: Outcome, levels: int = 0) -> dict[str, object]:
    """The result as a JSON document. `levels` were measured for a forecast first."""
    comparison, forecast, then = outcome.comparison, outcome.forecast, next_run(outcome, levels)
    return {
        "schema_version": 1,
        "kind": "live",
        "server": server,
        "change": {"set": {flag_of(outcome.key): str(outcome.new)}, "unset": [], "env": {}},
        "old": outcome.old,
        "causes": list(causes_of(outcome)),
        "traffic": outcome.traffic,
        "outcome": comparison.outcome,
        "before": round(comparison.before, 3),
        "after": round(comparison.after, 3),
        "unit": outcome.unit,
        "gain_share": round(comparison.gain_share, 4),
        "noise_share": round(comparison.noise_share, 4),
        "gain_low_share": round(comparison.low_share, 4),
        "gain_high_share": round(comparison.high_share, 4),
        "rounds": outcome.rounds,
        "rounds_more": comparison.rounds_more,
        "next": {"options": then.options, "most_s": round(then.most_s)} if then is not None else None,
        "why": comparison.why,
        "predicted": forecast.predicted() if forecast is not None else None,
        "outputs": outcome.outputs,
        "in_flight_at_change": outcome.in_flight_at_change,
        "lost": outcome.lost,
        "restored": outcome.restored,
        "phases": [_phase_data(outcome, n) for n in range(len(outcome.phases))],
        "seconds": round(outcome.seconds, 1),
        "remarks": list(outcome.remarks),
    }


def _phase_data(outcome: Outcome, place: int) -> Mapping[str, object]:
    phase = outcome.phases[place]
    return {
        "label": phase.label,
        "value": outcome.new if place % 2 else outcome.old,
        "tokens_per_s": round(phase.tokens_per_s, 3),
        "error_share": phase.error_share,
        "seconds": round(phase.seconds, 2),
        "in_flight": phase.in_flight,
        "mean_itl_ms": phase.itl_ms,
        "median_ttft_ms": phase.ttft_ms,
        "completed": phase.completed,
        "failed": phase.failed,
        "slot_running": phase.slot_running,
        "unsettled": phase.unsettled,
    }


def _itls(outcome: Outcome) -> str:
    known = [f"{phase.itl_ms:.4g}" for phase in outcome.phases if phase.itl_ms is not None]
    return f"; ITL {' / '.join(known)} ms" if len(known) == len(outcome.phases) else ""


def _forecast(outcome: Outcome) -> str:
    forecast = outcome.forecast
    if forecast is None:
        return f"none: {outcome.forecast_note}"
    if outcome.unit != "tok/s":
        return (
            f"{forecast.low:.4g}-{forecast.high:.4g} tok/s, which the {outcome.unit} that was compared says nothing of"
        )
    inside = forecast.low <= outcome.comparison.after <= forecast.high
    miss = outcome.comparison.after / forecast.middle - 1
    hit = "inside it" if inside else f"{miss:+.0%} from its middle"
    return f"{forecast.low:.4g}-{forecast.high:.4g} tok/s; measured {outcome.comparison.after:.4g}, {hit}"
