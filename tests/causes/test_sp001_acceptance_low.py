"""SP001: drafted tokens that are seldom right."""

from ppagent.causes.sp001_acceptance_low import CAUSE
from tests.causes.builders import facts_of, healthy_server, judged, seed_case

EAGLE = {
    "args.speculative_algorithm": "EAGLE",
    "args.speculative_num_draft_tokens": 8,
    "launch.command": "python -m sglang.launch_server --speculative-algorithm EAGLE --speculative-num-draft-tokens 8",
    "launch.speculative_algorithm": "EAGLE",
    "launch.speculative_num_draft_tokens": 8,
}


def test_an_accept_length_near_one_supports_it() -> None:
    values = {**EAGLE, "decode.accept_len.mean": 1.12, "decode.accept_rate.mean": 0.02}
    judgement = judged(CAUSE, values)
    assert judgement.state == "supported"
    assert "1.12" in judgement.because[0].says


def test_the_remedy_takes_out_every_speculative_flag_of_the_launch() -> None:
    remedies = CAUSE.advise(facts_of({**EAGLE, "decode.accept_len.mean": 1.1})).remedies
    assert remedies[0].change.unset == ("--speculative-algorithm", "--speculative-num-draft-tokens")
    assert remedies[1].change.set["--speculative-num-draft-tokens"] == "2"


def test_two_accepted_tokens_and_more_refute_it() -> None:
    assert judged(CAUSE, {**EAGLE, "decode.accept_len.mean": 2.54}).state == "refuted"


def test_speculation_that_has_stepped_aside_is_not_failing() -> None:
    values = {**EAGLE, "args.speculative_adaptive": True, "decode.accept_len.mean": 1.0}
    assert judged(CAUSE, values).state != "supported"


def test_a_middling_acceptance_stays_open() -> None:
    assert judged(CAUSE, {**EAGLE, "decode.accept_len.mean": 1.7}).state in ("open", "cannot_tell")


def test_no_speculation_refutes_it_in_the_seed_case_and_on_a_healthy_server() -> None:
    for values in (seed_case(), healthy_server()):
        judgement = judged(CAUSE, values)
        assert judgement.state == "refuted"
        assert judgement.against[0].cites


def test_an_unseen_acceptance_is_asked_for() -> None:
    judgement = judged(CAUSE, EAGLE)
    assert judgement.state == "cannot_tell"
    assert judgement.probes[0].tool == "logs.decode"


def test_unknown_arguments_are_asked_for() -> None:
    assert judged(CAUSE, {"decode.lines": 5}).probes[0].tool == "http.info"
