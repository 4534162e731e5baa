import pytest
from model_samples import LLAMA_8B, kimi_roofline, rtx_pro_6000

from ppagent.model.architecture import read_architecture
from ppagent.model.other_axis import one_request
from ppagent.model.roofline import Roofline


def test_no_pipeline_setting_passes_54_and_eight_ranks_do_90_to_100_for_the_seed() -> None:
    found = one_request(kimi_roofline(), 8)
    # By hand: 33.0 GB at 1.792 TB/s are 18.4 ms. Over eight cards 2.30 ms and 122 all-reduces of 24 us, so 191 tok/s.
    assert found.gigabytes == pytest.approx(33.0, abs=0.1)
    assert found.pipeline_most == pytest.approx(54, abs=3)
    assert found.tensor == pytest.approx((90, 101), abs=1)
    assert found.tensor_poorly == pytest.approx((32, 44), abs=1)


def test_ranks_in_a_stage_add_their_bandwidth_to_the_pipelines_bound() -> None:
    dense = read_architecture(LLAMA_8B)
    alone, pairs = (Roofline(dense, rtx_pro_6000(), tp) for tp in (1, 2))
    assert one_request(pairs, 8).pipeline_most == pytest.approx(2 * one_request(alone, 8).pipeline_most)
    assert one_request(pairs, 8).tensor == pytest.approx(one_request(alone, 8).tensor)
