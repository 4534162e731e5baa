"""A live experiment step by step: the old setting, then new and old in turn until the difference can be told."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ppagent.trials.change import LiveChange
from ppagent.trials.noise import Comparison, Sample, compare
from ppagent.trials.observed import samples
from ppagent.trials.outputs import OutputCheck
from ppagent.trials.own_load import OwnLoad
from ppagent.trials.phase import Meter, Phase

Say = Callable[[str], None]
ROUNDS = 4
"""At most, where nothing else is asked for. A round is the new setting and the old one again."""
LASTS_FROM = 0.1
"""Log of the two measurements of the old setting over each other from which what lies between is told."""
HOPELESS = 3
"""It is given up where more than so many times the rounds that are left would be needed."""


@dataclass
class Rounds:
    """Where the experiment stands."""

    change: LiveChange
    meter: Meter
    seconds: float
    """Of one measurement."""
    check: OutputCheck | None
    say: Say
    phases: list[Phase] = field(default_factory=list)
    round_s: float = 0.0
    """How long a round takes, settling included."""

    def first(self) -> Phase:
        """The old setting, and its answers twice."""
        return self._phase("A", self.change.state.value, ("A", "A twice"))

    def go(self, most: int, margin: float) -> Comparison:
        """New and old in turn until the difference is told, `most` times at the most; the last comparison."""
        begin = time.monotonic()
        for place in range(1, most + 1):
            self._round(place)
            self.round_s = (time.monotonic() - begin) / place
            comparable, _ = comparable_samples(self.meter, self.phases)
            found = compare(comparable[::2], comparable[1::2], looks=most, margin=margin)
            if any(phase.unsettled for phase in self.phases):
                return unsettled(found, self.phases)
            if found.outcome != "cannot tell" or _hopeless(found, place, most):
                return found
            if place < most:
                needed = f"; {would_decide(found.rounds_more, self.round_s)}" if place > 1 else ""
                self.say(f"cannot tell yet: {found.why}{needed}")
        return found

    def _round(self, place: int) -> None:
        change, key = self.change, self.change.state.key
        first = place == 1
        self.meter.note_change()
        change.make()
        self.say(f"{key} is {change.new} now, read back")
        self._phase("B" if first else f"B {place}", change.new, ("B",) if first else ())
        self.meter.note_change()
        change.take_back()
        self.say(f"{key} is back at {change.state.value}, read back")
        self._phase("A again" if first else f"A {place + 1}", change.state.value, ("A again",) if first else ())

    def _phase(self, label: str, value: int, answers: Sequence[str]) -> Phase:
        """Settles, asks for the answers to compare meanwhile, and measures."""
        self.say(f"{label}: {self.change.state.key} {value}, waiting for requests to turn over")
        if self.check is not None:
            for name in answers:
                self.check.ask(name)
        settled = self.meter.settle()
        self.say(f"{label}: settled ({settled}), measuring for {self.seconds:.0f} s")
        phase = self.meter.measure(label, self.seconds)
        self.phases.append(phase)
        self.say(f"{label}: {phase.tokens_per_s:.4g} tok/s")
        return phase


def comparable_samples(meter: Meter, phases: Sequence[Phase]) -> tuple[list[Sample], str]:
    """What to compare, one sample a phase, and its unit."""
    if isinstance(meter, OwnLoad):
        return [phase.sample for phase in phases], "tok/s"
    return samples(phases)


def unsettled(found: Comparison, phases: Sequence[Phase]) -> Comparison:
    """A comparison where requests had not been replaced: a difference is one all the same, and rather too small; that
    there is none cannot be said, and further rounds as short would not change that."""
    left = next(phase for phase in phases if phase.unsettled)
    outcome = "cannot tell" if found.outcome == "no difference" else found.outcome
    why = (
        f"{found.why}; but before {left.label} requests had not turned over ({left.unsettled}), and one that runs "
        "keeps the setting that it began under"
    )
    return replace(found, outcome=outcome, why=why, rounds_more=None, more=None)


def lasting(compared: tuple[Sequence[Sample], str]) -> tuple[str, ...]:
    """A remark where the old setting, put back, is far from what it was and nearer to the new one: with its figures, as
    a mean of the two would say little."""
    values, unit = [sample.value for sample in compared[0]], compared[1]
    first, new, again = values[0], values[1], values[-1]
    apart = abs(math.log(again / first))
    if len(values) < 3 or apart < LASTS_FROM or abs(math.log(again / new)) > apart:
        return ()
    return (
        f"the old setting gave {first:.4g} {unit} before the change and {again:.4g} once it was back, nearer to the "
        f"new one's {new:.4g}: requests that the change spread over slots stay spread for a while, or the load moved. "
        f"Against the first the new one gave {new / first - 1:+.0%}",
    )


def would_decide(rounds: int | None, round_s: float) -> str:
    """What it would take to tell, in words."""
    if rounds is None:
        return "no number of rounds like these would decide"
    return f"about {rounds} more {'round' if rounds == 1 else 'rounds'} ({rounds * round_s:.0f} s) would decide"


def _hopeless(found: Comparison, place: int, most: int) -> bool:
    """Whether going on would be of no use; after two rounds too little is known to say so."""
    return 2 < place < most and (found.rounds_more is None or found.rounds_more > HOPELESS * (most - place))
