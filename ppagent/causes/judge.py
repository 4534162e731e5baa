"""A cause's state, computed from what was observed: likelihoods in, a posterior out. Nobody types a confidence in."""

import math
from dataclasses import dataclass
from typing import Literal

from ppagent.causes.calibration import calibration
from ppagent.causes.cause import Cause, Observation, Probe
from ppagent.causes.trials import trial_observations
from ppagent.evidence.facts import Facts

State = Literal["supported", "refuted", "open", "cannot_tell"]

SUPPORTED_FROM = 0.75
REFUTED_BELOW = 0.15
MOST_LOG_ODDS = 6.0
"""Observations share causes and so are not independent; no sum of them is allowed to claim more than 0.9975."""


@dataclass(frozen=True)
class Judgement:
    """What the evidence makes of one cause."""

    cause: Cause
    state: State
    confidence: float
    """Probability that the cause holds: the posterior, as the recorded incidents calibrate it."""
    because: tuple[Observation, ...]
    against: tuple[Observation, ...]
    probes: tuple[Probe, ...]
    posterior: float
    """As computed, before it is calibrated: what states, and the choice of the next question, go by."""


def judge(cause: Cause, facts: Facts) -> Judgement:
    """The state of `cause` given `facts`; a cure that was tried counts beside what the cause itself looks at."""
    return _judgement(cause, cause.observe(facts) + trial_observations(cause.id, facts), cause.probes(facts))


def reconsider(judgement: Judgement, further: Observation) -> Judgement:
    """The judgement with one observation more, which only the others' judgements could give."""
    return _judgement(judgement.cause, (*judgement.because, *judgement.against, further), judgement.probes)


def _judgement(cause: Cause, observed: tuple[Observation, ...], probes: tuple[Probe, ...]) -> Judgement:
    computed = posterior(cause.prior, observed)
    because = tuple(sorted((o for o in observed if o.supports), key=weight, reverse=True))
    against = tuple(sorted((o for o in observed if not o.supports), key=weight, reverse=True))
    state = _state(computed, because, against, probes)
    told = calibration().told(computed) if observed else computed  # fitted on causes that something was seen of
    return Judgement(cause, state, told, because, against, probes, computed)


def posterior(prior: float, observed: tuple[Observation, ...]) -> float:
    """Probability of the cause after `observed`, each observation taken as independent of the others."""
    log_odds = math.log(prior / (1 - prior)) + sum(math.log(o.if_true / o.if_false) for o in observed)
    bounded = max(-MOST_LOG_ODDS, min(MOST_LOG_ODDS, log_odds))
    return 1 / (1 + math.exp(-bounded))


def weight(observation: Observation) -> float:
    """How much an observation moves the odds, either way."""
    return abs(math.log(observation.if_true / observation.if_false))


def _state(
    confidence: float, because: tuple[Observation, ...], against: tuple[Observation, ...], probes: tuple[Probe, ...]
) -> State:
    if confidence >= SUPPORTED_FROM and because:
        return "supported"
    if confidence <= REFUTED_BELOW and against:
        return "refuted"
    return "cannot_tell" if probes or not (because or against) else "open"
