"""Predictions in terms of facts: the model says what a fact must be, code looks it up."""

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from ppagent.agent.contribution import Outcome, Prediction
from ppagent.causes.cause import Observation
from ppagent.causes.judge import State, posterior
from ppagent.evidence.evidence import FactValue
from ppagent.evidence.facts import Fact, Facts
from ppagent.evidence.vocabulary import VOCABULARY, known

Comparison = Literal["<", "<=", "==", "!=", ">=", ">", "contains"]

PRIOR = 0.05
"""Of a cause outside the closed list, before anything is looked at."""
HOLDS = (0.8, 0.5)
FAILS = (0.1, 0.5)
"""How likely a prediction is to hold and to fail where the hypothesis is true and where it is not. How telling a
model's prediction is, nobody has measured; these are weak on purpose."""
CONFIDENCE_LIMIT = 0.5
"""A hypothesis that nobody has tried is never more likely than not."""


@dataclass(frozen=True)
class Expectation:
    """`fact` `comparison` `value`, as the model stated it."""

    fact: str
    comparison: Comparison
    value: str | float | bool


def unknown_name(fact: str, facts: Facts) -> str:
    """What is wrong with a fact's name; empty for one that the vocabulary or the evidence has."""
    if known(fact) or fact in facts:
        return ""
    close = get_close_matches(fact, [*VOCABULARY, *facts], n=3)
    return f"there is no fact {fact!r}" + (f"; did you mean {', '.join(close)}?" if close else "")


def looked_up(expectation: Expectation, facts: Facts) -> Prediction:
    """Whether the expectation holds, in words with the fact's own value."""
    fact = facts.get(expectation.fact)
    wanted = f"{expectation.comparison} {_shown(expectation.value)}"
    if fact is None:
        return Prediction(f"{expectation.fact} {wanted}: not known", "unknown")
    outcome = _outcome(fact, expectation)
    says = f"{expectation.fact} is {_shown(fact.value)} (predicted {wanted})"
    return Prediction(says, outcome, (fact.evidence,))


def confidence_of(predictions: tuple[Prediction, ...]) -> float:
    """Posterior of the hypothesis by its predictions, bounded by what an untried one may claim."""
    weights: dict[Outcome, tuple[float, float]] = {"holds": HOLDS, "fails": FAILS}
    seen = tuple(Observation(p.says, p.cites, *weights[p.outcome]) for p in predictions if p.outcome in weights)
    return min(posterior(PRIOR, seen), CONFIDENCE_LIMIT)


def state_of(predictions: tuple[Prediction, ...]) -> State:
    """Refuted where a prediction fails, open where one holds, else nobody can tell. Never supported."""
    outcomes = {prediction.outcome for prediction in predictions}
    if "fails" in outcomes:
        return "refuted"
    return "open" if "holds" in outcomes else "cannot_tell"


def _outcome(fact: Fact, expectation: Expectation) -> Outcome:
    if expectation.comparison == "contains":
        return _verdict(str(expectation.value).lower() in _as_text(fact.value).lower())
    if expectation.comparison in ("==", "!="):
        same = _equal(fact.value, expectation.value)
        return _verdict(same == (expectation.comparison == "=="))
    wanted = _number(expectation.value)
    if fact.number is None or wanted is None:
        return "unknown"
    match expectation.comparison:
        case "<":
            return _verdict(fact.number < wanted)
        case "<=":
            return _verdict(fact.number <= wanted)
        case ">=":
            return _verdict(fact.number >= wanted)
        case _:
            return _verdict(fact.number > wanted)


def _verdict(holds: bool) -> Outcome:
    return "holds" if holds else "fails"


def _equal(value: FactValue, wanted: str | float | bool) -> bool:
    if isinstance(value, bool) or isinstance(wanted, bool):
        return str(value).lower() == str(wanted).lower()
    number, other = _number(value), _number(wanted)
    if number is not None and other is not None:
        return number == other
    return _as_text(value).lower() == str(wanted).lower()


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except ValueError:
        return None


def _as_text(value: FactValue) -> str:
    return value if isinstance(value, str) else str(value)


def _shown(value: FactValue) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else _as_text(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
