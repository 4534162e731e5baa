"""ppagent check: verdict, what to write instead, exit status."""

import argparse
import json
from io import StringIO
from pathlib import Path

import pytest

from ppagent.cli import check
from ppagent.cli.main import main
from ppagent.errors import ExitStatus, UserError

REFUSED = "python -m sglang.launch_server --model-path m --pp 8 --disable-overlap-schedule"
TAKEN = "python -m sglang.launch_server --model-path m --pp-size 8 --disable-overlap-schedule"


def run(*words: str) -> int:
    parser = argparse.ArgumentParser()
    check.add_arguments(parser)
    return check.run(parser.parse_args(list(words)))


def record(root: Path, host: str, **files: str) -> None:
    folder = root / "hosts" / host
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)


def test_a_refused_command_says_what_to_write(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(REFUSED, "--version", "0.5.10") == 1
    printed = capsys.readouterr().out
    assert printed.startswith("SGLang 0.5.10 refuses this launch command.\n")
    assert "         write: --pp-size 8\n" in printed
    *told, whole = printed.rstrip().splitlines()
    assert max(len(line) for line in told) <= 80
    assert whole == TAKEN.replace("--pp-size 8 --disable-overlap-schedule", "--disable-overlap-schedule --pp-size 8")


def test_a_command_that_lost_its_backslashes_is_checked_to_its_end(capsys: pytest.CaptureFixture[str]) -> None:
    lines = "python -m sglang.launch_server\n  --model-path m --pp-size 2\n  --tp-sise 4"
    assert run(lines, "--version", "0.5.10") == 1
    printed = capsys.readouterr().out
    assert "has no flag --tp-sise" in printed
    assert "--model-path is required" not in printed


def test_a_variable_that_allows_an_option_is_written_beside_it(capsys: pytest.CaptureFixture[str]) -> None:
    wanted = "python -m sglang.launch_server --model-path m --pp-size 4 --speculative-algorithm EAGLE"
    assert run(wanted, "--version", "0.5.23") == 1
    assert capsys.readouterr().out.rstrip().splitlines()[-1] == f"SGLANG_ENABLE_PP_SPEC=1 {wanted}"


def test_an_accepted_command_exits_with_nought(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(TAKEN, "--version", "v0.5.10") == 0
    assert capsys.readouterr().out == "SGLang 0.5.10 accepts this launch command.\n"


def test_json_is_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(REFUSED, "--version", "0.5.10", "--format", "json") == 1
    document = json.loads(capsys.readouterr().out)
    assert document["version"] == "0.5.10"
    assert document["accepted"] is False
    assert document["problems"][0]["flag"] == "--pp"
    assert document["problems"][0]["write_instead"] == "--pp-size 8"
    assert set(document["problems"][0]) == {"kind", "flag", "says", "write_instead", "source"}


def test_a_recording_brings_its_version_model_and_card(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = {"architectures": ["KimiK25ForConditionalGeneration"], "text_config": {"num_hidden_layers": 61}}
    record(
        tmp_path,
        "box",
        launch__txt=f"SGLANG_PP_LAYER_PARTITION=8,8 {TAKEN} --attention-backend fa3",
        sglang_version__txt="0.5.9\n",
        model_config__json=json.dumps(config),
        gpus__csv="timestamp, index, name\n1, 0, NVIDIA RTX PRO 6000 Blackwell\n",
    )
    assert run(str(tmp_path), "--format", "json") == 1
    says = [problem["says"] for problem in json.loads(capsys.readouterr().out)["problems"]]
    assert says[0].startswith("The partition names 2 stages")
    assert says[1].startswith("KimiK25ForConditionalGeneration cannot be split")
    assert says[2].startswith("fa3 does not run on NVIDIA RTX PRO 6000")


def test_hosts_are_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for host, command in (("a", TAKEN), ("b", REFUSED)):
        record(tmp_path, host, launch__txt=command, sglang_version__txt="0.5.10")
    assert run(str(tmp_path)) == 1
    assert "a: SGLang 0.5.10 accepts" in capsys.readouterr().out
    run(str(tmp_path), "--format", "json")
    document = json.loads(capsys.readouterr().out)
    assert [problem["host"] for problem in document["problems"]] == ["b"]


def test_a_version_asked_for_counts_before_the_recorded_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record(tmp_path, "box", launch__txt=REFUSED, sglang_version__txt="0.5.10")
    assert run(str(tmp_path), "--version", "0.5.3") == 0
    assert "SGLang 0.5.3 accepts" in capsys.readouterr().out


def test_a_file_is_read_and_the_image_tells_the_version(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "run.sh"
    script.write_text(f"docker run -e A=1 lmsysorg/sglang:v0.5.10-cu126 {REFUSED}\n")
    assert run(str(script)) == 1
    assert "SGLang 0.5.10 refuses" in capsys.readouterr().out


def test_an_image_of_a_candidate_is_no_image_of_the_release(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "run.sh"
    script.write_text(f"docker run lmsysorg/sglang:v0.5.10rc0-cu126 {TAKEN}\n")
    assert run(str(script)) == 0
    captured = capsys.readouterr()
    assert captured.out == "SGLang 0.5.10rc0 accepts this launch command.\n" and "0.5.9" in captured.err


def test_a_tree_names_its_version(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    package = tmp_path / "sglang"
    (package / "srt" / "managers").mkdir(parents=True)
    (package / "version.py").write_text('__version__ = "0.5.9"\n')
    assert run(TAKEN, "--tree", str(tmp_path)) == 0
    assert "SGLang 0.5.9 accepts" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        ([TAKEN], "Which SGLang version"),
        (["no-such-place", "--version", "0.5.10"], "no file or folder"),
        (["vllm serve m", "--version", "0.5.10"], "no SGLang launch command"),
        ([TAKEN, "--tree", "/nowhere"], "not the sglang package"),
        (["http://box:30000"], "is a server's address, and its host is what is looked at"),
        ([TAKEN, "--version", "latest"], "Which SGLang version"),
    ],
)
def test_what_cannot_be_checked_is_said_in_words(words: list[str], wrong: str) -> None:
    with pytest.raises(UserError, match=wrong):
        run(*words)


def test_what_a_launch_text_hides_is_neither_shown_nor_run_by_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    secret = "hf_ABCDEFGHIJKLMNOPQRSTUVWXYZabcd"
    command = (
        "python -m sglang.launch_server --model-path m --x\x1b[31m\u202e=1 stray\x07 "
        f"{secret} --chunked-prefill-size {secret} --api-key=hunter2hunter2 --tp-size hunter2hunter2"
    )
    for form in ("text", "json"):
        assert main(["check", command, "--version", "0.5.10", "--format", form]) == ExitStatus.FAILURE
        shown = capsys.readouterr().out
        assert secret not in shown
        assert not set(shown) & {"\x1b", "\x07", "\u202e"}
        assert "stray" in shown and "[masked]" in shown


@pytest.mark.parametrize(("size", "version"), [("8", "0.5.3"), ("4", "0.5.11")])
def test_a_removed_switch_is_answered_with_the_value_that_sglang_names_and_the_whole_command(
    size: str, version: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = f"python -m sglang.launch_server --model-path m --tp {size} --enable-ep-moe --port 30000"
    assert run(command, "--version", version) == 1
    printed = capsys.readouterr().out
    assert f"         write: --ep-size {size}\n" in printed
    whole = printed.strip().splitlines()[-1]
    assert whole == f"python -m sglang.launch_server --model-path m --tp {size} --port 30000 --ep-size {size}"
    assert run(whole, "--version", version) == 0


def test_what_only_a_person_can_decide_is_said_and_no_command_is_made_up(capsys: pytest.CaptureFixture[str]) -> None:
    command = "python -m sglang.launch_server --model-path m --enable-expert-distribution-metrics"
    assert run(command, "--version", "0.5.23") == 1
    printed = " ".join(capsys.readouterr().out.split())
    assert "write: --expert-balancedness-report-mode VALUE: yours to decide" in printed
    assert "No whole corrected command" in printed


def test_a_flag_that_is_there_already_is_not_set_twice(capsys: pytest.CaptureFixture[str]) -> None:
    command = "python -m sglang.launch_server --model-path m --tp 4 --ep-size 2 --enable-ep-moe"
    assert run(command, "--version", "0.5.11") == 1
    printed = capsys.readouterr().out
    assert "write: leave it out: --ep-size is there" in printed
    assert printed.strip().splitlines()[-1].endswith("--tp 4 --ep-size 2")


def test_the_version_that_a_ticket_states_beside_the_command_is_taken(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", StringIO(f"sglang==0.5.10\n\n{TAKEN}\n"))
    assert run("-") == 0
    assert capsys.readouterr().out == "SGLang 0.5.10 accepts this launch command.\n"
