"""Other TPxPP shapes of a server's cards: priced where one public report lets them be scaled, else said not to be."""

import pytest

from ppagent.changes.shapes import shapes_of
from ppagent.evidence.evidence import FactValue
from tests.causes.builders import facts_of
from tests.causes.test_pool_fit import SEED

Facts = dict[str, FactValue]
BOX: Facts = {**SEED, "args.tp_size": 1, "args.nnodes": 1, "gpu.nvlink": False, "gpu.link_worst": "SYS"}


def test_the_seeds_cards_have_four_shapes_the_present_one_first() -> None:
    found = shapes_of(facts_of(BOX), 8)
    assert [each.name for each in found.shapes] == ["TP1xPP8", "TP2xPP4", "TP4xPP2", "TP8"]
    assert (found.cards, found.alone, found.loaded) == (8, 24.7, 95.6)
    assert found.shapes[-1].alone == pytest.approx((90, 101), abs=1)
    # Every rank keeps the whole latent of an MLA model, so that eight ranks hold a fifth of the pipeline's tokens.
    assert found.shapes[0].kv_tokens == 1_512_448
    assert found.shapes[-1].kv_tokens == pytest.approx(286_000, rel=0.02)


def test_ranks_that_do_not_divide_the_heads_are_no_shape() -> None:
    found = shapes_of(facts_of({**BOX, "model.num_attention_heads": 12}), 8)
    assert [each.tp for each in found.shapes] == [1, 2, 4]


def test_without_a_start_up_log_speeds_are_told_and_the_pool_is_not() -> None:
    found = shapes_of(facts_of({name: value for name, value in BOX.items() if name != "start.kv_gib"}), 8)
    assert len(found.shapes) == 4
    assert {each.kv_tokens for each in found.shapes} == {None}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"gpu.nvlink": True, "gpu.link_worst": "NV18"}, "NVLink joins these"),
        ({"args.nnodes": 2}, "a single host"),
        ({"env.NCCL_P2P_DISABLE": "1"}, "go through host memory"),
        ({"gpu.names": {"0": "a card nobody knows"}}, "the cards must be known"),
        ({"bench.levels": [{"concurrency": 1, "output_throughput": 120.0}]}, "faster than these cards can read"),
    ],
)
def test_where_nothing_is_known_to_scale_from_nothing_is_priced(change: Facts, says: str) -> None:
    found = shapes_of(facts_of({**BOX, **change}), 8)
    assert not found.shapes
    assert says in found.lacking
