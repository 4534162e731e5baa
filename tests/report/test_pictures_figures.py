import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.causes.cause import Change
from ppagent.changes.proposal import Predicted, Proposal
from ppagent.evidence.evidence import Evidence, FactValue
from ppagent.evidence.facts import Facts
from ppagent.model.deployment import Deployment, even_shares
from ppagent.model.levels import Level, level_from_throughput
from ppagent.model.stage_costs import StageCosts
from ppagent.report.pictures.captions import timeline_caption
from ppagent.report.pictures.figures import figures_of
from ppagent.report.pictures.lanes import divided_by, lanes_now, lanes_of
from ppagent.report.pictures.levels import curves_of
from ppagent.report.pictures.series import power_of
from tests.report.samples import diagnosed

SEED = tuple(level_from_throughput(at, rate) for at, rate in ((1, 24.7), (4, 68.3), (8, 95.6)))
P1 = Proposal(
    "P1", ("PP001",), "live", "limit", Change({"--pp-max-micro-batch-size": "1"}), (), "x", "",
    Predicted("output_throughput", 8, 95.6, 162, 198),
)  # fmt: skip
P2 = Proposal(
    "P2", ("CG001",), "relaunch", "graphs", Change({}, ("--disable-cuda-graph",)), (), "x", "",
    Predicted("output_throughput", 8, 95.6, 90, 100),
)  # fmt: skip


def ring(fill: tuple[float, float] = (1.0, 1.0), limit: int | None = None) -> Deployment:
    return Deployment(SEED, 8, 8, fill, (even_shares(8),), limit)


def test_now_is_drawn_for_the_least_and_the_most_fill_that_is_allowed() -> None:
    lanes = lanes_now(ring((1.0, 2.7)), 8)
    assert [lane.name for lane in lanes] == ["Now, if 1 of 8 slots is filled", "Now, if 3 of 8 slots are filled"]
    assert [lane.timeline.filled for lane in lanes] == [1, 3]
    assert {lane.timeline.turn_ms for lane in lanes} == {SEED[-1].turn_ms}
    assert lanes[0].gives == "8 tokens every 83.7 ms, 95.6 tok/s"


def test_a_fill_that_is_known_is_drawn_once_and_without_an_if() -> None:
    assert [lane.name for lane in lanes_now(ring(), 8)] == ["Now, 1 of 8 slots is filled"]


def test_a_limit_in_force_fills_what_it_forces() -> None:
    assert [lane.timeline.filled for lane in lanes_now(ring(limit=2), 8)] == [4]


def test_the_first_priced_step_is_drawn_for_the_middle_of_its_forecast() -> None:
    *_, then = lanes_of(ring(), (P1, P2))
    assert then.name == "Proposed, P1: 8 of 8 slots are filled"
    assert then.gives == "forecast 162 to 198 tok/s, drawn for 179"
    assert then.timeline.tokens_per_s == pytest.approx(math.sqrt(162 * 198))
    assert not then.now


def test_a_step_that_fills_no_slot_leaves_them_as_they_are() -> None:
    *_, then = lanes_of(ring(), (P2,))
    assert then.timeline.filled == 1


def test_without_a_priced_step_only_now_is_drawn() -> None:
    assert all(lane.now for lane in lanes_of(ring(), ()))


def test_what_prefill_and_think_time_leave_of_a_turn_is_kept() -> None:
    """At 50 tok/s a turn of 80 ms leaves half of the time to the ring."""
    levels = (Level(8, 80.0, "itl", 50.0),)
    *_, then = lanes_of(Deployment(levels, 8, 8, (1, 1), (even_shares(8),)), (P1,))
    assert then.timeline.turn_ms == pytest.approx(0.5 * 8000 / math.sqrt(162 * 198))


def test_a_proposed_split_is_drawn_by_the_stages_own_times_where_they_were_taken() -> None:
    split = Proposal(
        "P1", ("PP004",), "relaunch", "split", Change(env={"SGLANG_PP_LAYER_PARTITION": "19,19,8,18"}), (), "x", "",
        Predicted("output_throughput", 8, 95.6, 140, 160),
    )  # fmt: skip
    costs = StageCosts((16, 16, 16, 16), (11.0, 11.0, 24.0, 11.0), source="traced: 11, 11, 24, 11 ms a forward")
    shares = costs.shares_of(costs.layers)
    timed = Deployment(SEED, 4, 4, (4.0, 4.0), (shares,), slot_limit=2, measured=costs)
    now, then = lanes_of(timed, (split,))
    # By hand: 11, 11, 24, 11 of 57 ms now; 19/16 x 11 = 13.06, 13.06, 8/16 x 24 = 12 and 18/16 x 11 = 12.4 then.
    assert now.timeline.busy == pytest.approx((11 / 24, 11 / 24, 1, 11 / 24))
    assert then.timeline.busy == pytest.approx((1, 1, 12 / 13.06, 12.375 / 13.06), abs=0.001)
    untimed = Deployment(SEED, 4, 4, (4.0, 4.0), (even_shares(4),), slot_limit=2)
    *_, by_layers = lanes_of(untimed, (split,))
    assert by_layers.timeline.busy == pytest.approx((1, 1, 8 / 19, 18 / 19))
    said = timeline_caption((now, then), "measured", divided_by=divided_by(timed))
    assert "its split over the stages follows the stages' own times (traced: 11, 11, 24, 11 ms a forward)." in said
    assert "follows the layers, as no stage's own time was measured." in timeline_caption(
        (now,), "measured", divided_by=divided_by(untimed)
    )


def test_curves_hold_the_points_the_ring_and_the_forecast_of_the_live_step() -> None:
    curves = curves_of(SEED, "measured", ring(), (P1, P2))
    assert curves.points == ((1, 24.7), (4, 68.3), (8, 95.6))
    assert dict(curves.now)[8] == 95.6
    assert max(at for at, _ in curves.now) == 16
    low, high = next((low, high) for at, low, high in curves.band if at == 8)
    assert 140 < low < 198 < high < 230
    assert curves.band[-1][1:] == curves.band[-2][1:], "what a limit of 1 does not admit adds nothing"
    assert [mark.name for mark in curves.marks] == ["P2"]


def test_the_ring_as_it_is_stops_growing_where_its_limit_stops_admitting() -> None:
    now = dict(curves_of(SEED, "measured", ring((8, 8), limit=1), ()).now)
    assert now[8] == now[12] == now[16]


def test_where_requests_queue_only_those_that_run_are_drawn_and_no_forecast_over_load() -> None:
    levels = (Level(64, 38.8, "itl", 205.4),)
    queued = Deployment(levels, 8, 8, (8, 8), (even_shares(8),), slot_limit=1)
    (now,) = lanes_now(queued, 64)
    assert now.gives == "8 tokens every 38.8 ms, 205 tok/s"
    assert now.timeline.requests == 8
    curves = curves_of(levels, "measured", queued, (P1,))
    assert curves.band == ()
    assert [mark.name for mark in curves.marks] == ["P1"]


def test_where_prefill_takes_the_time_the_ring_is_drawn_and_the_rate_told_apart() -> None:
    levels = (Level(1, 16.5, "tpot", 6.0),)
    ring_now = Deployment(levels, 4, 4, (1, 1), (even_shares(4),))
    (now,) = lanes_now(ring_now, 1)
    assert now.gives == "1 token every 16.5 ms of decode, 6 tok/s in all"
    assert dict(curves_of(levels, "measured", ring_now, ()).now)[1] == 6.0


def test_levels_without_a_ring_are_points_alone() -> None:
    curves = curves_of(SEED, "as stated", None, ())
    assert (curves.now, curves.band, curves.marks) == ((), (), ())


def series(value: FactValue, limits: FactValue = None) -> Facts:
    facts = {"gpu.power_series": value, "gpu.power_limit_w": limits}
    return Facts([Evidence("E1", "gpu.samples", "gpus.csv", facts, host="box")])


def test_a_power_series_is_read_with_the_lowest_limit_of_its_host() -> None:
    (power,) = power_of(series({"seconds": [0, 2], "watts": {"0": [85, 170], "1": [80, None]}}, {"0": 600, "1": 300}))
    assert power.host == "box"
    assert power.seconds == (0, 2)
    assert power.watts == {"0": (85, 170), "1": (80, None)}
    assert power.limit_w == 300
    assert power.cites == ("E1",)


def test_samples_without_times_or_with_odd_ones_count_one_by_one() -> None:
    for seconds in ([], [0], [2, 1], ["a", "b"], [5, 5]):
        (power,) = power_of(series({"seconds": seconds, "watts": {"0": [85, 170]}}))
        assert (power.timed, power.seconds) == (False, (1, 2))


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["seconds", "watts", "0", "1"]), inner),
    max_leaves=12,
)


@given(json_values, json_values)
def test_any_shape_of_series_is_drawn_or_left_out(value: FactValue, limits: FactValue) -> None:
    for power in power_of(series(value, limits)):
        assert len(power.seconds) == len(next(iter(power.watts.values())))
        assert math.isfinite(power.highest_w)


def test_the_legend_says_how_the_figures_came_about() -> None:
    assert figures_of(diagnosed()).came_about == "measured, emulated device"
    assert figures_of(diagnosed(**{"recording.origin": "synthetic", "recording.gpus": "8x"})).came_about == "made up"
    stated = {"stated.levels": [{"concurrency": 8, "output_throughput": 95.6}], "recording.origin": "reconstructed"}
    assert figures_of(diagnosed(**stated)).came_about == "as stated"


def test_an_investigation_without_figures_draws_nothing() -> None:
    found = figures_of(diagnosed())
    assert (found.lanes, found.curves, found.power) == ((), None, ())
