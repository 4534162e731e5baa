"""How observations add up to a state, by hand."""

from dataclasses import dataclass

import pytest

from ppagent.causes.calibration import calibration
from ppagent.causes.cause import Advice, Observation, Probe
from ppagent.causes.judge import Judgement, judge, posterior, reconsider, weight
from ppagent.evidence.facts import Facts

FOR = Observation("one for it", ("E1",), 0.9, 0.1)
MORE_FOR = Observation("a stronger one for it", ("E2",), 0.95, 0.05)
AGAINST = Observation("one against it", ("E3",), 0.1, 0.9)
MORE_AGAINST = Observation("a stronger one against it", ("E4",), 0.05, 0.95)
PROBE = Probe("logs.summary", "to see more")


@dataclass(frozen=True)
class FakeCause:
    """A cause that sees what it is told to."""

    seen: tuple[Observation, ...] = ()
    asks: tuple[Probe, ...] = ()
    prior: float = 0.2
    id: str = "PP001"
    name: str = "a cause"
    wants: tuple[str, ...] = ()

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        return self.seen

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        return self.asks

    def advise(self, facts: Facts) -> Advice:
        return Advice()


def judged(*seen: Observation, prior: float = 0.2, asks: tuple[Probe, ...] = ()) -> Judgement:
    return judge(FakeCause(seen, asks, prior), Facts())


def test_odds_are_multiplied_by_the_ratio_of_the_likelihoods() -> None:
    assert posterior(0.2, ()) == pytest.approx(0.2)
    assert posterior(0.2, (FOR,)) == pytest.approx(9 / 13)  # odds of 1:4 times 9
    assert posterior(0.2, (FOR, FOR)) == pytest.approx(81 / 85)
    assert posterior(0.2, (FOR, AGAINST)) == pytest.approx(0.2)


def test_no_number_of_observations_claims_more_than_odds_of_403_either_way() -> None:
    assert posterior(0.5, (MORE_FOR,) * 9) == pytest.approx(403.43 / 404.43, abs=1e-5)
    assert posterior(0.5, (MORE_AGAINST,) * 9) == pytest.approx(1 / 404.43, abs=1e-5)


def test_an_observation_weighs_as_much_for_a_cause_as_its_reverse_does_against_it() -> None:
    assert weight(FOR) == pytest.approx(weight(AGAINST)) == pytest.approx(2.1972, abs=1e-4)
    assert weight(MORE_AGAINST) > weight(AGAINST)


def test_observations_are_told_apart_by_what_they_say_and_the_strongest_comes_first() -> None:
    found = judged(FOR, AGAINST, MORE_FOR, MORE_AGAINST)
    assert found.because == (MORE_FOR, FOR)
    assert found.against == (MORE_AGAINST, AGAINST)


@pytest.mark.parametrize(
    ("prior", "seen", "state"),
    [
        (0.251, (FOR,), "supported"),  # 0.751
        (0.249, (FOR,), "open"),  # 0.749
        (0.61, (AGAINST,), "refuted"),  # 0.148
        (0.62, (AGAINST,), "open"),  # 0.153
        (0.99, (AGAINST,), "open"),  # 0.917, but nothing that was seen speaks for it
        (0.01, (FOR,), "open"),  # 0.083, but nothing that was seen speaks against it
        (0.99, (), "cannot_tell"),
        (0.01, (), "cannot_tell"),
    ],
)
def test_a_state_takes_odds_and_something_seen_that_points_its_way(
    prior: float, seen: tuple[Observation, ...], state: str
) -> None:
    assert judged(*seen, prior=prior).state == state


def test_it_cannot_be_told_where_a_tool_could_still_tell() -> None:
    assert judged(asks=(PROBE,)).state == "cannot_tell"
    assert judged(FOR, asks=(PROBE,)).state == "cannot_tell"
    assert judged(FOR, FOR, asks=(PROBE,)).state == "supported"


def test_a_confidence_is_calibrated_where_something_was_seen_and_the_prior_where_nothing_was() -> None:
    assert judged(FOR, FOR).confidence == calibration().told(81 / 85)
    assert judged(prior=0.31).confidence == judged(prior=0.31).posterior == pytest.approx(0.31)


def test_what_the_others_say_counts_beside_what_was_seen() -> None:
    first = judged(FOR, AGAINST, asks=(PROBE,))
    found = reconsider(first, MORE_FOR)
    assert found.posterior == pytest.approx(19 / 23)  # odds of 1:4 times 19
    assert found.because == (MORE_FOR, FOR)
    assert (found.against, found.probes) == ((AGAINST,), (PROBE,))
