import json
import shutil
from pathlib import Path

import pytest

from ppagent.cli.main import main
from ppagent.errors import ExitStatus, UserError
from ppagent.report.flag_page import explain_flag, is_flag
from ppagent.sglang.flags.history import catalogue_of, versions_known

FIXTURES = Path(__file__).parent.parent / "sglang" / "fixtures_flags"
KEYS = ["name", "aliases", "type", "default", "choices", "nargs", "deprecated", "replaced_by"]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def recording(folder: Path, **versions: str) -> Path:
    for host, version in versions.items():
        (folder / "hosts" / host).mkdir(parents=True)
        (folder / "hosts" / host / "sglang_version.txt").write_text(f"{version}\n", "utf-8")
    return folder


def flags_as_json(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, object]]:
    assert main(["flags", *words, "--format", "json"]) == ExitStatus.OK
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, list)
    return found


def test_json_is_the_list_of_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    found = flags_as_json(capsys, "--version", "0.5.23")
    assert len(found) == 531
    assert all(list(entry) == KEYS for entry in found)
    by_name = {entry["name"]: entry for entry in found}
    assert by_name["--pp-size"] == {
        "name": "--pp-size",
        "aliases": ["--pipeline-parallel-size"],
        "type": "int",
        "default": 1,
        "choices": None,
        "nargs": None,
        "deprecated": False,
        "replaced_by": None,
    }
    assert by_name["--disable-cuda-graph"]["replaced_by"] == "--cuda-graph-backend-{decode,prefill}=disabled"


def test_a_pattern_narrows_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    found = flags_as_json(capsys, "--version", "0.5.10", "pp-")
    assert {str(entry["name"]) for entry in found} == {
        "--pipeline-parallel-size",
        "--pp-max-micro-batch-size",
        "--pp-async-batch-depth",
    }


def test_a_pattern_may_be_written_as_a_flag(capsys: pytest.CaptureFixture[str]) -> None:
    found = flags_as_json(capsys, "--version", "0.5.10", "--pp-async")
    assert [entry["name"] for entry in found] == ["--pp-async-batch-depth"]


def test_text_has_name_type_default_and_choices_within_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["flags", "--version", "0.5.23"]) == ExitStatus.OK
    shown = capsys.readouterr().out
    assert shown.startswith("SGLang 0.5.23: 531 flags\n")
    main(["flags", "--version", "0.5.23", "pp-size"])
    assert capsys.readouterr().out.startswith("SGLang 0.5.23: 1 flag that matches pp-size\n")
    main(["flags", "--version", "0.5.23", "pp-*"])
    assert " flags that match pp-*\n" in capsys.readouterr().out
    assert "\n--pp-size, --pipeline-parallel-size\n    int, default 1\n" in shown
    assert "\n    one of lpm, random, fcfs, " in shown
    assert "\n    deprecated; use --attn-dp-size <dp-size>\n" in shown
    assert [line for line in shown.splitlines() if len(line) > 80 and " " in line.strip()] == []


def test_no_match_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["flags", "--version", "0.5.10", "pp-asynch-batch-depth"]) == ExitStatus.OK
    assert (
        "No flag of SGLang 0.5.10 matches pp-asynch-batch-depth. Nearest: --pp-async-batch-depth"
        in capsys.readouterr().out
    )
    assert flags_as_json(capsys, "--version", "0.5.10", "pp-asynch-batch-depth") == []


def test_a_tree_is_read_and_what_was_not_understood_goes_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["flags", "--tree", str(FIXTURES / "plain"), "--format", "json"]) == ExitStatus.OK
    captured = capsys.readouterr()
    assert [e["name"] for e in json.loads(captured.out)][:2] == ["--model-path", "--reasoning"]
    assert "ppagent: The default of --device cannot be told" in captured.err


def test_a_recording_names_its_version(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = recording(tmp_path / "incident", node0="0.5.5", node1="0.5.5")
    assert len(flags_as_json(capsys, str(target))) == 273
    assert [e["name"] for e in flags_as_json(capsys, str(target), "max-micro*")] == []
    assert [e["name"] for e in flags_as_json(capsys, str(target), "--*micro*")] == ["--pp-max-micro-batch-size"]


def test_what_the_server_said_of_itself_names_the_version_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = recording(tmp_path / "incident", node0="0.5.5")
    (target / "hosts/node0/sglang_version.txt").unlink()
    (target / "hosts/node0/server_info.json").write_text('{"version": "0.4.10"}', "utf-8")
    assert len(flags_as_json(capsys, str(target))) == 180


def test_a_recordings_own_source_counts_more_than_its_version(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = recording(tmp_path / "incident", node0="0.5.22")
    source = target / "hosts/node0/source"
    shutil.copytree(FIXTURES / "structs", source)
    (source / "sglang/_version.py").unlink()
    assert main(["flags", str(target), "--format", "json"]) == ExitStatus.OK
    captured = capsys.readouterr()
    assert len(json.loads(captured.out)) == 6
    assert "does not say which version" not in captured.err
    assert "is not the published 0.5.22" in captured.err


def test_hosts_of_several_versions_must_be_chosen_between(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = recording(tmp_path / "incident", node0="0.5.5", node1="0.5.6")
    assert main(["flags", str(target)]) == ExitStatus.USAGE
    assert "different versions: 0.5.5, 0.5.6" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "No version is named."),
        (["here", "pp", "--version", "0.5.10"], "TARGET and --version name the version twice."),
        (["--tree", ".", "--version", "0.5.10"], "--version and --tree name the version twice."),
        (["--version", "0.4.6"], "older than 0.4.7"),
        (["nowhere"], "There is no file or folder nowhere."),
        (["--version", "0.5.10", "--pp", "--tp"], "is more than one pattern."),
    ],
)
def test_wrong_usage_is_said_in_words(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["flags", *words]) == ExitStatus.USAGE
    assert said in capsys.readouterr().err


def test_a_log_that_names_no_version_is_answered_with_how_to_name_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "server.log"
    log.write_text("[2026-01-02 03:04:05] Decode batch, #running-req: 1, #token: 4\n")
    assert main(["flags", str(log)]) == ExitStatus.USAGE
    assert "server.log does not say which SGLang it is of. Give --version X" in capsys.readouterr().err


def test_an_unknown_version_is_answered_with_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["flags", "--version", "0.9.0", "--format", "json"]) == ExitStatus.OK
    assert "newer than 0.5.23" in capsys.readouterr().err


def test_an_ambiguous_abbreviation_is_explained_with_what_to_write() -> None:
    shown = " ".join(explain_flag("--cuda-graph-max-bs", "0.5.20").split())
    assert "ambiguous and stops the launch" in shown
    assert (
        "it could be --cuda-graph-max-bs-decode or --cuda-graph-max-bs-prefill. Write --cuda-graph-max-bs-decode."
        in shown
    )
    assert "0.5.14 sets cuda_graph_max_bs_decode" in shown and "0.5.20 gone" in shown


def test_an_abbreviation_that_broke_says_when() -> None:
    shown = explain_flag("--pp", "0.5.10")
    assert "  0.4.7 to 0.5.3: short for --pp-size\n  0.5.3.post1 to 0.5.23: ambiguous, an error" in shown


def test_an_abbreviation_that_works_is_explained_as_its_flag() -> None:
    shown = explain_flag("--tp", "0.5.23")
    assert shown.startswith("--tp-size\n")
    assert "--tp is accepted as an abbreviation of --tp-size." in shown


@pytest.mark.parametrize("written", ["--pp-async-batch-depth", "pp_async_batch_depth", "--pp-async-batch-depth=2"])
def test_a_flag_is_explained_however_it_is_written(written: str) -> None:
    shown = explain_flag(written)
    assert is_flag(written)
    assert shown.startswith("--pp-async-batch-depth\n  field pp_async_batch_depth; int, default 0\n")
    assert "  0.5.7        added: int, default 0\n" in shown
    assert "does not fill an empty slot" in " ".join(shown.split())
    assert "Source: srt/managers/scheduler_pp_mixin.py: init_pp_loop_state" in shown


def test_a_flag_that_a_version_lacks_is_explained_with_the_name_it_had() -> None:
    assert (
        "Not there: the launch stops with `unrecognized arguments`.\n  Write --max-micro-batch-size."
        in explain_flag("--pp-max-micro-batch-size", "0.4.10")
    )


def test_a_flag_that_stops_the_launch_says_so() -> None:
    shown = explain_flag("--enable-ep-moe", "0.5.3")
    assert "Using it stops the launch: NOTE: --enable-ep-moe is deprecated." in shown
    assert "  0.5.3        using it stops the launch\n" in shown


def test_notes_of_other_versions_are_left_out() -> None:
    assert "stops the launch in these versions" in explain_flag("--enable-mixed-chunk", "0.5.10")
    assert "stops the launch in these versions" not in explain_flag("--enable-mixed-chunk", "0.5.11")


def test_a_flag_of_a_patched_tree_is_explained_from_the_tree() -> None:
    shown = explain_flag("--graph-backend", tree=FIXTURES / "annotated")
    assert "In SGLang 0.5.15\n  There: str, unset by default.\n  One of full, disabled." in shown
    assert "History" not in shown


def test_an_unknown_flag_names_the_nearest() -> None:
    with pytest.raises(UserError, match="Nearest in 0.5.23: --pp-async-batch-depth"):
        explain_flag("--pp-asynch-batch-depth")


def test_version_and_tree_together_are_refused() -> None:
    with pytest.raises(UserError, match="twice"):
        explain_flag("--pp-size", "0.5.10", FIXTURES / "plain")


@pytest.mark.parametrize("text", ["PP001", "why?", "pp", "", "-- pp"])
def test_other_words_are_no_flags(text: str) -> None:
    assert not is_flag(text)


@pytest.mark.parametrize("version", versions_known()[::7])
def test_every_flag_of_a_version_can_be_explained_within_80_columns(version: str) -> None:
    for flag in list(catalogue_of(version))[::9]:
        shown = explain_flag(flag.name, version)
        assert f"\nIn SGLang {version}\n" in shown
        assert [line for line in shown.splitlines() if len(line) > 80 and " " in line.strip()] == []
