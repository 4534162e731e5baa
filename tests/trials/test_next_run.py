from dataclasses import replace

from ppagent.model.forecast import Forecast
from ppagent.trials.facts import live_row
from ppagent.trials.foreseen import More
from ppagent.trials.live import Outcome
from ppagent.trials.next_run import next_run, next_words
from ppagent.trials.noise import Comparison
from ppagent.trials.phase import Phase
from ppagent.trials.story import as_data, live_result

UNDECIDED = Comparison(100, 101, 0.08, "cannot tell", "+1.0%", -0.07, 0.09, None, More(4, 2.94))
OUTCOME = Outcome(
    "pp_max_micro_batch_size", 16, 12, "own load", (), UNDECIDED, "tok/s", None, "", "identical", "", 0, 0, True,
    round_s=80.0, measured_s=30.0,
)  # fmt: skip


def test_the_option_that_should_decide_and_its_time_are_told() -> None:
    run = next_run(OUTCOME, levels=2)
    assert run is not None
    # 30 s x 2.94, up to the next five; nine measurements with 10 s of settling each, and two levels of 0.4 x 90 s
    # that take twice their time.
    assert (run.options, run.most_s) == ("--seconds 90", 9 * 100 + 2 * 2 * 0.4 * 90)
    told = live_result(OUTCOME, 2)
    assert "the same command with `--seconds 90` should decide" in told
    assert "about 17 minutes at the most" in told
    assert as_data("s", OUTCOME, 2)["next"] == {"options": "--seconds 90", "most_s": 1044}


def test_rounds_are_named_where_they_are_not_the_usual_ones() -> None:
    eight = replace(OUTCOME, comparison=replace(UNDECIDED, more=More(8, 1.0)))
    assert "`--seconds 30 --rounds 8`" in next_words(eight, 0)


def test_what_would_take_hours_has_another_way_out() -> None:
    long = replace(OUTCOME, comparison=replace(UNDECIDED, more=More(4, 40.0)))
    told = next_words(long, 0)
    assert "`--seconds 1200`" in told
    assert "about 3 hours" in told
    assert "`--margin 9`" in told


def test_nothing_is_to_be_run_after_a_verdict() -> None:
    told = replace(OUTCOME, comparison=replace(UNDECIDED, outcome="better", more=None))
    assert next_run(told, 2) is None
    assert "next  " not in live_result(told, 2)


def test_where_requests_do_not_turn_over_shorter_ones_are_named_and_not_a_longer_run() -> None:
    left = Phase(
        "B", 100, 0.01, 30, 32, 80, unsettled="3 requests ended since, of 32 in flight, 300 s after the change"
    )
    phases = (replace(left, label="A", unsettled=""), left)
    outcome = replace(OUTCOME, phases=phases, comparison=replace(UNDECIDED, more=None))
    assert "  next       a load of ppagent's own, without --observe, has answers short enough" in live_result(outcome)
    told = as_data("s", outcome)["phases"]
    assert isinstance(told, list)
    assert [phase["unsettled"] for phase in told] == ["", left.unsettled]
    assert live_row(outcome, None)["unsettled"] == left.unsettled
    assert "unsettled" not in live_row(OUTCOME, None)


def test_nothing_stands_under_next_where_nothing_is_known_that_would_decide() -> None:
    assert "  next" not in live_result(replace(OUTCOME, comparison=replace(UNDECIDED, more=None)))


def test_a_forecast_of_throughput_is_not_held_against_the_speed_of_one_request() -> None:
    forecast = Forecast("output_throughput", 16, 100.0, 150.0, 200.0, "a full ring")
    found = replace(UNDECIDED, after=12.5)
    told = live_result(replace(OUTCOME, forecast=forecast, unit="tok/s of one request", comparison=found))
    assert "forecast   150-200 tok/s, which the tok/s of one request that was compared says nothing of" in told
    assert "measured 12.5" not in told
