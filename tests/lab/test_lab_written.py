"""What is written of a case beside the recording."""

import json
from pathlib import Path

import pytest
import yaml

from ppagent_evals.answer import read_answer, read_origin
from ppagent_lab.cases import all_cases
from ppagent_lab.take import _without
from ppagent_lab.written import Result, answer_of, without_the_lab, write_refused, write_words


def test_the_answer_reads_back_and_says_that_the_device_is_emulated(tmp_path: Path) -> None:
    case = all_cases()["lab-clumped-pp8"]
    change = case.alternatives[0]
    write_words(case, tmp_path, [Result(None, {"output_throughput": 9.0}), Result(change, {"output_throughput": 19.0})])
    answer = read_answer(tmp_path)
    assert (answer.causes, answer.fixes[0].set) == (["PP001"], {"--pp-max-micro-batch-size": "1"})
    assert read_origin(tmp_path) == "measured"
    assert "emulated" in answer.ref
    assert "emulated" in (tmp_path / "incident.yaml").read_text(encoding="utf-8")
    assert json.loads((tmp_path / "bench.jsonl").read_text(encoding="utf-8"))["output_throughput"] == 9.0
    again = json.loads((tmp_path / "relaunches.jsonl").read_text(encoding="utf-8"))
    assert again["change"] == {"set": {"--pp-max-micro-batch-size": "1"}, "unset": [], "env": {}, "live": True}
    assert again["bench"]["output_throughput"] == 19.0


def test_a_refused_start_leaves_its_command_and_its_log(tmp_path: Path) -> None:
    case = all_cases()["lab-old-flag-refused"]
    write_refused(case, tmp_path, "LAB_STAGE_MS=40 A=1 python -m sglang.launch_server", "error: unrecognized arguments")
    host = tmp_path / "hosts" / "box"
    assert (host / "launch.txt").read_text(encoding="utf-8") == "A=1 python -m sglang.launch_server\n"
    assert (host / "sglang_version.txt").read_text(encoding="utf-8") == "0.5.23\n"
    assert not (tmp_path / "bench.jsonl").exists()


def test_nothing_of_the_planted_fault_or_of_the_labs_files_stays_in_a_recording(tmp_path: Path) -> None:
    (tmp_path / "launch.txt").write_text("A=1 LAB_STAGE_MS=40,90 LAB_HOP_MS=0.05 python", encoding="utf-8")
    (tmp_path / "processes.json").write_text('[{"env": {"A": "1", "LAB_HOP_MS": "1", "B": "2"}}]', encoding="utf-8")
    (tmp_path / "packages.txt").write_text(
        "torch @ file:///a/torch-2.13.0+cpu-cp311-cp311-any.whl#sha256=1\nx==1\n", encoding="utf-8"
    )
    without_the_lab(tmp_path)
    assert (tmp_path / "launch.txt").read_text(encoding="utf-8") == "A=1 python"
    assert json.loads((tmp_path / "processes.json").read_text(encoding="utf-8")) == [{"env": {"A": "1", "B": "2"}}]
    assert (tmp_path / "packages.txt").read_text(encoding="utf-8") == "torch==2.13.0+cpu\nx==1\n"


def test_an_alternative_replaces_a_flag_with_its_value() -> None:
    assert _without(("--a", "1", "--switch", "--b", "2"), ("--a", "--switch")) == ("--b", "2")


@pytest.mark.parametrize("name", all_cases())
def test_every_case_is_recorded_with_the_answer_that_it_was_planted_with(name: str) -> None:
    recorded = Path(__file__).parents[2] / "evals" / "incidents" / name / "answer.yaml"
    assert yaml.safe_load(recorded.read_text(encoding="utf-8")) == answer_of(all_cases()[name])
