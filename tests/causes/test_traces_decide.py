"""What a profiler trace settles, and where it must not be taken for more than it is."""

import pytest
from builders import facts_of, healthy_server, judged, level

from ppagent.causes.catalog import cause_of
from ppagent.causes.cause import Observation
from ppagent.causes.fill import fill_readings
from ppagent.causes.judge import Judgement
from ppagent.evidence.evidence import FactValue

Facts = dict[str, FactValue]


def table(*values: float) -> FactValue:
    return {f"PP{stage}": value for stage, value in enumerate(values)}


def traced(busy: tuple[float, ...], inside: float = 0.01, scheduling: float = 0.01, **more: FactValue) -> Facts:
    """A trace of graph steps of a pipeline."""
    count = len(busy)
    return {
        "args.pp_size": count,
        "profile.kernels": 90_000,
        "profile.steps": table(*[31] * count),
        "profile.busy": table(*busy),
        "profile.gap_inside": table(*[inside] * count),
        "profile.gap_scheduling": table(*[scheduling] * count),
        "profile.gap_outside": table(*(max(scheduling, 0.9 - b - inside) for b in busy)),
        "profile.graph_steps": 31 * count,
        "profile.eager_steps": 0,
        "profile.graph_step_share": 1.0,
        "profile.modes_told": True,
        **more,
    }


EAGER: Facts = {
    "profile.graph_steps": 0,
    "profile.eager_steps": 124,
    "profile.graph_step_share": 0.0,
    "profile.launches_per_step": 700.0,
}


def of_trace(judgement: Judgement) -> list[Observation]:
    return [o for o in (*judgement.because, *judgement.against) if "profile" in o.cites]


def test_a_slow_stage_in_the_trace_is_an_uneven_pipeline_and_no_unfilled_one() -> None:
    facts = traced((0.43, 0.42, 0.97, 0.41)) | {"bench.levels": [level(32, 330)]}
    assert judged(cause_of("PP004"), facts).state == "supported"
    assert judged(cause_of("PP001"), facts).state == "refuted"
    (reading,) = fill_readings(facts_of(facts))
    assert reading.share == 1 and "PP2 98% of the time" in reading.says


def test_even_stages_in_the_trace_refute_an_uneven_pipeline() -> None:
    assert judged(cause_of("PP004"), traced((0.9, 0.91, 0.9, 0.89))).state == "refuted"


def test_one_stage_at_work_at_a_time_is_a_ring_that_is_not_filled() -> None:
    facts = traced((0.24, 0.24, 0.25, 0.24)) | {"bench.levels": [level(8, 95)]}
    judgement = judged(cause_of("PP001"), facts)
    assert judgement.state == "supported"
    (seen,) = of_trace(judgement)
    assert "1.0 of 4 stages are at work" in seen.says


def test_one_request_keeps_one_stage_at_work_and_that_is_all_there_is_to_fill() -> None:
    facts = traced((0.24, 0.24, 0.25, 0.24)) | {"bench.levels": [level(1, 24)]}
    assert judged(cause_of("PP001"), facts).state != "supported"


def test_filled_stages_that_all_wait_alike_expose_the_way_back() -> None:
    filled: Facts = {"bench.levels": [level(16, 400)], "decode.running_req.p95": 4, "decode.running_req.max": 4}
    facts = traced((0.68, 0.69, 0.7, 0.69)) | filled
    assert judged(cause_of("PP007"), facts).state == "supported"
    assert judged(cause_of("PP007"), traced((0.95, 0.94, 0.95, 0.95)) | filled).state == "refuted"
    assert judged(cause_of("PP007"), traced((0.4, 0.4, 0.9, 0.4)) | filled).state == "refuted"


def test_a_return_path_that_is_still_open_asks_for_a_trace_and_no_more_once_there_is_one() -> None:
    without: Facts = {"args.pp_size": 4}
    assert [probe.tool for probe in judged(cause_of("PP007"), without).probes] == ["profile.take"]
    assert judged(cause_of("PP007"), traced((0.68, 0.69, 0.7, 0.69))).probes == ()


def test_cards_that_idle_while_the_host_schedules_are_held_by_it_however_few_slots_are_filled() -> None:
    for busy, scheduling in (((0.3,) * 4, 0.4), ((0.08,) * 4, 0.12)):
        (seen,) = of_trace(judged(cause_of("CP001"), traced(busy, scheduling=scheduling)))
        assert seen.supports
    (seen,) = of_trace(judged(cause_of("CP001"), traced((0.24,) * 4)))
    assert not seen.supports


def test_launches_without_graphs_are_not_blamed_on_the_scheduler() -> None:
    facts = traced((0.3,) * 4, inside=0.5) | EAGER
    judgement = judged(cause_of("CP001"), facts)
    assert not any(o.supports for o in of_trace(judgement))


def test_a_trace_alone_shows_that_decode_runs_without_graphs() -> None:
    facts = traced((0.3,) * 4, inside=0.5) | EAGER
    judgement = judged(cause_of("CG001"), facts)
    (seen,) = of_trace(judgement)
    assert seen.supports and "700 launches each" in seen.says
    flagged = facts | {"launch.command": "python -m sglang.launch_server", "launch.disable_cuda_graph": True}
    assert judged(cause_of("CG001"), flagged).state == "supported"


def test_graphs_in_the_trace_speak_against_switched_off_graphs() -> None:
    assert judged(cause_of("CG001"), traced((0.9,) * 4)).state == "refuted"


def test_the_log_and_the_trace_are_two_witnesses() -> None:
    facts = healthy_server() | traced((0.9,)) | {"args.pp_size": 1}
    cites = [o.cites for o in judged(cause_of("CG001"), facts).against]
    assert ("decode",) in cites and ("profile",) in cites


@pytest.mark.parametrize(
    "doubt",
    [
        {"profile.modes_told": False},
        {"profile.eager_steps": 5},
    ],
)
def test_a_few_forwards_or_ones_that_may_be_prefills_say_nothing_of_decode_graphs(doubt: Facts) -> None:
    assert of_trace(judged(cause_of("CG001"), traced((0.3,) * 4) | EAGER | doubt)) == []


def test_graphs_that_are_there_count_even_where_prefills_are_not_told_apart() -> None:
    facts = traced((0.9,) * 4) | {"profile.modes_told": False, "profile.graph_step_share": 0.6}
    (seen,) = of_trace(judged(cause_of("CG001"), facts))
    assert not seen.supports


OUTGROWN: Facts = {
    "args.tp_size": 1,
    "start.graph_sizes": [1, 2, 4, 8, 16, 32],
    "start.graph_captured": True,
    "start.ready": True,
    "launch.command": "python -m sglang.launch_server --model m",
    "decode.running_req.p95": 28,
    "decode.running_req.max": 29,
    "decode.graph_true_share": 1.0,
    "profile.eager_batch_min": 48,
    "profile.eager_batch_max": 61,
    "profile.eager_steps": 24,
    "profile.graph_steps": 0,
    "profile.graph_step_share": 0.0,
    "profile.modes_told": True,
}


def test_traced_batches_above_the_captured_ones_outweigh_the_log_of_a_quieter_time() -> None:
    judgement = judged(cause_of("CG002"), OUTGROWN)
    assert judgement.state == "supported"
    (remedy,) = judgement.cause.advise(facts_of(OUTGROWN)).remedies
    assert remedy.change.set == {"--cuda-graph-max-bs-decode": "64"}
    assert judged(cause_of("CG001"), OUTGROWN).state == "refuted"


def test_eager_batches_that_were_captured_are_no_question_of_size() -> None:
    small = OUTGROWN | {"profile.eager_batch_min": 4, "profile.eager_batch_max": 8}
    assert judged(cause_of("CG002"), small).state == "refuted"


@pytest.mark.parametrize(
    "lack",
    [
        {"args.pp_size": 8},
        {"profile.steps": table(31, 31, 31, 3)},
        {"profile.busy": table(0.3, 0.3)},
    ],
)
def test_stages_that_were_not_traced_or_hardly_say_nothing(lack: Facts) -> None:
    facts = traced((0.24, 0.24, 0.9, 0.24)) | {"bench.levels": [level(8, 95)]} | lack
    assert fill_readings(facts_of(facts)) == ()
    for cause in ("PP001", "PP004", "PP007", "CP001"):
        assert of_trace(judged(cause_of(cause), facts)) == []


def test_a_trace_of_the_host_alone_decides_nothing() -> None:
    host: Facts = {"args.pp_size": 4, "profile.kernels": 0, "profile.steps": table(19, 19, 19, 19)}
    for cause in ("PP001", "PP004", "PP007", "CP001", "CG001", "CG002"):
        assert of_trace(judged(cause_of(cause), host)) == []
