import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from ppagent.cli import predict
from ppagent.cli.main import main
from ppagent.errors import ExitStatus, UserError

LAUNCH = "CUDA_VISIBLE_DEVICES=0,1 python -m sglang.launch_server --model-path m --pp-size 8 --disable-cuda-graph"
LEVELS = ((1, 24.7), (4, 68.3), (8, 95.6))
CONFIG = {
    "hidden_size": 4096,
    "num_hidden_layers": 61,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
}


def recording(folder: Path, launch: str = LAUNCH, levels: tuple[tuple[int, float], ...] = LEVELS) -> Path:
    host = folder / "hosts" / "box"
    host.mkdir(parents=True)
    (host / "launch.txt").write_text(launch, "utf-8")
    (host / "sglang_version.txt").write_text("0.5.11\n", "utf-8")
    rows = [json.dumps({"max_concurrency": at, "output_throughput": rate}) for at, rate in levels]
    (folder / "bench.jsonl").write_text("\n".join(rows), "utf-8")
    return folder


def with_model(folder: Path) -> Path:
    host = recording(folder) / "hosts" / "box"
    (host / "model_config.json").write_text(json.dumps(CONFIG), "utf-8")
    (host / "gpus.csv").write_text("timestamp,index,name\n1,0,NVIDIA L40S\n", "utf-8")
    return folder


def asked(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(["predict", *words, "--format", "json"]) == ExitStatus.OK
    document = json.loads(capsys.readouterr().out)
    assert isinstance(document, dict)
    return document


def refused(*words: str) -> UserError:
    parser = argparse.ArgumentParser()
    predict.add_arguments(parser)
    with pytest.raises(UserError) as caught:
        predict.run(parser.parse_args(words))
    return caught.value


def test_stages_by_numbers_give_the_forecast_of_a_proposal(capsys: pytest.CaptureFixture[str]) -> None:
    found = asked(
        capsys, "--stages", "8", "--stage-ms", "40", "--per-request-ms", "8", "--set", "pp_max_micro_batch_size=1"
    )
    predicted = found["predicted"]
    assert predicted["metric"] == "output_throughput"
    assert predicted["at"] == {"max_concurrency": 8}
    assert predicted["baseline"] == pytest.approx(9.6, abs=0.1)
    assert predicted["low"] <= 19.2 <= predicted["high"]
    assert found["effect"] == "helps"
    exact = {"tokens_per_s": 20.8, "low": 20.8, "high": 20.8}
    assert {"slot_limit": 1, "max_concurrency": 8, **exact} in found["table"]


def test_a_stage_time_that_nobody_gave_is_told_as_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    told = "40 ms a stage, the default and nobody's measurement: give your own with --stage-ms, "
    assert asked(capsys, "--stages", "4")["assumptions"][0].startswith(told)
    assert main(["predict", "--stages", "4"]) == ExitStatus.OK
    text = " ".join(capsys.readouterr().out.split())
    assert text.count(told) == 2 and "as given" not in text
    given = asked(capsys, "--stages", "4", "--stage-ms", "40")["assumptions"]
    assert given[0] == "stage times as given, nothing measured"


def test_without_a_setting_it_picks_the_limit_itself(capsys: pytest.CaptureFixture[str]) -> None:
    found = asked(capsys, "--stages", "8", "--per-request-ms", "8", "--at-concurrency", "16")
    assert found["predicted"]["at"] == {"max_concurrency": 16}
    assert found["effect"] == "helps"


def test_the_text_has_a_table_and_both_timelines(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", "--stages", "4", "--stage-ms", "10", "--set", "pp_max_micro_batch_size=1"]) == ExitStatus.OK
    text = capsys.readouterr().out
    assert "tok/s by slot limit" in text
    assert "Now: 1 of 4 slots is filled" in text
    assert "Then: 4 of 4 slots are filled" in text
    assert text.count("stage 3") == 2
    assert max(len(line) for line in text.splitlines()) <= 80


def test_a_recording_is_forecast_from_its_levels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    predicted = asked(capsys, str(recording(tmp_path)), "--set", "--pp-max-micro-batch-size=1")["predicted"]
    assert predicted["baseline"] == 95.6
    assert 165 < predicted["high"] < 230
    assert predicted["low"] > 140


def test_a_flag_and_its_value_may_follow_set_with_or_without_dashes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(recording(tmp_path))
    with_dashes = asked(capsys, folder, "--set", "--pp-max-micro-batch-size=2", "--set", "--pp-async-batch-depth=0")
    without = asked(capsys, "--set", "pp-max-micro-batch-size=2", folder)
    assert with_dashes["predicted"] == without["predicted"]


def test_a_layer_partition_is_weighed_with_the_model_and_the_card(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(with_model(tmp_path))
    settings = ("--set", "disable_cuda_graph=false", "--set", "pp_max_micro_batch_size=1")
    default = asked(capsys, folder, *settings)["predicted"]
    uneven = asked(capsys, folder, *settings, "--set", "SGLANG_PP_LAYER_PARTITION=5,5,5,5,5,5,5,26")["predicted"]
    assert uneven["high"] < 0.5 * default["low"]


def test_an_async_depth_is_said_to_fill_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = asked(capsys, str(recording(tmp_path)), "--set", "pp_async_batch_depth=2")
    assert found["effect"] == "changes little"
    assert "fills none" in found["regime"]


def test_a_cpu_server_gets_a_wider_range(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gpu = asked(capsys, str(recording(tmp_path / "a")), "--set", "pp_max_micro_batch_size=1")["predicted"]
    cpu = asked(capsys, str(recording(tmp_path / "b", LAUNCH + " --device cpu")), "--set", "pp_max_micro_batch_size=1")[
        "predicted"
    ]
    assert cpu["low"] < 0.9 * gpu["low"]
    assert cpu["high"] == gpu["high"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "either a TARGET or --stages"),
        (("--stages", "0"), "--stages must be 1 to 512"),
        (("--stages", "513"), "--stages must be 1 to 512"),
        (("--stages", "4", "--stage-ms", "1e200"), "a turn below 1e+06 ms"),
        (("--stages", "8", "--stage-ms", "fast"), "milliseconds"),
        (("--stages", "8", "--stage-ms", "1,2"), "one value or 8"),
        (("--stages", "8", "--at-concurrency", "0"), "--at-concurrency"),
        (("--stages", "8", "--set", "attention_backend=triton"), "says nothing about"),
        (("--stages", "8", "--set", "pp_max_micro_batch_size"), "no value"),
        (("--stages", "8", "--set", "pp_max_micro_batch_size=0"), "whole number of 1 or more"),
        (("--stages", "8", "--set", "pp_max_micro_batch_size=\u00b2"), "whole number of 1 or more"),
        (("--stages", "8", "--set", "disable_cuda_graph=maybe"), "true or false"),
        (("--stages", "8", "--set", "disable_cuda_graph=true"), "cannot be set"),
        (("--stages", "8", "--set", "SGLANG_PP_LAYER_PARTITION=4,4"), "8 numbers"),
        (("no/such/folder",), "not a recording"),
    ],
)
def test_what_cannot_be_answered_is_a_users_error(words: tuple[str, ...], says: str) -> None:
    assert says in str(refused(*words))


def test_a_recording_without_levels_lacks_evidence(tmp_path: Path) -> None:
    error = refused(str(recording(tmp_path, levels=())))
    assert error.status == ExitStatus.NOT_ENOUGH_EVIDENCE


def test_a_recording_without_a_launch_command_or_with_a_broken_one_is_refused(tmp_path: Path) -> None:
    assert "No launch command" in str(refused(str(recording(tmp_path / "a", launch=""))))
    assert "whole number" in str(refused(str(recording(tmp_path / "b", launch="sglang serve m --pp-size eight"))))
    broken = recording(tmp_path / "c")
    (broken / "bench.jsonl").write_text("{not json", "utf-8")
    assert "no JSON" in str(refused(str(broken)))


def test_graphs_with_filled_slots_ask_for_what_is_missing(tmp_path: Path) -> None:
    words = (str(recording(tmp_path)), "--set", "disable_cuda_graph=false", "--set", "pp_max_micro_batch_size=1")
    assert "model's config and the card" in str(refused(*words))


def test_a_partition_that_does_not_fit_the_model_is_refused(tmp_path: Path) -> None:
    words = (str(with_model(tmp_path)), "--set", "SGLANG_PP_LAYER_PARTITION=8,8,8,8,8,8,8,8")
    assert "61" in str(refused(*words))
