import pytest

from ppagent.trials.foreseen import More, Seen, longer

NOTHING = Seen(gain=0.0, error=0.02, df=6, rounds=4)


def test_the_time_that_would_decide_is_the_square_of_how_much_too_wide_the_interval_is() -> None:
    # Of four looks the last may claim 97.3 %: t of 6 degrees of freedom is 2.92 there. (2.92 + 1.28) x 0.02 = 0.0840,
    # which has to come down to ln 1.05 = 0.0488: 1.72 times narrower, 2.96 times as long.
    more = longer(NOTHING, looks=4, margin=0.05)
    assert more.rounds == 4
    assert more.times == pytest.approx(2.96, abs=0.02)
    assert more.seconds(30) == 90


def test_twice_the_scatter_takes_four_times_as_long() -> None:
    noisier = Seen(0.0, 0.04, 6, 4)
    assert longer(noisier, 4, 0.05).times == pytest.approx(4 * longer(NOTHING, 4, 0.05).times)


def test_a_trial_that_was_given_up_is_repeated_with_all_its_rounds() -> None:
    # Three of eight rounds: the error of eight is that of three times the root of (1/8 + 1/9) / (1/3 + 1/4).
    given_up = longer(Seen(0.0, 0.05, 14, 3), looks=8, margin=0.05)
    whole = longer(Seen(0.0, 0.05 * (0.2361 / 0.5833) ** 0.5, 14, 8), looks=8, margin=0.05)
    assert given_up.rounds == 8
    assert given_up.times == pytest.approx(whole.times, rel=0.001)


def test_one_round_is_repeated_with_four_and_nothing_is_measured_for_less_time_than_before() -> None:
    assert longer(Seen(0.2, 0.04, 3, 1), looks=1, margin=0.05).rounds == 4
    assert More(4, 0.3).seconds(30) == 30
