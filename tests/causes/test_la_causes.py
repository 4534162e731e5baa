"""LA001-LA004: refused combinations, models without stages, memory that ends while loading, flags by another name."""

import pytest
from builders import facts_of, judged

from ppagent.causes.catalog import cause_of
from ppagent.causes.cause import Cause
from ppagent.causes.flag_history import spelling_for, why_not
from ppagent.evidence.evidence import FactValue
from ppagent.sglang.flags.history import catalogue_of, versions_known
from ppagent.sglang.versions import NEWEST_KNOWN

LA001, LA002, LA003, LA004 = cause_of("LA001"), cause_of("LA002"), cause_of("LA003"), cause_of("LA004")
FAILED: dict[str, FactValue] = {"start.ready": False, "engine.version": "0.5.10"}


def relaunch(cause_id: str, values: dict[str, FactValue]) -> tuple[dict[str, str], tuple[str, ...], dict[str, str]]:
    change = cause_of(cause_id).advise(facts_of(values)).remedies[0].change
    return dict(change.set), change.unset, dict(change.env)


@pytest.mark.parametrize("cause", [LA001, LA002, LA003, LA004], ids=lambda cause: cause.id)
def test_a_server_that_came_up_was_not_refused(cause: Cause) -> None:
    up = {"args.pp_size": 8, "start.ready": True, "trouble.value_error": 1, "trouble.value_error.message": "bad prompt"}
    assert judged(cause, up).state == "refuted"


@pytest.mark.parametrize("cause", [LA001, LA002, LA003, LA004], ids=lambda cause: cause.id)
def test_nothing_known_of_the_start_cannot_be_told(cause: Cause) -> None:
    judgement = judged(cause, {"args.pp_size": 8})
    assert judgement.state == "cannot_tell" and judgement.probes[0].tool == "logs.trouble"


CONFLICT = FAILED | {
    "args.pp_size": 4,
    "args.enable_mixed_chunk": True,
    "trouble.pp_flag_conflict": 1,
    "trouble.pp_flag_conflict.features": "overlap schedule, speculative decoding, mixed chunked prefill.",
}


def test_of_the_features_a_message_lists_the_one_in_use_is_taken_back() -> None:
    assert judged(LA001, CONFLICT).state == "supported"
    assert relaunch("LA001", CONFLICT) == ({}, ("--enable-mixed-chunk",), {})


def test_speculation_with_stages_is_allowed_by_variable_from_0_5_21() -> None:
    newer = FAILED | {
        "engine.version": "0.5.23",
        "args.pp_size": 4,
        "args.speculative_algorithm": "EAGLE",
        "trouble.assertion": 1,
        "trouble.assertion.message": "PP + speculative decoding (MTP) is only supported on prefill nodes",
    }
    assert judged(LA001, newer).state == "supported"
    assert relaunch("LA001", newer) == ({}, (), {"SGLANG_ENABLE_PP_SPEC": "1"})
    set_, unset, env = relaunch("LA001", newer | {"engine.version": "0.5.10"})
    assert "--speculative-algorithm" in unset and not env and not set_


def test_a_chunk_that_no_page_divides_is_rounded_down() -> None:
    values = FAILED | {
        "args.chunked_prefill_size": 8092,
        "args.page_size": 64,
        "trouble.assertion": 1,
        "trouble.assertion.message": "chunked_prefill_size must be divisible by page_size",
    }
    assert judged(LA001, values).state == "supported"
    assert relaunch("LA001", values)[0] == {"--chunked-prefill-size": "8064"}


def test_a_partition_that_does_not_add_up_is_replaced_by_one_that_does() -> None:
    values = FAILED | {"args.pp_size": 8, "model.num_hidden_layers": 61, "trouble.layer_partition_error": 1}
    assert judged(LA001, values).state == "supported"
    assert relaunch("LA001", values)[2] == {"SGLANG_PP_LAYER_PARTITION": "7,7,7,8,8,8,8,8"}


def test_one_end_of_a_start_refutes_the_others() -> None:
    ends = {"LA001": "pp_flag_conflict", "LA002": "pp_model_unsupported", "LA003": "cuda_oom"}
    ends |= {"LA004": "flag_ambiguous"}
    for own, kind in ends.items():
        values = FAILED | {"args.pp_size": 4, f"trouble.{kind}": 1}
        states = {cause_id: judged(cause_of(cause_id), values).state for cause_id in ends}
        assert states == {cause_id: "supported" if cause_id == own else "refuted" for cause_id in ends}


def test_a_known_refusal_counts_without_any_line_of_the_start() -> None:
    bare = {"trouble.assertion": 1, "trouble.assertion.message": "chunked_prefill_size must be divisible by page_size"}
    assert judged(LA001, bare).state == "supported"
    assert judged(LA001, bare | {"trouble.assertion.message": "something odd"}).state != "supported"


def test_an_unknown_assertion_is_passed_on_in_its_words() -> None:
    values = FAILED | {"trouble.assertion": 1, "trouble.assertion.message": "weights are cursed"}
    judgement = judged(LA001, values)
    assert "weights are cursed" in judgement.because[0].says
    assert "weights are cursed" in LA001.advise(facts_of(values)).remedies[0].title


NO_STAGES = FAILED | {
    "args.pp_size": 2,
    "args.tp_size": 8,
    "model.architectures": ["KimiK25ForConditionalGeneration"],
    "model.num_attention_heads": 64,
    "trouble.pp_model_unsupported": 16,
}


def test_a_model_without_stages_is_named_with_tensor_parallelism_as_a_way() -> None:
    judgement = judged(LA002, NO_STAGES)
    assert judgement.state == "supported" and "KimiK25ForConditionalGeneration" in judgement.because[0].says
    advice = LA002.advise(facts_of(NO_STAGES))
    assert advice.remedies[1].change.set == {"--tp-size": "16", "--pp-size": "1"} and advice.remedies[1].alone


def test_heads_that_do_not_divide_leave_only_another_version() -> None:
    odd = NO_STAGES | {"args.tp_size": 1, "args.pp_size": 24}
    assert [r.kind for r in LA002.advise(facts_of(odd)).remedies] == ["operator"]


def test_one_stage_needs_no_support() -> None:
    assert judged(LA002, FAILED | {"args.pp_size": 1, "args.tp_size": 8}).state == "refuted"


def test_memory_that_ends_before_the_ready_line_is_a_load_that_does_not_fit() -> None:
    values = FAILED | {
        "args.pp_size": 4,
        "trouble.cuda_oom": 1,
        "trouble.cuda_oom.total": "94.97 GiB",
        "start.weights_gib": {"PP0": 92.0, "PP1": 92.5, "PP2": 92.1, "PP3": 92.0},
    }
    judgement = judged(LA003, values)
    assert judgement.state == "supported" and any("92.5 GiB of weights on PP1" in o.says for o in judgement.because)
    assert "at least 6 stages" in LA003.advise(facts_of(values)).remedies[0].title


def test_a_pool_without_room_gets_a_larger_fraction_that_fits_the_weights() -> None:
    values = FAILED | {
        "args.mem_fraction_static": 0.8,
        "trouble.not_enough_memory": 1,
        "start.weights_gib": {"PP0": 70.0},
        "gpu.memory_total_mib": {"0": 81920},
    }
    assert judged(LA003, values).state == "supported"
    assert relaunch("LA003", values)[0] == {"--mem-fraction-static": "0.94"}


def test_a_model_that_drafts_for_itself_is_loaded_once_with_the_variable_of_its_versions() -> None:
    values = FAILED | {
        "engine.version": "0.5.9",
        "args.speculative_algorithm": "EAGLE",
        "args.model_path": "glm-5",
        "trouble.cuda_oom": 1,
        "trouble.draft_loaded": 1,
    }
    assert judged(LA003, values).state == "supported"
    assert relaunch("LA003", values)[2] == {"SGLANG_ENABLE_SPEC_V2": "True"}
    later = LA003.advise(facts_of(values | {"engine.version": "0.5.14"})).remedies
    assert all("SGLANG_ENABLE_SPEC_V2" not in r.change.env for r in later)


def test_uneven_stages_are_evened_out_rather_than_multiplied() -> None:
    values = FAILED | {
        "args.pp_size": 4,
        "trouble.cuda_oom": 1,
        "gpu.memory_total_mib": {"0": 98304},
        "start.weights_gib": {"PP0": 60.0, "PP1": 60.0, "PP2": 60.0, "PP3": 94.0},
    }
    assert "SGLANG_PP_LAYER_PARTITION" in LA003.advise(facts_of(values)).remedies[0].title


def test_a_failed_capture_is_another_cause() -> None:
    assert judged(LA003, FAILED | {"trouble.cuda_oom": 1, "trouble.capture_failed": 1}).state == "refuted"


def test_out_of_memory_in_a_log_of_unknown_stage_is_not_enough() -> None:
    assert judged(LA003, {"trouble.cuda_oom": 1}).state != "supported"


RENAMED = FAILED | {
    "launch.command": "python -m sglang.launch_server --model-path m --pp-size 8 --max-micro-batch-size 2",
    "launch.unknown": ["--max-micro-batch-size"],
    "trouble.flag_unrecognized": 1,
    "trouble.flag_unrecognized.arguments": "--max-micro-batch-size 2",
}


def test_a_renamed_flag_is_written_in_this_version_s_name_with_its_value() -> None:
    judgement = judged(LA004, RENAMED)
    assert judgement.state == "supported" and "--max-micro-batch-size" in judgement.because[0].says
    assert relaunch("LA004", RENAMED) == ({"--pp-max-micro-batch-size": "2"}, ("--max-micro-batch-size",), {})


def test_without_a_version_no_name_is_said_to_be_of_the_version_that_runs() -> None:
    values = {name: value for name, value in RENAMED.items() if name != "engine.version"}
    (renamed,) = LA004.advise(facts_of(values)).remedies
    assert renamed.title.endswith(f"its name in SGLang {NEWEST_KNOWN}, the one taken since none is named")
    gone = values | {"launch.unknown": [], "trouble.flag_unrecognized.arguments": "--enable-ep-moe"}
    (removed,) = LA004.advise(facts_of(gone)).remedies
    assert removed.title.startswith("Start without --enable-ep-moe, which argparse refuses: 0.5.4 was the last")


def test_an_abbreviation_that_became_ambiguous_is_written_in_full() -> None:
    values = FAILED | {
        "launch.command": "sglang serve m --pp 8",
        "launch.ambiguous": ["--pp"],
        "trouble.flag_ambiguous": 1,
        "trouble.flag_ambiguous.option": "--pp",
        "trouble.flag_ambiguous.candidates": "--pp-size, --pp-max-micro-batch-size, --pp-async-batch-depth",
    }
    assert judged(LA004, values).state == "supported"
    assert relaunch("LA004", values) == ({"--pp-size": "8"}, ("--pp",), {})


def test_a_flag_from_a_later_version_is_dropped_and_its_first_version_named() -> None:
    values = {"start.ready": False, "engine.version": "0.5.5", "launch.unknown": ["--pp-async-batch-depth"]}
    assert judged(LA004, values).state == "supported"
    remedy = LA004.advise(facts_of(values)).remedies[0]
    assert remedy.change.unset == ("--pp-async-batch-depth",) and "from 0.5.7 on" in remedy.title


def test_a_value_that_left_the_choices_is_shown_with_them() -> None:
    values = FAILED | {
        "trouble.flag_invalid_choice": 1,
        "trouble.flag_invalid_choice.argument": "--attention-backend",
        "trouble.flag_invalid_choice.value": "'nsa'",
        "trouble.flag_invalid_choice.choices": "'triton', 'dsa', 'fa3'",
    }
    assert judged(LA004, values).state == "supported"
    assert "'dsa'" in LA004.advise(facts_of(values)).remedies[0].title


def test_a_command_the_catalogue_takes_whole_is_not_the_fault() -> None:
    assert judged(LA004, FAILED | {"launch.command": "sglang serve m --pp-size 8"}).state == "refuted"
    assert judged(LA004, {"start.ready": False, "launch.command": "sglang serve m"}).state == "cannot_tell"


@pytest.mark.parametrize(
    ("option", "version", "written"),
    [
        ("--cuda-graph-max-bs", "0.5.20", "--cuda-graph-max-bs-decode"),
        ("--cuda-graph-max-bs-decode", "0.5.10", "--cuda-graph-max-bs"),
        ("--pp-max-micro-batch-size", "0.5.3", "--max-micro-batch-size"),
        ("--enable-deepep-moe", "0.5.10", "--moe-a2a-backend"),
        ("--max-micro-batch-size", "0.5.3.post1", "--pp-max-micro-batch-size"),
        ("--max-micro-batch-size", "0.5.3", None),
        ("--pp", "0.5.3.post1", "--pp-size"),
        ("--pp", "0.5.3", None),
        ("--enable-ep-moe", "0.5.10", None),
        ("--pp-async-batch-depth", "0.5.6", None),
    ],
)
def test_names_are_known_both_ways(option: str, version: str, written: str | None) -> None:
    rename = spelling_for(option, catalogue_of(version))
    assert (rename.new if rename else None) == written


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--enable-deepep-moe", "deepep"),
        ("--enable-flashinfer-cutlass-moe", "flashinfer_cutlass"),
        ("--enable-flashmla", "flashmla"),
    ],
)
def test_a_switch_that_became_a_choice_gets_its_value(option: str, value: str) -> None:
    rename = spelling_for(option, catalogue_of("0.5.20"))
    assert rename is not None and rename.value == value


def test_every_name_that_is_offered_is_one_that_the_version_takes() -> None:
    everything = {spelling for version in versions_known() for spelling in catalogue_of(version).by_spelling}
    for version in versions_known()[::6]:
        catalogue = catalogue_of(version)
        for option in everything:
            rename = spelling_for(option, catalogue)
            if rename is not None:
                assert not catalogue.by_spelling[rename.new].stops_with, (option, version)


def test_a_dropped_flag_says_what_took_its_place() -> None:
    assert "--ep-size" in why_not("--enable-ep-moe", catalogue_of("0.5.10"))
    assert why_not("--prefill-max-requests", catalogue_of("0.5.10")) == ""
    assert why_not("--prefill-max-requests", catalogue_of("0.5.6")) == "it exists from 0.5.7 on"
    assert why_not("--torchao-config", catalogue_of("0.5.20")) == "the feature was taken out"
    assert why_not("--fp8-gemm-backend", catalogue_of("0.5.6")) == "it exists from 0.5.6.post2 on"


def test_the_installed_source_decides_what_a_flag_is_called() -> None:
    own = {"name": "--max-micro-batch-size", "dest": "pp_max_micro_batch_size", "type": "int"}
    gone = [{"name": "--pp-max-micro-batch-size"}]
    told: FactValue = {"version": "0.5.10", "release": "0.5.10", "from": "source", "added": [own], "removed": gone}
    patched = {**FAILED, "launch.unknown": ["--pp-max-micro-batch-size"], "source.flags": told}
    assert relaunch("LA004", patched)[0] == {"--max-micro-batch-size": "true"}
