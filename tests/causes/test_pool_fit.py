"""Whether another split fits: the start-up log's own figures and SGLang's rule, or that it is not known."""

import pytest

from ppagent.causes.pool_fit import NOT_KNOWN, fit_said, pool_of, weight_limit_gib
from ppagent.causes.rebalance import better_split
from ppagent.evidence.evidence import FactValue
from ppagent.model.memory import stage_weight_bytes
from tests.causes.builders import facts_of, level
from tests.model.model_samples import DEFAULT_SPLIT, HEAD_AWARE_SPLIT, KIMI_TEXT, kimi_roofline

Facts = dict[str, FactValue]


def table(*values: float) -> FactValue:
    return {f"PP{stage}": value for stage, value in enumerate(values)}


SEED: Facts = {
    "args.pp_size": 8,
    "args.disable_cuda_graph": True,
    "args.mem_fraction_static": 0.88,
    "engine.version": "0.5.11",
    "gpu.names": {"0": "NVIDIA RTX PRO 6000 Blackwell Workstation Edition"},
    "bench.levels": [level(1, 24.7), level(8, 95.6)],
    "start.weights_gib": table(53.51, 58.82, 58.82, 67.22, 67.22, 67.22, 67.22, 69.41),
    "start.kv_gib": table(11.36, 11.36, 11.36, 12.98, 12.98, 12.98, 12.98, 12.98),
    "start.kv_tokens": table(*[1_512_448] * 8),
    "start.avail_after_pool_gib": table(29.03, 23.72, 23.72, 13.7, 13.7, 13.7, 13.7, 11.51),
    "decode.token_usage.max": 0.04,
    **{f"model.{name}": value for name, value in KIMI_TEXT.items()},
}


def without(*names: str) -> Facts:
    return {name: value for name, value in SEED.items() if name not in names}


def test_the_seeds_split_is_said_to_give_the_pool_more_and_in_numbers() -> None:
    said = fit_said(facts_of(SEED), DEFAULT_SPLIT, HEAD_AWARE_SPLIT)
    assert said == (
        "the KV pool goes from 1.51 million to 1.77 million tokens by SGLang's rule (weights on the fullest card from "
        "69.4 to 67.2 GiB, 11.5 GiB free beside it on the fullest card); at most 4% of it was seen in use"
    )


def test_a_split_that_leaves_no_pool_is_said_not_to_fit() -> None:
    assert fit_said(facts_of(SEED), DEFAULT_SPLIT, (10, 10, 10, 10, 9, 4, 4, 4)).startswith("does not fit: ")


@pytest.mark.parametrize("lost", ["start.weights_gib", "start.kv_gib", "start.kv_tokens", "model.hidden_size"])
def test_without_the_figures_it_is_not_known_whether_it_fits(lost: str) -> None:
    assert fit_said(facts_of(without(lost)), DEFAULT_SPLIT, HEAD_AWARE_SPLIT) == NOT_KNOWN


def test_a_stage_that_no_line_told_of_leaves_it_unknown() -> None:
    seven = table(53.51, 58.82, 58.82, 67.22, 67.22, 67.22, 67.22)
    assert pool_of(facts_of({**SEED, "start.weights_gib": seven})) is None


def test_a_launch_that_bounds_the_tokens_had_room_for_more() -> None:
    free = table(*[62.35] * 8)
    bound = facts_of({**SEED, "args.max_total_tokens": 1_512_448, "start.avail_after_pool_gib": free})
    found = pool_of(bound)
    assert found is not None
    assert found.most_tokens == 1_512_448
    # By hand: 53.51 + 11.36 + 62.35 GiB were free before loading on the card with the least, 88 % of them to use.
    assert found.budget_gib == pytest.approx(0.88 * (53.51 + 11.36 + 62.35))
    assert pool_of(facts_of({**without("start.avail_after_pool_gib"), "args.max_total_tokens": 1_512_448})) is None


def test_no_split_is_chosen_that_takes_more_than_a_quarter_of_the_pool_or_what_is_in_use() -> None:
    roofline = kimi_roofline()
    # The log shows 509.4 GiB of weights where the config makes 551.6 of them: the limit is in the config's terms.
    scale = 509.44 / (sum(stage_weight_bytes(roofline.architecture, DEFAULT_SPLIT)) / 2**30)
    assert weight_limit_gib(facts_of(SEED), roofline) == pytest.approx((82.39 - 0.75 * 12.98) / scale)
    busy = facts_of({**SEED, "decode.token_usage.max": 0.6})
    assert weight_limit_gib(busy, roofline) == pytest.approx((82.39 - 0.9 * 12.98) / scale)
    cold = facts_of(without("start.kv_gib"))
    assert weight_limit_gib(cold, roofline) == pytest.approx(roofline.card.memory_gib * (0.88 - 0.10))


def test_the_added_split_says_what_it_does_to_memory_and_to_prefill() -> None:
    remedy = better_split("PP001", facts_of(SEED), 8, 8)
    assert remedy is not None
    assert remedy.change.env["SGLANG_PP_LAYER_PARTITION"] == "8,8,8,8,8,8,8,5"
    assert "the longest stage takes 3.52 ms of peak bandwidth now" in remedy.title
    assert remedy.risks[0].startswith("the KV pool goes from 1.51 million to 1.77 million tokens")
    assert remedy.risks[1] == "prefill, where layers alone count, stays at 95% of an even split's speed"


def test_traced_times_decide_the_added_split_and_counters_without_graphs_do_not() -> None:
    slow = {"profile.steps": table(*[31] * 8), "profile.busy": table(*[0.4] * 3, 0.9, *[0.4] * 4)}
    traced = better_split("PP001", facts_of({**SEED, **slow, "profile.busy_ms": table(*[10] * 3, 22, *[10] * 4)}), 8, 8)
    assert traced is not None
    layers = [int(part) for part in traced.change.env["SGLANG_PP_LAYER_PARTITION"].split(",")]
    assert layers[3] < 6
    assert sum(layers) == 61
    assert "by the stages' own times (traced: " in traced.title
    # Launch gaps are in a counter's times, and the graphs of the same restart take them away.
    counted = better_split(
        "PP001", facts_of({**SEED, "metrics.forward_busy": table(*[0.4] * 3, 0.9, *[0.4] * 4)}), 8, 8
    )
    assert counted is not None
    assert counted.change.env["SGLANG_PP_LAYER_PARTITION"] == "8,8,8,8,8,8,8,5"


def test_a_pool_that_is_in_use_keeps_layers_from_being_piled_up() -> None:
    # Eight layers of every stage but the last fill 67.2 GiB, and 82.39 - 1.5 x 0.9 x 12.98 GiB leave 64.9 only.
    assert better_split("PP001", facts_of({**SEED, "decode.token_usage.max": 0.9}), 8, 8) is None
