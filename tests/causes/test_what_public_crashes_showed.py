"""Signals that public reports of crashes needed, each with its look-alike."""

import pytest
from builders import facts_of, judged

from ppagent.causes.catalog import cause_of
from ppagent.causes.situation import stages
from ppagent.evidence.evidence import FactValue

ECC = "uncorrectable ECC error encountered"


@pytest.mark.parametrize(
    ("reason", "state"),
    [(ECC, "supported"), ("an illegal memory access was encountered", "cannot_tell")],
)
def test_a_card_fault_that_cuda_reports_is_a_failing_card(reason: str, state: str) -> None:
    values: dict[str, FactValue] = {"trouble.cuda_error": 1, "trouble.cuda_error.reason": reason}
    assert judged(cause_of("HW004"), values).state == state


def test_no_room_for_a_pool_is_out_of_memory_at_load_even_of_a_log_without_a_start() -> None:
    pool: dict[str, FactValue] = {"trouble.not_enough_memory": 1}
    assert judged(cause_of("LA003"), pool).state == "supported"
    assert judged(cause_of("LA003"), {"trouble.cuda_oom": 1}).state != "supported"


def test_memory_that_ended_in_the_running_loop_did_not_end_at_load() -> None:
    values: dict[str, FactValue] = {"trouble.cuda_oom": 1, "trouble.raised_at_work": 1}
    assert judged(cause_of("LA003"), values).state == "refuted"
    values = {"trouble.cuda_oom": 1, "trouble.raised_at_start": 1}
    assert judged(cause_of("LA003"), values).state == "supported"


def test_an_assertion_in_the_running_loop_is_no_refused_flag() -> None:
    failed: dict[str, FactValue] = {"trouble.assertion": 1, "trouble.assert_line": 1}
    condition = {"trouble.assert_line.condition": "logits.shape[0] == len(lens)"}
    assert judged(cause_of("LA001"), failed | condition | {"trouble.raised_at_work": 1}).state == "refuted"


def test_an_assertion_that_sizes_must_divide_is_a_refused_combination() -> None:
    values: dict[str, FactValue] = {
        "trouble.assertion": 1,
        "trouble.assert_line": 1,
        "trouble.assert_line.condition": "self.num_experts % self.tp_size == 0",
        "trouble.raised_at_start": 1,
    }
    assert judged(cause_of("LA001"), values).state == "supported"


def test_the_fraction_that_the_message_names_is_the_one_that_is_raised() -> None:
    said: dict[str, FactValue] = {"trouble.not_enough_memory": 1, "trouble.not_enough_memory.fraction": "0.2"}
    (remedy, *_) = cause_of("LA003").advise(facts_of(said)).remedies
    assert remedy.change.set == {"--mem-fraction-static": "0.85"}
    (remedy, *_) = cause_of("LA003").advise(facts_of(said | {"trouble.not_enough_memory.fraction": "0.88"})).remedies
    assert remedy.change.set == {"--mem-fraction-static": "0.91"}


def failed_capture(message: str) -> dict[str, FactValue]:
    return {"trouble.capture_failed": 1, "trouble.capture_failed.message": message}


def test_a_capture_that_lost_its_peer_is_not_the_fault_itself() -> None:
    lost = judged(cause_of("CG005"), failed_capture("[gloo/transport/tcp/pair.cc:534] Connection closed by peer"))
    assert lost.state != "supported"
    assert judged(cause_of("CG005"), failed_capture("CUDA out of memory. Tried to allocate 1 GiB")).state == "supported"


@pytest.mark.parametrize(
    ("message", "change"),
    [
        ("CUDA out of memory. Tried to allocate 448.00 MiB. GPU 7 has", {"--cuda-graph-max-bs-decode": "8"}),
        ("custom_all_reduce.cuh:455 'invalid argument'", {"--disable-custom-all-reduce": "true"}),
        ("no kernel image is available for execution", {}),
    ],
)
def test_fewer_sizes_are_the_cure_of_a_capture_only_where_memory_ended(message: str, change: dict[str, str]) -> None:
    (remedy,) = cause_of("CG005").advise(facts_of(failed_capture(message))).remedies
    assert remedy.change.set == change


def test_unequal_memory_that_ended_the_start_is_proof_and_a_warning_of_it_is_not() -> None:
    warned: dict[str, FactValue] = {"trouble.unbalanced_memory": 1}
    assert judged(cause_of("HW003"), warned).state != "supported"
    assert judged(cause_of("HW003"), warned | {"trouble.unbalanced_memory.raised": "ValueError"}).state == "supported"


def test_a_draft_of_the_targets_class_is_a_misloaded_draft_and_its_cure_is_to_name_one() -> None:
    values: dict[str, FactValue] = {
        "trouble.draft_is_target": 1,
        "trouble.draft_is_target.model": "Qwen2ForCausalLM",
        "launch.speculative_algorithm": "EAGLE3",
    }
    judgement = judged(cause_of("SP003"), values)
    assert judgement.state == "supported"
    assert judgement.because[0].says == "Qwen2ForCausalLM was loaded as the draft and is none"
    named, plain = cause_of("SP003").advise(facts_of(values)).remedies
    assert "--speculative-draft-model-path" in named.title
    assert "--speculative-algorithm" in plain.change.unset


WAITS: dict[str, FactValue] = {"trouble.stage_waits": 2, "log.lines": 30}
HANGS: dict[str, FactValue] = {"stated.sentences": ["It hangs with pipeline parallelism during the warm-up."]}


def test_a_stack_that_waits_for_hidden_states_is_a_hang_where_the_user_says_so() -> None:
    waits = WAITS | {"trouble.stage_waits.call": ["event_loop_pp", "_pp_recv_proxy_tensors"]}
    assert judged(cause_of("PP008"), waits | HANGS).state == "supported"
    assert judged(cause_of("PP008"), waits).state != "supported"
    idle = WAITS | {"trouble.stage_waits.call": "_pp_recv_pyobj_from_prev_stage"}
    assert judged(cause_of("PP008"), idle | HANGS).state != "supported"


def test_what_a_watchdog_wrote_of_two_stages_is_a_hang_without_a_launch_command() -> None:
    dump: dict[str, FactValue] = {"trouble.watchdog_dump": 2, "trouble.watchdog_dump.ranks": ["PP1", "PP2"]}
    assert judged(cause_of("PP008"), dump | HANGS | {"log.lines": 8}).state == "supported"
    plain: dict[str, FactValue] = {"trouble.watchdog_timeout": 1, "log.lines": 8}
    assert judged(cause_of("PP008"), plain | HANGS).because == ()


def test_a_line_of_arguments_that_was_cut_does_not_tell_what_was_left_at_its_default() -> None:
    whole: dict[str, FactValue] = {"args.model_path": "/m/QwQ-32B"}
    known = stages(facts_of(whole))
    assert known is not None and known.value == 1
    assert stages(facts_of(whole | {"start.args_cut": True})) is None
    answered = stages(facts_of(whole | {"start.args_cut": True, "internal.slot_limit": 8}))
    assert answered is not None and answered.value == 1


@pytest.mark.parametrize(
    ("frame", "change"),
    [(["load_model", "init_cuda_graphs"], {}), ("register_graph_buffers", {"--disable-custom-all-reduce": "true"})],
)
def test_a_traceback_that_was_in_capture_is_a_failed_capture(frame: FactValue, change: dict[str, str]) -> None:
    values: dict[str, FactValue] = {"trouble.raised_at_start": 3, "trouble.raised_at_start.frame": frame}
    assert judged(cause_of("CG005"), values).state == "supported"
    (remedy,) = cause_of("CG005").advise(facts_of(values)).remedies
    assert remedy.change.set == change
    elsewhere = values | {"trouble.raised_at_start.frame": "load_model"}
    assert judged(cause_of("CG005"), elsewhere).state != "supported"


def test_a_call_of_the_capture_in_a_traceback_is_enough() -> None:
    called: dict[str, FactValue] = {"trouble.raised_at_start": 2, "trouble.raised_at_start.call": "init_cuda_graphs"}
    assert judged(cause_of("CG005"), called).state == "supported"
