"""CP001: the host sets the pace, and neither eager decode nor empty slots explain it."""

from ppagent.causes.cp001_host_bound import CAUSE
from tests.causes.builders import facts_of, healthy_server, judged, level, seed_case

HOST_BOUND = {
    "args.pp_size": 1,
    "args.tp_size": 1,
    "decode.graph_true_share": 1.0,
    "decode.graph_label": "cuda",
    "metrics.forward_busy": {"PP0": 0.35},
    "metrics.scheduler_cpu": {"PP0": 0.99},
    "metrics.in_flight": 16,
}


def test_a_full_core_and_idle_cards_with_graphs_on_support_it() -> None:
    judgement = judged(CAUSE, HOST_BOUND)
    assert judgement.state == "supported"
    assert any("0.99 of a core" in o.says for o in judgement.because)


def test_the_governor_is_named_where_it_saves_power() -> None:
    remedy = CAUSE.advise(facts_of({**HOST_BOUND, "host.governor": "powersave"})).remedies[0]
    assert remedy.kind == "operator"
    assert "governor" in remedy.title


def test_an_overlap_scheduler_switched_off_by_flag_is_switched_on_again() -> None:
    values = {**HOST_BOUND, "launch.disable_overlap_schedule": True}
    assert judged(CAUSE, values).state == "supported"
    assert CAUSE.advise(facts_of(values)).remedies[0].change.unset == ("--disable-overlap-schedule",)


def test_the_overlap_scheduler_is_always_off_under_a_pipeline_and_says_nothing() -> None:
    values = {"args.pp_size": 8, "launch.disable_overlap_schedule": True, "decode.graph_label": "cuda"}
    assert judged(CAUSE, values).because == ()


def test_a_full_core_alone_proves_nothing_since_the_loop_polls() -> None:
    assert judged(CAUSE, {"args.pp_size": 1, "metrics.scheduler_cpu": {"PP0": 1.0}}).state == "cannot_tell"


def test_busy_cards_refute_it() -> None:
    assert judged(CAUSE, {**HOST_BOUND, "metrics.forward_busy": {"PP0": 0.93}}).state == "refuted"


def test_eager_decode_explains_a_busy_host_by_itself() -> None:
    assert judged(CAUSE, {**HOST_BOUND, "decode.graph_true_share": 0.0}).state != "supported"


def test_cards_that_idle_because_slots_are_empty_say_nothing_about_the_host() -> None:
    values = {
        **HOST_BOUND,
        "args.pp_size": 8,
        "metrics.forward_busy": {f"PP{stage}": 0.12 for stage in range(8)},
        "decode.running_req.p95": 8,
        "bench.levels": [level(8, 90)],
    }
    assert judged(CAUSE, values).state != "supported"


def test_filled_slots_and_idle_cards_support_it_under_a_pipeline() -> None:
    values = {
        **HOST_BOUND,
        "args.pp_size": 8,
        "metrics.forward_busy": {f"PP{stage}": 0.4 for stage in range(8)},
        "decode.running_req.p95": 1,
        "bench.levels": [level(8, 90)],
    }
    assert judged(CAUSE, values).state == "supported"


def test_a_server_without_cuda_is_not_judged() -> None:
    assert judged(CAUSE, {**HOST_BOUND, "decode.graph_label": "cpu"}).state == "cannot_tell"


def test_the_seed_case_refutes_it_and_a_healthy_server_leaves_it_untold() -> None:
    assert judged(CAUSE, seed_case()).state == "refuted"
    judgement = judged(CAUSE, healthy_server())
    assert judgement.state == "cannot_tell"
    assert {probe.tool for probe in judgement.probes} == {"http.metrics", "host.processes"}


def test_a_flag_that_takes_the_graphs_away_counts_without_a_log() -> None:
    judgement = judged(CAUSE, {"args.pp_size": 8, "args.disable_cuda_graph": True})
    assert judgement.state == "refuted"
    assert "--disable-cuda-graph" in judgement.against[0].says
