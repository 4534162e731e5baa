"""What is read from a launch text, in every form it is written in."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st
from launch_samples import ARRAY, CATALOGUE, COMPOSE_ENTRYPOINT, DOCKER_SHELL, FORMS, KUBERNETES, SCRIPT, SYSTEMD

from ppagent.sglang.flags.flag import Catalogue
from ppagent.sglang.launch.command import LaunchCommand, parse_launch
from ppagent.sglang.launch.site import NoLaunchCommand
from ppagent.sglang.launch.spelling import canonical_dest


def read(arguments: str) -> LaunchCommand:
    return parse_launch(f"python -m sglang.launch_server {arguments}", CATALOGUE)


def test_a_script_gives_its_exports_variables_and_list_values() -> None:
    command = parse_launch(SCRIPT, CATALOGUE)
    assert command.env == {"NCCL_DEBUG": "WARN"}
    assert command.program == ("python3", "-m", "sglang.launch_server")
    assert command.args == {
        "model_path": "/models/kimi",
        "pp_size": 8,
        "cuda_graph_bs": [1, 2, 4],
        "disable_cuda_graph": True,
    }


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_model_and_no_leftovers(form: str) -> None:
    command = parse_launch(FORMS[form], CATALOGUE)
    assert str(command.args["model_path"]).endswith(("m", "kimi"))
    assert command.positionals == ()
    assert command.unknown == ()


def test_an_array_is_spliced_in_and_an_unknown_variable_stays_as_written() -> None:
    command = parse_launch(ARRAY, CATALOGUE)
    assert command.args == {"model_path": "m", "tp_size": 2, "port": "$PORT"}
    assert command.options[-1].opaque


def test_a_quoted_script_inside_docker_run_is_read() -> None:
    assert parse_launch(DOCKER_SHELL, CATALOGUE).args == {"model_path": "m", "tp_size": 2}


def test_docker_variables_and_inner_exports_are_both_the_servers() -> None:
    text = "docker run -e A=1 --env=B=2 --label C=3 image sh -c 'export D=4; python -m sglang.launch_server --tp 2'"
    assert parse_launch(text, None).env == {"A": "1", "B": "2", "D": "4"}


def test_a_unit_gives_the_environment_of_its_lines() -> None:
    assert parse_launch(SYSTEMD, CATALOGUE).env == {"HF_HOME": "/data/hf home", "NCCL_DEBUG": "WARN"}


def test_kubernetes_command_and_args_are_one_command() -> None:
    command = parse_launch(KUBERNETES, CATALOGUE)
    assert command.program == ("python3", "-m", "sglang.launch_server")
    assert command.args == {"model_path": "m", "tp_size": 2, "disable_cuda_graph": True}
    assert command.env == {"NCCL_DEBUG": "WARN"}


def test_compose_entrypoint_and_command_are_one_command() -> None:
    assert parse_launch(COMPOSE_ENTRYPOINT, CATALOGUE).args == {"model_path": "m", "tp_size": 2}


@pytest.mark.parametrize(
    "text",
    [
        "env -i A=b python3.12 -u -m sglang.launch_server --tp 4",
        "export A=b; /srv/env/bin/python -m sglang.launch_server --tp 4 2>/dev/null | tee log",
        "A=b exec sglang serve --tp 4 &",
        "cd /srv && A=b python3 sglang/launch_server.py --tp 4; echo done",
        "A=x\nexport A=b\nif true; then python -m sglang.launch_server --tp 4; fi",
        "A=b taskset -c 0-31 python -m sglang.launch_server --tp 4 # --tp 8",
        "ssh box 'A=b python -m sglang.launch_server --tp 4'",
    ],
)
def test_wrappers_redirections_and_comments_are_passed_over(text: str) -> None:
    command = parse_launch(text, CATALOGUE)
    assert command.args == {"tp_size": 4}
    assert command.env == {"A": "b"}
    assert command.positionals == ()


def test_a_variable_set_but_not_exported_does_not_reach_the_server() -> None:
    assert parse_launch("A=b\npython -m sglang.launch_server --tp 4", None).env == {}


def test_the_last_of_a_repeated_flag_counts() -> None:
    assert read("--tp 2 --tp-size 4 --tensor-parallel-size=8").args == {"tp_size": 8}


def test_a_negative_number_is_a_value_and_an_abbreviation_is_completed() -> None:
    command = read("--chunked-prefill-size -1 --mem-frac 0.85")
    assert command.args == {"chunked_prefill_size": -1, "mem_fraction_static": 0.85}
    assert command.options[1].spelling == "--mem-fraction-static"


def test_an_ambiguous_abbreviation_sets_nothing_and_names_what_it_could_be() -> None:
    command = read("--pp 8")
    assert command.args == {}
    assert command.ambiguous[0].candidates == (
        "--pp-size",
        "--pp-max-micro-batch-size",
        "--pp-async-batch-depth",
    )


def test_underscores_and_unknown_flags_are_unknown_and_keep_their_values() -> None:
    command = read("--tp_size 4 --wrong a b --tp 2")
    assert [(option.written, option.values) for option in command.unknown] == [
        ("--tp_size", ("4",)),
        ("--wrong", ("a", "b")),
    ]
    assert command.args == {"tp_size": 2}


def test_words_that_belong_to_no_flag_are_left_over() -> None:
    assert read("--disable-cuda-graph stray --tp 2 3").positionals == ("stray", "3")


def test_words_the_text_does_not_tell_are_kept_apart() -> None:
    command = read('--disable-cuda-graph "$@" $(cat more)')
    assert command.positionals == ()
    assert command.untold == ("$@", "$(cat more)")


def test_json_and_switch_pairs_are_kept_as_argparse_keeps_them() -> None:
    command = read("""--json-model-override-args '{"a": -1}' --disable-metrics --no-numa""")
    assert command.args == {"json_model_override_args": '{"a": -1}', "enable_metrics": False, "numa": False}


def test_a_value_of_the_wrong_type_stays_text() -> None:
    assert read("--tp four").args == {"tp_size": "four"}


def test_without_a_catalogue_spellings_are_brought_together_and_numbers_guessed() -> None:
    command = parse_launch("sglang serve --pp 8 --mem-fraction-static=0.9 --trust-remote-code --tp_size 2", None)
    assert command.args == {"pp_size": 8, "mem_fraction_static": 0.9, "trust_remote_code": True, "tp_size": 2}


def test_serve_takes_the_model_as_its_first_word_from_0_5_16() -> None:
    newer = type(CATALOGUE)("0.5.16", CATALOGUE.flags)
    assert parse_launch("sglang serve m --tp 2", newer).args == {"model_path": "m", "tp_size": 2}
    assert parse_launch("sglang serve m --tp 2", CATALOGUE).positionals == ("m",)


def test_options_alone_are_a_launch_without_a_program() -> None:
    command = parse_launch("--model-path m --tp 2", CATALOGUE)
    assert command.program == ()
    assert command.args["tp_size"] == 2


@pytest.mark.parametrize("text", ["", "vllm serve m --tp 2", "pip install sglang", "kind: Pod\nargs: [a]"])
def test_a_text_that_starts_no_server_says_so(text: str) -> None:
    with pytest.raises(NoLaunchCommand):
        parse_launch(text, None)


def test_flags_are_compared_by_one_spelling() -> None:
    assert {canonical_dest(name) for name in ("--tp", "--tp-size", "tensor_parallel_size")} == {"tp_size"}


@given(st.text(max_size=200))
def test_no_text_makes_the_reader_fail_in_another_way(text: str) -> None:
    try:
        parse_launch(f"python -m sglang.launch_server {text}", CATALOGUE)
    except NoLaunchCommand:
        assert text.strip() != ""


@given(st.lists(st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\r\0"), max_size=12), max_size=6))
def test_words_quoted_by_the_standard_library_come_back(words: list[str]) -> None:
    values = [f"v{word}" for word in words]
    text = f"python -m sglang.launch_server {shlex.join(values)}"
    assert parse_launch(text, CATALOGUE).positionals == tuple(values)


def test_a_gap_for_the_reader_is_a_value_that_nobody_knows() -> None:
    options = "--model-path <MODEL> --tp <N> --dist-init-addr 10.0.0.1:<PORT> --host <your host> --pp-size 8 >log"
    command = parse_launch(f"python -m sglang.launch_server {options}", None)
    assert command.args["pp_size"] == 8
    assert command.args["dist_init_addr"] == "10.0.0.1:<PORT>"
    assert command.args["host"] == "<your host>"
    assert [option.written for option in command.options if option.opaque] == [
        "--model-path", "--tp", "--dist-init-addr", "--host",
    ]  # fmt: skip


@pytest.mark.parametrize("redirections", ["<in >out", "< in > out", "<in>out", "2>&1 <in", "<<< text"])
def test_input_and_output_of_a_shell_are_no_gaps(redirections: str) -> None:
    command = read(f"--model-path m {redirections} --pp-size 8")
    assert command.args == {"model_path": "m", "pp_size": 8}
    assert command.positionals == ()


@pytest.mark.parametrize("catalogue", [None, CATALOGUE])
def test_a_variable_behind_a_value_may_be_more_options(catalogue: Catalogue | None) -> None:
    command = parse_launch("python -m sglang.launch_server --model-path m $EXTRA --pp-size $PP", catalogue)
    assert command.args == {"model_path": "m", "pp_size": "$PP"}
    assert command.untold == ("$EXTRA",)
