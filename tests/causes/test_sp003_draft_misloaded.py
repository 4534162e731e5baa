"""SP003: the draft is not what was meant."""

from ppagent.causes.sp001_acceptance_low import CAUSE as SP001
from ppagent.causes.sp003_draft_misloaded import CAUSE
from tests.causes.builders import facts_of, healthy_server, judged, seed_case

LOADED_TWICE = {
    "engine.version": "0.5.9",
    "launch.command": "python -m sglang.launch_server --tp-size 8 --speculative-algorithm NEXTN",
    "launch.speculative_algorithm": "NEXTN",
    "start.ready": False,
    "trouble.cuda_oom": 8,
}


def test_nextn_without_its_switch_that_runs_out_of_memory_supports_it() -> None:
    assert judged(CAUSE, LOADED_TWICE).state == "supported"
    assert CAUSE.advise(facts_of(LOADED_TWICE)).remedies[0].change.env == {"SGLANG_ENABLE_SPEC_V2": "True"}


def test_the_users_sum_of_two_copies_supports_it() -> None:
    values = {**LOADED_TWICE, "stated.sentences": ["57 GB x 2 = 114 GB per GPU, so it cannot fit"]}
    assert any("57 GB" in o.says for o in judged(CAUSE, values).because)


def test_with_the_switch_on_out_of_memory_alone_is_no_finding() -> None:
    assert judged(CAUSE, {**LOADED_TWICE, "env.SGLANG_ENABLE_SPEC_V2": "True"}).state != "supported"


def test_newer_versions_are_told_to_name_the_draft() -> None:
    remedy = CAUSE.advise(facts_of({**LOADED_TWICE, "engine.version": "0.5.15"})).remedies[0]
    assert remedy.kind == "operator" and not remedy.change.env


def test_running_out_of_memory_while_serving_is_another_matter() -> None:
    values = {**LOADED_TWICE, "start.ready": True, "decode.lines": 100}
    assert judged(CAUSE, values).state != "supported"


def test_a_draft_that_is_accepted_refutes_it() -> None:
    values = {"launch.speculative_algorithm": "NEXTN", "decode.lines": 90, "decode.accept_len.mean": 2.4}
    assert judged(CAUSE, values).state == "refuted"


def test_a_useless_draft_speaks_for_it_beside_low_acceptance() -> None:
    values = {"args.speculative_algorithm": "EAGLE", "decode.lines": 90, "decode.accept_len.mean": 1.0}
    assert judged(SP001, values).state == "supported"
    assert judged(CAUSE, values).because != ()


def test_no_speculation_refutes_it_in_the_seed_case_and_on_a_healthy_server() -> None:
    for values in (seed_case(), healthy_server()):
        assert judged(CAUSE, values).state == "refuted"


def test_an_unseen_load_is_asked_for() -> None:
    judgement = judged(CAUSE, {"args.speculative_algorithm": "EAGLE", "start.ready": True})
    assert judgement.state == "cannot_tell"
    assert judgement.probes[0].tool == "logs.trouble"
