"""LB003: experts over ranks, unevenly used."""

from ppagent.causes.lb003_experts_unbalanced import CAUSE
from tests.causes.builders import facts_of, healthy_server, judged, seed_case

EP = {"args.ep_size": 8, "args.tp_size": 8, "model.num_experts": 256}


def test_a_low_balancedness_supports_it() -> None:
    values = {**EP, "metrics.eplb_balancedness": 0.42}
    assert judged(CAUSE, values).state == "supported"
    change = CAUSE.advise(facts_of(values)).remedies[0].change
    assert change.set == {"--enable-eplb": "true", "--ep-num-redundant-experts": "8"}


def test_even_experts_refute_it_however_long_the_dispatch() -> None:
    assert judged(CAUSE, {**EP, "metrics.eplb_balancedness": 0.93}).state == "refuted"


def test_tensor_parallel_experts_refute_it() -> None:
    assert judged(CAUSE, {"args.ep_size": 1, "args.tp_size": 8, "model.num_experts": 256}).state == "refuted"


def test_an_all_to_all_backend_means_expert_parallelism() -> None:
    judgement = judged(CAUSE, {"args.tp_size": 8, "args.moe_a2a_backend": "deepep"})
    assert judgement.state == "cannot_tell"
    assert judgement.probes[0].tool == "http.metrics"


def test_a_dense_model_refutes_it() -> None:
    judgement = judged(CAUSE, {"model.num_hidden_layers": 32})
    assert judgement.state == "refuted"
    assert "no experts" in judgement.against[0].says


def test_the_seed_case_and_a_healthy_server_refute_it() -> None:
    for values in (seed_case(), healthy_server()):
        assert judged(CAUSE, values).state == "refuted"


def test_a_gauge_that_records_nothing_says_nothing() -> None:
    assert judged(CAUSE, {**EP, "metrics.eplb_balancedness": 0.0}).state == "cannot_tell"
