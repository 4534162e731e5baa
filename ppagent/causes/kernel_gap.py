"""How far a step is from what the card's memory allows, and measured comparisons of one setting with another.

A gap says that something is slow, not what; it counts for a kernel only where a known table names that kernel too.
"""

from ppagent.causes.cards import card
from ppagent.causes.cause import Change, Remedy
from ppagent.causes.physics import architecture_of
from ppagent.causes.situation import Cites, Known, Level, levels, tensor_parallel
from ppagent.evidence.evidence import FactValue
from ppagent.evidence.facts import Facts
from ppagent.model.roofline import Roofline


def bandwidth_gap(facts: Facts) -> Known | None:
    """Measured time of a decode step over its floor at peak memory bandwidth, at the lowest measured level.

    A well served model lies between 1.5 and 6. None where decode runs without graphs, since launches then make the
    gap, and where the card, the model, the size of its weights or a level is not known.
    """
    floor = _floor(facts)
    replayed = facts.number("decode.graph_true_share")
    if floor is None or replayed is None or replayed < 0.9:
        return None
    roofline, level, cites = floor
    floor_ms = roofline.ring_ms(level.concurrency)
    says = (
        f"a step takes {level.turn_ms:.1f} ms at {level.concurrency:g} in flight, "
        f"{level.turn_ms / floor_ms:.1f} times the {floor_ms:.1f} ms that reading the weights takes"
    )
    return Known(level.turn_ms / floor_ms, cites, says)


def times_the_step(facts: Facts, more: int) -> Known | None:
    """How much longer memory bandwidth makes a decode step of `more` times as many requests, at the lowest level."""
    floor = _floor(facts)
    if floor is None:
        return None
    roofline, level, cites = floor
    times = roofline.ring_ms(more * level.concurrency) / roofline.ring_ms(level.concurrency)
    says = f"by memory bandwidth, {more * level.concurrency:g} requests would take {times:.2f} times the step of these"
    return Known(times, cites, says)


def _floor(facts: Facts) -> tuple[Roofline, Level, Cites] | None:
    """The roofline and the lowest measured level, with their evidence."""
    found, model, measured, ranks = card(facts), architecture_of(facts), levels(facts), tensor_parallel(facts)
    if found is None or model is None or not measured or ranks is None or not model.quantisation.known:
        return None
    roofline, level = Roofline(model, found[0], tp=int(ranks.value)), measured[0]
    if roofline.ring_ms(level.concurrency) <= 0:
        return None
    cites = level.cites + found[1] + facts.cite("model.num_hidden_layers")
    return roofline, level, tuple(dict.fromkeys(cites))


def measured_gain(facts: Facts, *names: str) -> Known | None:
    """The largest measured ratio after / before of a comparison that changed one of `names` (a flag, a variable, or a
    word of its description), beyond its noise."""
    best = _best(facts, names)
    if best is None:
        return None
    gain, row = best
    says = f"with {_changed(row)} the rate was measured at {gain:.2f} times the present one"
    return Known(gain, facts.cite("trial.comparisons"), says)


def measured_remedy(cause: str, facts: Facts, *names: str) -> tuple[Remedy, ...]:
    """The very change that was measured to help, as a remedy; empty where none was, or it was told in words only."""
    best = _best(facts, names)
    if best is None:
        return ()
    gain, row = best
    change = _change(row)
    if change == Change():
        return ()
    return (
        Remedy(
            cause,
            "relaunch",
            f"Keep {_changed(row)}: with it the rate was measured at {gain:.2f} times the present one",
            change,
            facts.cite("trial.comparisons"),
            risks=("it was measured once: repeat it at your own load before relying on it",),
            verify="tok/s at the same load, and the answers on a fixed set",
            rollback="the command that runs now",
        ),
    )


def _best(facts: Facts, names: tuple[str, ...]) -> tuple[float, FactValue] | None:
    gains = [(gain, row) for row in facts.items("trial.comparisons") if (gain := _gain(row, names)) is not None]
    return max(gains, key=lambda pair: pair[0], default=None)


def _changed(row: FactValue) -> str:
    """What a comparison changed, as it would be typed; its description where it is told in words only."""
    change = _change(row)
    typed = [f"{name} {value}" if name.startswith("-") else f"{name}={value}" for name, value in change.set.items()]
    typed += [f"{name}={value}" for name, value in change.env.items()]
    return ", ".join([*typed, *(f"no {flag}" for flag in change.unset)]) or _described(row)


def _change(row: FactValue) -> Change:
    """What a comparison changed. A flag that was taken away is named without its value."""
    if not isinstance(row, dict):
        return Change()
    written, env, unset = row.get("set"), row.get("env"), row.get("unset")
    return Change(
        {str(k): str(v) for k, v in written.items()} if isinstance(written, dict) else {},
        tuple(str(flag) for flag in unset) if isinstance(unset, list) else (),
        {str(k): str(v) for k, v in env.items()} if isinstance(env, dict) else {},
    )


def _gain(row: FactValue, names: tuple[str, ...]) -> float | None:
    if not isinstance(row, dict) or not any(name.lower() in _described(row).lower() for name in names):
        return None
    before, after, noise = row.get("before"), row.get("after"), row.get("noise_share")
    if not isinstance(before, int | float) or not isinstance(after, int | float) or before <= 0:
        return None
    spread = noise if isinstance(noise, int | float) else 0.03
    return after / before if after / before > 1 + spread else None


def _described(row: FactValue) -> str:
    if not isinstance(row, dict):
        return ""
    words = [str(row.get("what") or "")]
    for key in ("set", "env"):
        part = row.get(key)
        words += [f"{name}={value}" for name, value in part.items()] if isinstance(part, dict) else []
    unset = row.get("unset")
    words += [f"without {name}" for name in unset] if isinstance(unset, list) else []
    return " ".join(word for word in words if word)
