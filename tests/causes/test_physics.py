"""What the model is told of a server: the bytes of a step bound what its levels leave open."""

from dataclasses import replace

import pytest

from ppagent.causes.physics import measured_levels, ring_of, roofline_of
from ppagent.causes.situation import in_flight
from ppagent.evidence.evidence import FactValue
from ppagent.model.spread import forecast_limit
from tests.causes.builders import facts_of, level
from tests.model.model_samples import KIMI_TEXT, LLAMA_8B

# Eight requests in one slot, no other level: how a turn grows with the requests is not in the levels.
ONE_LEVEL: dict[str, FactValue] = {
    "args.pp_size": 8,
    "args.tp_size": 1,
    "engine.version": "0.5.23",
    "internal.slot_limit": 256,
    "decode.running_req.p95": 8,
    "bench.levels": [level(8, 95.6)],
}
CARD: dict[str, FactValue] = {"gpu.names": {"0": "NVIDIA RTX PRO 6000 Blackwell Workstation Edition"}}


def model(config: dict[str, FactValue]) -> dict[str, FactValue]:
    return {f"model.{name}": value for name, value in config.items()}


def gains(*parts: dict[str, FactValue]) -> tuple[float, float]:
    """Range of tok/s with a slot each, over those of now."""
    values = {name: value for part in (ONE_LEVEL, *parts) for name, value in part.items()}
    ring = ring_of(facts_of(values))
    assert ring is not None
    found = forecast_limit(ring, 1, 8).forecast
    return found.low / found.baseline, found.high / found.baseline


def test_without_a_known_model_anything_from_nothing_to_a_slots_share_is_open() -> None:
    low, high = gains()
    assert low <= 1.0
    assert high == pytest.approx(8, rel=0.12)


def test_a_dense_model_can_gain_no_more_than_its_contexts_take() -> None:
    # By hand, 8192 tokens each: 15.0 GB of weights a step whatever the batch, 1.07 GB of KV a request: 23.6 / 16.1 GB.
    low, high = gains(model(LLAMA_8B), CARD)
    assert low <= 1.0
    assert high == pytest.approx(23.6 / 16.1, rel=0.11)


def test_a_mixture_can_gain_what_fewer_requests_wake_fewer_experts() -> None:
    # By hand: 110 GB a step for eight requests and 33.0 for one (distinct experts 59.5 and 8), 0.58 GB of KV each.
    low, high = gains(model(KIMI_TEXT), CARD)
    assert low <= 1.0
    assert high == pytest.approx((110 + 8 * 0.58) / (33.0 + 0.58), rel=0.11)


def test_levels_that_show_the_growth_are_not_bound_by_bytes() -> None:
    grown: dict[str, FactValue] = {"bench.levels": [level(1, 24.7), level(4, 68.3), level(8, 95.6)]}
    ring = ring_of(facts_of({**ONE_LEVEL, **grown, **model(KIMI_TEXT), **CARD}))
    assert ring is not None
    assert ring.roofline is not None
    assert forecast_limit(ring, 1, 8) == forecast_limit(replace(ring, roofline=None), 1, 8)


def test_a_config_without_a_card_gives_no_roofline() -> None:
    assert roofline_of(facts_of({**ONE_LEVEL, **model(LLAMA_8B)})) is None


TRAFFIC: dict[str, FactValue] = {"metrics.in_flight": 7.65, "metrics.itl_ms": 850.0, "metrics.streamed_rate": 8.9}


def test_the_traffic_of_a_live_server_is_a_level_of_its_own() -> None:
    (found,) = measured_levels(facts_of(TRAFFIC))
    assert (found.concurrency, found.turn_ms, found.tokens_per_s) == (8, 850.0, 8.9)


def test_a_load_level_that_was_measured_counts_before_the_traffic() -> None:
    (found,) = measured_levels(facts_of({**TRAFFIC, "bench.levels": [level(4, 60.0)]}))
    assert found.tokens_per_s == 60.0


@pytest.mark.parametrize("lacking", TRAFFIC)
def test_traffic_of_which_a_figure_is_missing_is_no_level(lacking: str) -> None:
    assert measured_levels(facts_of({name: value for name, value in TRAFFIC.items() if name != lacking})) == ()


@pytest.mark.parametrize(
    ("mean", "value", "says"),
    [
        (7.65, 8, "about 8 requests in flight (mean 7.65)"),
        (1.64, 1.6, "about 1.6 requests in flight (mean 1.64)"),
    ],
)
def test_a_mean_number_of_requests_is_told_as_a_count(mean: float, value: float, says: str) -> None:
    known = in_flight(facts_of({"metrics.in_flight": mean}))
    assert known is not None
    assert (known.value, known.says) == (value, says)
