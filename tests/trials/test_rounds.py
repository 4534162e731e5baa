from dataclasses import replace

from ppagent.trials.noise import Sample, compare
from ppagent.trials.phase import Phase
from ppagent.trials.rounds import lasting, unsettled

PHASES = tuple(Phase(label, 100.0, 0.001, 30, 8, 80) for label in ("A", "B", "A again"))
LEFT = "3 requests ended since, of 32 in flight, 300 s after the change"


def samples(*values: float, error: float = 0.001) -> list[Sample]:
    return [Sample(value, error, (value,) * 10) for value in values]


def test_no_difference_cannot_be_said_where_requests_still_ran_under_the_other_setting() -> None:
    same = compare(samples(100, 100.1), samples(100.2), margin=0.15)
    assert same.outcome == "no difference"
    found = unsettled(same, (PHASES[0], replace(PHASES[1], unsettled=LEFT), PHASES[2]))
    assert found.outcome == "cannot tell"
    assert f"before B requests had not turned over ({LEFT})" in found.why
    assert (found.rounds_more, found.more) == (None, None)


def test_a_gain_is_one_though_requests_had_not_turned_over_and_the_text_says_so() -> None:
    better = compare(samples(100, 100), samples(200))
    found = unsettled(better, (PHASES[0], PHASES[1], replace(PHASES[2], unsettled=LEFT)))
    assert found.outcome == "better"
    assert "before A again requests had not turned over" in found.why


def test_an_old_setting_that_does_not_come_back_is_told_with_the_three_figures() -> None:
    (said,) = lasting((samples(100, 190, 180), "tok/s"))
    assert said.startswith(
        "the old setting gave 100 tok/s before the change and 180 once it was back, nearer to the new one's 190"
    )
    assert said.endswith("Against the first the new one gave +90%")


def test_an_old_setting_that_comes_back_or_drifts_the_other_way_is_not_spoken_of() -> None:
    assert lasting((samples(100, 190, 104), "tok/s")) == ()
    assert lasting((samples(100, 190, 125), "tok/s")) == ()
    assert lasting((samples(100, 190, 60), "tok/s")) == ()
    assert lasting((samples(100, 102, 104), "tok/s")) == ()


def test_two_measurements_of_the_old_setting_that_hide_the_answer_are_shown() -> None:
    found = compare(samples(100, 180), samples(190))
    assert found.outcome == "cannot tell"
    assert found.why.endswith("; the old setting gave 100 first and 180 in the end")
    assert "first and" not in compare(samples(100, 100), samples(103), margin=0.01).why
