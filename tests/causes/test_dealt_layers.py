"""A layer split by what the stages were measured to take, which wins over the number of their layers."""

import pytest

from ppagent.causes.catalog import cause_of
from ppagent.causes.cause import Change
from ppagent.causes.physics import ring_of, stage_costs_of
from ppagent.changes.forecasts import forecast
from ppagent.evidence.evidence import FactValue
from tests.causes.builders import facts_of, level
from tests.model.model_samples import KIMI_TEXT

Facts = dict[str, FactValue]
SPLIT = "SGLANG_PP_LAYER_PARTITION"


def table(*values: float) -> FactValue:
    return {f"PP{stage}": value for stage, value in enumerate(values)}


# Sixteen layers a stage, the third card at less than half the speed; every slot holds two requests.
TRACED: Facts = {
    "args.pp_size": 4,
    "engine.version": "0.5.23",
    "model.num_hidden_layers": 64,
    "internal.slot_limit": 2,
    "profile.steps": table(31, 31, 31, 31),
    "profile.busy": table(0.45, 0.46, 0.99, 0.45),
    "profile.busy_ms": table(11, 11, 24, 11),
    "bench.levels": [level(1, 17.5, mean_itl_ms=57), level(8, 83.3, mean_itl_ms=96)],
}


def proposed(values: Facts) -> tuple[str, str]:
    (remedy,) = cause_of("PP004").advise(facts_of(values)).remedies
    return remedy.change.env[SPLIT], remedy.title


def test_traced_times_decide_the_split_and_are_named() -> None:
    split, title = proposed(TRACED)
    # By hand: 24/16 ms a layer there and 11/16 elsewhere are even at 12.7 ms, 8.5 and 18.5 layers.
    assert split == "19,19,8,18"
    assert title.endswith(
        "by the stages' own times (traced: 11, 11, 24, 11 ms a forward): "
        "the longest then takes 54% of what it takes now"
    )


def test_without_times_the_number_of_layers_decides_and_that_is_said() -> None:
    split, title = proposed({"args.pp_size": 4, "engine.version": "0.5.5", "model.num_hidden_layers": 63})
    assert split == "16,16,16,15"
    assert title.endswith("by their number alone: no stage was timed")


def test_times_that_are_even_leave_uneven_layers_where_they_are() -> None:
    even = {**TRACED, "env.SGLANG_PP_LAYER_PARTITION": "14,18,14,18", "profile.busy_ms": table(12, 12.1, 12.2, 12)}
    assert cause_of("PP004").advise(facts_of(even)).remedies == ()


def test_counters_stand_for_times_where_nothing_was_traced() -> None:
    counted = {key: value for key, value in TRACED.items() if not key.startswith("profile")}
    split, title = proposed({**counted, "metrics.forward_busy": table(0.45, 0.45, 0.98, 0.45)})
    assert split == "19,19,8,18"
    assert "(by metrics.forward_busy: 46%, 46%, 100%, 46% of the longest)" in title


def test_of_the_ranks_of_a_stage_the_slowest_counts() -> None:
    counted = {key: value for key, value in TRACED.items() if not key.startswith("profile")}
    ranks = {f"PP{stage} TP{rank}": 40.0 + 10 * (stage == 1 and rank == 1) for stage in range(4) for rank in range(2)}
    costs = stage_costs_of(facts_of({**counted, "args.tp_size": 2, "metrics.fwd_occupancy": ranks}))
    assert costs is not None
    assert costs.times == (40, 50, 40, 40)


@pytest.mark.parametrize(("share", "known"), [(0.2, False), (0.8, True)])
def test_the_hosts_share_tells_a_stages_time_only_where_the_host_paces(share: float, known: bool) -> None:
    host = {key: value for key, value in TRACED.items() if not key.startswith("profile")}
    host["metrics.run_batch_busy"] = table(share / 2, share / 2, share, share / 2)
    assert (stage_costs_of(facts_of(host)) is not None) == known


def test_the_forecast_of_a_split_rests_on_the_same_times() -> None:
    ring = ring_of(facts_of(TRACED))
    assert ring is not None
    assert ring.shares == (pytest.approx((11 / 57, 11 / 57, 24 / 57, 11 / 57)),)
    found = forecast(Change(env={SPLIT: "19,19,8,18"}), facts_of(TRACED))
    assert found is not None
    # Four full slots turn in 4 x 24 = 96 ms now and 4 x 13.06 = 52.3 ms then: 83 tok/s become 153.
    assert found.low <= 153 <= found.high
    assert found.low > 1.5 * found.baseline
    worse = forecast(Change(env={SPLIT: "15,15,19,15"}), facts_of(TRACED))
    assert worse is not None
    assert worse.high < found.baseline


# Sixty-one layers over eight H20 with 141 GB, by 0.5.5's rule: 7,7,7,7,7,7,7,12.
OLD_RULE: Facts = {
    "args.pp_size": 8,
    "engine.version": "0.5.5",
    "gpu.names": {"0": "NVIDIA H20-3e"},
    **{f"model.{name}": value for name, value in KIMI_TEXT.items()},
}


def test_where_nothing_was_timed_the_bytes_of_a_step_decide_and_the_head_counts() -> None:
    split, title = proposed(OLD_RULE)
    # By hand: a layer of 0.494 GB takes 0.100 ms at 4.917 TB/s and the head of 2.35 GB 0.478, so
    # 12 layers and the head 1.68 ms, 4 and the head 0.88 and 9 layers 0.904.
    assert [int(part) for part in split.split(",")][-1] == 4
    assert max(int(part) for part in split.split(",")) == 9
    assert "by the bytes of a step, no stage was timed" in title
    assert title.endswith("the longest then takes 0.904 ms, 1.68 ms now")


def test_what_a_turn_takes_beyond_its_bytes_goes_by_layers() -> None:
    split, title = proposed({**OLD_RULE, "bench.levels": [level(1, 20)]})
    # By hand: of 50 ms the bytes are 6.7, so a layer takes 0.81 ms and the head 0.48: 12 layers and it 10.2, 8 6.5.
    assert sorted(int(part) for part in split.split(",")) == [7, 7, 7, 8, 8, 8, 8, 8]
    assert split.endswith(",7")
    assert "a turn of 50 ms" in title
    assert title.endswith("the longest then takes 6.48 ms, 10.2 ms now")


def test_without_graphs_the_host_hides_the_head_and_the_number_of_layers_decides() -> None:
    assert proposed({**OLD_RULE, "args.disable_cuda_graph": True})[0] == "8,8,8,8,8,7,7,7"


def test_what_a_split_does_to_prefill_is_said_in_numbers() -> None:
    # By hand: 61/8 layers in the mean, 12 on the longest stage now and 8 then.
    (remedy,) = cause_of("PP004").advise(facts_of({**OLD_RULE, "bench.levels": [level(1, 20)]})).remedies
    assert remedy.risks[-1] == "prefill, where layers alone count, goes from 64% to 95% of an even split's speed"
