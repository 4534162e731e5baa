"""Traces that a real SGLang 0.5.23 wrote, two stages on a machine without a card (its operators thinned out)."""

from pathlib import Path

import pytest

from ppagent.profile.choice import Shape, choose, place
from ppagent.profile.reader import read_rank
from ppagent.profile.stages import Pipeline, pipeline_of

FIXTURES = Path(__file__).parent / "fixtures"


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    chosen = choose(("lab", f"traces/{path.name}") for path in sorted(FIXTURES.iterdir()))
    read = []
    for file in chosen.files:
        with (FIXTURES / file.name.removeprefix("traces/")).open("rb") as packed:
            read.append((file, read_rank(packed, file.name)))
    assert [rank.global_rank for _, rank in read] == [0, 1]
    assert {rank.quote for _, rank in read} == {"step[DECODE bs=2]"}
    return pipeline_of(place(read, Shape()).ranks)


def test_a_trace_of_the_host_alone_has_no_kernels(pipeline: Pipeline) -> None:
    assert pipeline.kernels == 0 and pipeline.tally.counted == 0 and pipeline.unread == 0


def test_its_forwards_and_their_modes_are_found(pipeline: Pipeline) -> None:
    assert pipeline.modes == {"DECODE": 40}
    assert pipeline.together
    assert {index: stage.steps for index, stage in pipeline.stages.items()} == {0: 19, 1: 19}
    assert [stage.step_ms for stage in pipeline.stages.values()] == [
        pytest.approx(70.13, abs=0.01),
        pytest.approx(69.96, abs=0.01),
    ]


def test_the_host_s_time_is_told_by_what_the_loop_marks(pipeline: Pipeline) -> None:
    first, last = pipeline.stages[0].host, pipeline.stages[1].host
    assert first["run_batch"] == pytest.approx(0.181, abs=0.001)
    assert first["recv_res_dict_from_prev_stage"] == pytest.approx(0.134, abs=0.001)
    assert "send_proxy_dict_to_next_stage" in first and "send_proxy_dict_to_next_stage" not in last
