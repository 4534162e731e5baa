"""Launch commands as reports have them: gaps for the reader to fill in, variables, options without a program."""

import pytest

from ppagent.sglang.launch.command import parse_launch
from ppagent.targets.pasted import read_pasted
from ppagent.targets.target import Artifact

SERVER = "python3 -m sglang.launch_server"


def launch(text: str) -> str:
    return read_pasted(text).artifacts.get(Artifact.LAUNCH, "")


@pytest.mark.parametrize(
    "options",
    [
        "--model-path <YOUR_MODEL_DIR> --tp 16 --dist-init-addr <YOUR_ADDR> --nnodes 2",
        "--model-path <your model path> --pp-size 8",
        "--model-path $MODEL --tp $TP --pp-size $PP",
        "--tp 8 --model-path $MODEL",
        "--model-path ~/m --lora-paths a=b c=d e=f --pp-size 4",
    ],
)
def test_a_command_of_one_line_is_taken_to_its_last_option(options: str) -> None:
    assert launch(f"{SERVER} {options}") == f"{SERVER} {options}\n"
    assert launch(f"I started {SERVER} {options} and it is slow") == f"{SERVER} {options}\n"


def test_an_option_named_later_in_the_sentence_is_not_the_commands() -> None:
    pasted = read_pasted(f"I started {SERVER} --model-path m --tp 8 but with --pp-size 4 it was faster")
    assert pasted.artifacts[Artifact.LAUNCH] == f"{SERVER} --model-path m --tp 8\n"
    assert "with --pp-size 4 it was faster" in pasted.words


@pytest.mark.parametrize("end", ["> server.log 2>&1 &", "2>&1 | tee --append log", "; tail -f log"])
def test_what_a_shell_does_with_the_output_is_no_option(end: str) -> None:
    assert launch(f"{SERVER} --model-path m --tp 8 {end}") == f"{SERVER} --model-path m --tp 8\n"


def test_options_without_the_program_are_a_launch_where_one_is_sglangs_own() -> None:
    text = "We start it with:\n```\n--tp 8 --dp 8 --enable-dp-attention\n--max-running-requests 256 \\\n```\nslow"
    pasted = read_pasted(text)
    assert pasted.artifacts[Artifact.LAUNCH] == "--tp 8 --dp 8 --enable-dp-attention \\\n  --max-running-requests 256\n"
    assert pasted.words == "We start it with:\nslow"


@pytest.mark.parametrize(
    "text",
    ["--num-prompts 512 --dataset-name random", "--tensor-parallel-size 8 --max-num-seqs 32", "- `--tp 8` was better"],
)
def test_options_of_other_programs_and_of_sentences_are_no_launch(text: str) -> None:
    assert launch(text) == ""


@pytest.mark.parametrize(
    "line",
    [
        "[2025-03-11 16:44:27] [2025-03-11 01:44:27 TP0] Decode batch. #running-req: 5, #queue-req: 0",
        "Decode batch. #running-req: 1010, #token: 55006, #queue-req: 12279",
        "max_running_requests was reduced from requested 128 to 50",
        "KV cache pool is full. Retract requests. #retracted_reqs: 1, #new_token_ratio: 0.0980 -> 0.7070",
    ],
)
def test_a_line_of_the_log_is_one_without_its_time_too(line: str) -> None:
    assert read_pasted(f"See:\n{line}\nwhy?").artifacts[Artifact.SERVER_LOG] == f"{line}\n"


def test_a_sentence_that_quotes_a_line_is_the_users() -> None:
    pasted = read_pasted("It says KV cache pool is full a lot.")
    assert pasted.empty
    assert pasted.words == "It says KV cache pool is full a lot."


def test_the_options_of_a_container_are_a_launch_without_its_image_too() -> None:
    manifest = (
        'spec:\n  containers:\n  - args:\n    - --model-path\n    - m\n    - --max-running-requests\n    - "96"\n'
    )
    pasted = read_pasted(f"With speculation:\n\n{manifest}\nIt is slow.")
    assert pasted.artifacts[Artifact.LAUNCH] == manifest
    assert parse_launch(manifest, None).args == {"model_path": "m", "max_running_requests": 96}
    assert pasted.words == "With speculation:\n\n\nIt is slow."


def test_the_options_of_another_engines_container_are_none() -> None:
    manifest = 'containers:\n- args:\n  - --model\n  - m\n  - --max-num-seqs\n  - "96"\n'
    assert launch(manifest) == ""
