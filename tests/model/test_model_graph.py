from dataclasses import replace

import pytest
from model_samples import DEFAULT_SPLIT, HEAD_AWARE_SPLIT, LLAMA_8B, SEED_LEVELS, kimi_roofline, rtx_pro_6000

from ppagent.model.architecture import read_architecture
from ppagent.model.forecast import Effect
from ppagent.model.graph import LARGEST_GAIN, GraphCase, forecast_graph, forecast_graph_and_spread
from ppagent.model.roofline import Roofline

SEED = GraphCase(SEED_LEVELS, DEFAULT_SPLIT, kimi_roofline())


def test_a_graph_alone_gives_nothing_at_eight_requests_in_one_slot() -> None:
    forecast = forecast_graph(SEED, 8)
    assert forecast.high <= 1.05 * 95.6
    assert forecast.effect is Effect.HARDLY
    assert "device-bound" in forecast.regime


def test_it_gives_a_quarter_to_two_thirds_to_a_single_request() -> None:
    forecast = forecast_graph(SEED, 1)
    assert forecast.low >= 1.25 * forecast.baseline
    assert forecast.high <= 1.66 * forecast.baseline
    assert 31 <= forecast.low < forecast.high <= 41
    assert "host-bound" in forecast.regime


def test_the_gain_fades_as_the_batch_grows() -> None:
    gains = [forecast_graph(SEED, at).high / forecast_graph(SEED, at).baseline for at in (1, 2, 4, 8)]
    assert gains == sorted(gains, reverse=True)


def test_graph_and_limit_1_are_bound_by_the_last_stage_of_the_default_split() -> None:
    forecast = forecast_graph_and_spread(SEED, 8, 1)
    assert forecast.high <= 215
    assert forecast.low > 190
    assert "stage 7" in forecast.regime


def test_a_split_that_knows_of_the_lm_head_gives_another_quarter() -> None:
    forecast = forecast_graph_and_spread(SEED, 8, 1, HEAD_AWARE_SPLIT)
    assert forecast.low >= 250
    assert forecast.high <= 285


def test_the_kernels_efficiency_comes_from_the_level_nearest_the_roofline() -> None:
    low, high = SEED.efficiency()
    assert low == pytest.approx(61.1 / 83.7, abs=0.01)
    assert low < high < 0.8


def test_without_model_and_card_the_range_runs_from_nothing_to_the_largest_gain_known() -> None:
    forecast = forecast_graph(replace(SEED, roofline=None), 1)
    assert forecast.low == pytest.approx(24.7)
    assert forecast.high == pytest.approx(LARGEST_GAIN * 24.7)
    assert forecast.effect is Effect.CANNOT_TELL
    with pytest.raises(ValueError, match="config and the card"):
        forecast_graph_and_spread(replace(SEED, roofline=None), 8, 1)


def test_a_quantisation_that_nobody_knows_is_said_since_the_weights_then_are_a_guess() -> None:
    odd = read_architecture({**LLAMA_8B, "quantization_config": {"quant_method": "quark"}})
    forecast = forecast_graph(GraphCase(SEED_LEVELS, (16, 16), Roofline(odd, rtx_pro_6000())), 8)
    assert "quantisation not known: unknown (quark); weights counted in their stated dtype" in forecast.assumptions


def test_levels_alone_bound_the_gain_where_the_device_has_outgrown_the_launches() -> None:
    bare = replace(SEED, roofline=None)
    assert forecast_graph(bare, 8).high <= 1.06 * 95.6
    assert forecast_graph(bare, 1).high > 2 * 24.7


def test_a_load_that_was_not_measured_lies_on_the_line() -> None:
    assert forecast_graph(SEED, 2).baseline == pytest.approx(2000 / (34.15 + 2 * 6.177), rel=0.001)
    with pytest.raises(ValueError, match="one level"):
        forecast_graph(replace(SEED, levels=SEED_LEVELS[:1]), 4)


def test_a_case_without_levels_is_refused() -> None:
    with pytest.raises(ValueError, match="measured level"):
        GraphCase((), DEFAULT_SPLIT)
