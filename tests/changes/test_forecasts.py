"""Forecasts are given only where the ring model has ground to stand on."""

from dataclasses import replace

import pytest
from builders import facts_of, level

from ppagent.causes.catalog import cause_of
from ppagent.causes.cause import Change
from ppagent.changes.forecasts import forecast, server_of, settings_after, slot_limit_in, why_none
from ppagent.model.whatif import Settings

LEVELS = [level(1, 24.7), level(4, 68.3), level(8, 95.6)]
RING = {"args.pp_size": 8, "decode.running_req.p95": 8, "bench.levels": LEVELS}
LIMIT_ONE = Change(set={"--pp-max-micro-batch-size": "1"})


def test_without_a_measured_level_there_is_no_forecast() -> None:
    assert forecast(LIMIT_ONE, facts_of({"args.pp_size": 8})) is None


def test_a_change_that_the_model_does_not_know_has_no_forecast() -> None:
    other = Change(set={"--pp-max-micro-batch-size": "1", "--schedule-conservativeness": "0.5"})
    assert forecast(other, facts_of(RING)) is None


@pytest.mark.parametrize(
    ("change", "facts", "why"),
    [
        (LIMIT_ONE, {"args.pp_size": 8}, "no load level is known to start from (ppagent bench measures some)"),
        (
            LIMIT_ONE,
            {"start.ready": False, "args.pp_size": 1},
            "the server does not come up now, so there is no speed to start from",
        ),
        (LIMIT_ONE, {}, "no load level is known to start from (ppagent bench measures some)"),
        (LIMIT_ONE, RING | {"args.pp_size": 1}, "the model prices pipelines, and this server has one stage"),
        (Change(set={"--max-running-requests": "8"}), RING, "the pipeline model does not price --max-running-requests"),
        (Change(set={"--pp-async-batch-depth": "0"}), RING, "nothing that the pipeline model prices changes"),
        (
            Change(env={"SGLANG_PP_LAYER_PARTITION": "9,7"}),
            RING,
            "a split needs 8 numbers, one a stage, and these are 2",
        ),
        (
            Change({"--pp-max-micro-batch-size": "1"}, ("--disable-cuda-graph",)),
            RING | {"args.disable_cuda_graph": True},
            "a forecast with graphs and filled slots needs the model's config and the card",
        ),
    ],
)
def test_where_there_is_no_forecast_it_is_told_why(change: Change, facts: dict[str, object], why: str) -> None:
    assert forecast(change, facts_of(facts)) is None
    assert why_none("relaunch", change, facts_of(facts)) == why
    assert why_none("operator", change, facts_of(facts)) == "it is done by hand: measure before and after"


def test_a_limit_is_priced_from_the_levels_alone() -> None:
    predicted = forecast(LIMIT_ONE, facts_of(RING))
    assert predicted is not None
    assert predicted.low < 198 < predicted.high * 1.05
    assert predicted.low > 1.4 * predicted.baseline


@pytest.mark.parametrize(("flag", "limit"), [("--max-micro-batch-size", 3), ("--pp-max-micro-batch-size", 3)])
def test_the_limit_is_found_under_both_names(flag: str, limit: int) -> None:
    assert slot_limit_in(Change(set={flag: str(limit)})) == limit


@pytest.mark.parametrize(
    ("more", "graph"),
    [
        ({}, True),
        ({"args.disable_cuda_graph": True}, False),
        ({"args.device": "cpu"}, False),
        ({"args.disable_cuda_graph": True, "args.device": "cpu"}, False),
    ],
)
def test_a_server_has_graphs_where_they_are_not_switched_off_and_there_is_a_device_for_them(
    more: dict[str, object], graph: bool
) -> None:
    server = server_of(facts_of(RING | more))
    assert server is not None
    assert server.now == Settings(graph=graph)


NOW = Settings(slot_limit=64, async_depth=1, graph=False, split=(8, 8))


@pytest.mark.parametrize(
    ("change", "then"),
    [
        (LIMIT_ONE, replace(NOW, slot_limit=1)),
        (Change(set={"--max-micro-batch-size": "4"}), replace(NOW, slot_limit=4)),
        (Change(set={"--pp-async-batch-depth": "0"}), replace(NOW, async_depth=0)),
        (Change(unset=("--disable-cuda-graph",)), replace(NOW, graph=True)),
        (Change(env={"SGLANG_PP_LAYER_PARTITION": "9,7"}), replace(NOW, split=(9, 7))),
        (
            Change(set={"--pp-max-micro-batch-size": "2"}, unset=("--cuda-graph-config",)),
            replace(NOW, slot_limit=2, graph=True),
        ),
    ],
)
def test_what_a_change_sets_stands_in_the_settings_after_it_and_nothing_else_moves(
    change: Change, then: Settings
) -> None:
    assert settings_after(change, NOW) == then


@pytest.mark.parametrize(
    "change",
    [
        Change(),
        Change(set={"--schedule-conservativeness": "0.5"}),
        Change(set={"--pp-max-micro-batch-size": "1", "--schedule-conservativeness": "0.5"}),
        Change(set={"--pp-max-micro-batch-size": "1"}, unset=("--enable-dp-attention",)),
        Change(set={"--pp-async-batch-depth": "2"}, env={"NCCL_P2P_DISABLE": "1"}),
        Change(set={"--pp-max-micro-batch-size": "\u00b2"}),
        Change(set={"--pp-async-batch-depth": "two"}),
    ],
    ids=lambda change: " ".join((*change.set, *change.unset, *change.env)) or "nothing",
)
def test_a_change_of_nothing_or_of_more_than_the_model_knows_has_no_settings(change: Change) -> None:
    assert settings_after(change, NOW) is None


def test_spreading_over_a_last_stage_of_twelve_layers_is_never_proposed_over_all_slots() -> None:
    uneven = {
        "args.pp_size": 8,
        "engine.version": "0.5.5",
        "model.num_hidden_layers": 61,
        "decode.running_req.p95": 8,
        "bench.levels": [
            level(1, 28.0, mean_itl_ms=35.7),
            level(4, 110, mean_itl_ms=36.0),
            level(8, 219, mean_itl_ms=36.5),
        ],
    }
    advice = cause_of("PP001").advise(facts_of(uneven))
    assert all(remedy.change.set.get("--pp-max-micro-batch-size") != "1" for remedy in advice.remedies)
    predicted = forecast(LIMIT_ONE, facts_of(uneven))
    assert predicted is not None
    assert predicted.high < predicted.baseline


def test_a_limit_that_makes_requests_queue_is_forecast_from_those_that_run() -> None:
    """Eight of 64 run in eight slots: eight times as many run then, in turns that may grow as much or not at all."""
    queueing = RING | {"internal.slot_limit": 1, "bench.levels": [level(64, 205, mean_itl_ms=39.0)]}
    predicted = forecast(Change(set={"--pp-max-micro-batch-size": "8"}), facts_of(queueing))
    assert predicted is not None
    assert predicted.baseline == 205
    assert 0.85 * 205 < predicted.low < 205 * 1.05
    assert 7.9 * 205 < predicted.high < 9 * 205
    assert "56 of 64 requests wait for a slot now, and none then" in predicted.regime


def test_a_limit_below_the_load_is_forecast_to_hurt_and_says_who_waits() -> None:
    levels = [level(1, 24.7), level(16, 280, mean_itl_ms=57.0)]
    hurts = forecast(LIMIT_ONE, facts_of(RING | {"internal.slot_limit": 2, "bench.levels": levels}))
    assert hurts is not None
    assert hurts.low < 8000 / 40.5 < hurts.high < 0.85 * hurts.baseline
    assert "8 of 16 requests wait for a slot" in hurts.regime
    assert "a first token comes later by about 1 x the time of an answer" in hurts.regime
