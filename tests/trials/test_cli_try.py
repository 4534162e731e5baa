import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ppagent.bench.prompts import Span
from ppagent.bench.session import PromptSource
from ppagent.bench.shape import Shape
from ppagent.cli.main import main
from ppagent.trials.note import RestoreNote, read_note, write_note
from ppagent.trials.own_load import OwnLoad
from tests.bench.fakes import FakeServer

QUICK = ["--seconds", "1", "--concurrency", "8", "--think-time", "0.002", "--input-len", "8", "--output-len", "6-14"]
QUICK += ["--turnovers", "1", "--rounds", "1"]
SET = ["--set", "pp_max_micro_batch_size=2"]


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(base_ms=6, per_request_ms=3) as running:
        yield running


def test_without_a_yes_the_plan_is_all_that_happens(server: FakeServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["try", server.url, *SET, *QUICK]) == 4
    said = capsys.readouterr().err
    assert "16 -> 2 -> 16" in said
    assert "it changes a setting of the running server and puts it back, which needs a yes, or --yes 3." in said
    assert all(len(line) <= 80 for line in said.splitlines()[:-1])
    assert server.settings == []
    assert server.served == 0


def test_a_load_beside_that_of_others_is_said_to_be_one_before_it_begins(
    server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["try", server.url, *SET, *QUICK]) == 4
    assert "others use the server now" not in " ".join(capsys.readouterr().err.split())
    shape = Shape(concurrency=4, input_tokens=Span(4, 4), output_tokens=Span(300, 400))
    load = OwnLoad(server.endpoint, shape, PromptSource())
    load.start()
    try:
        assert main(["try", server.url, *SET, *QUICK]) == 4
        told = " ".join(capsys.readouterr().err.split())
    finally:
        load.stop(wait=False)
    assert "others use the server now, so what it gives this load depends on them: --observe measures theirs" in told


@pytest.mark.parametrize("yes", ["0", "2"])
def test_a_yes_to_less_is_no_yes(server: FakeServer, yes: str) -> None:
    assert main(["try", server.url, *SET, *QUICK, "--yes", yes]) == 4
    assert server.settings == []


def test_with_a_yes_it_is_tried_measured_and_put_back(server: FakeServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["try", server.url, *SET, *QUICK, "--yes", "3", "--no-forecast", "--format", "json", "--rounds", "4"]) == 0
    )
    result = json.loads(capsys.readouterr().out)
    assert result["outcome"] == "better"
    assert result["restored"] is True
    assert result["lost"] == 0
    assert server.limit == 16


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--set", "max_running_requests=4"], "cannot be set on a running server"),
        (["--set", "pp_max_micro_batch_size=17"], "1 to 16"),
        (["--set", "pp_max_micro_batch_size=16"], "16 already"),
        (["--set", "pp_max_micro_batch_size=many"], "no whole number"),
        ([], "Say what to try"),
        ([*SET, "--restore"], "one of them"),
    ],
)
def test_what_cannot_be_tried_is_said_before_anything_happens(
    server: FakeServer, words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["try", server.url, *words, "--yes", "5"]) == 2
    assert says in capsys.readouterr().err
    assert server.settings == []


def left(server: FakeServer) -> None:
    server.limit = 2
    write_note(RestoreNote("live", server.url, key="pp_max_micro_batch_size", old=16, new=2, pid=1, pid_started="0"))


def test_restore_puts_back_what_was_left_and_then_has_nothing_to_do(
    server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    left(server)
    assert main(["try", server.url, "--restore"]) == 0
    assert "back at 16" in capsys.readouterr().out
    assert server.limit == 16
    assert main(["try", server.url, "--restore"]) == 0
    assert "nothing is left behind" in capsys.readouterr().err


def test_no_trial_begins_on_what_another_left_behind(server: FakeServer, capsys: pytest.CaptureFixture[str]) -> None:
    left(server)
    assert main(["try", server.url, "--set", "pp_max_micro_batch_size=4", *QUICK]) == 4
    assert "earlier trial" in capsys.readouterr().err
    assert server.limit == 2


def test_with_a_yes_an_earlier_trial_is_undone_first(server: FakeServer) -> None:
    left(server)
    assert main(["try", server.url, *SET, *QUICK, "--yes", "3", "--no-forecast", "--no-answers"]) == 0
    assert [list(setting.values())[0] for setting in server.settings] == [16, 2, 16]
    assert read_note(server.url) is None


def report(folder: Path, **row: object) -> str:
    path = folder / "report.json"
    path.write_text(json.dumps({"proposals": [{"id": "P1", "causes": ["PP001"], **row}]}))
    return str(path)


def test_a_live_proposal_of_a_report_is_tried_live(server: FakeServer, tmp_path: Path) -> None:
    change = {"set": {"--pp-max-micro-batch-size": "2"}, "unset": [], "env": {}}
    words = ["--proposal", "P1", "--report", report(tmp_path, kind="live", change=change)]
    assert main(["try", server.url, *words, *QUICK, "--yes", "3", "--no-forecast", "--no-answers"]) == 0
    assert [list(setting.values())[0] for setting in server.settings] == [2, 16]


def test_what_is_to_be_done_by_hand_is_not_tried(
    server: FakeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--proposal", "P1", "--report", report(tmp_path, kind="operator", change={})]
    assert main(["try", server.url, *words, "--yes", "5"]) == 2
    assert "by hand" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["try", "--set", "pp_max_micro_batch_size=2"], ["bench", "--concurrency", "1"]])
def test_where_no_server_is_found_a_relaunch_that_died_is_told(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    launch = {"target": "local", "how": "process"}
    write_note(RestoreNote("relaunch", "local/1", launch=launch, pid=1, pid_started="0"))
    assert main([words[0], "local", "--port", "1", *words[1:]]) != 0
    told = capsys.readouterr().err
    assert "its old launch was not brought back or confirmed. Put it back with: ppagent try local --restore" in told
