import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ppagent.cli.main import main
from ppagent.model.levels import levels_from_bench
from ppagent.trials.note import RestoreNote, write_note
from tests.bench.fakes import FakeServer

QUICK = ["--seconds", "0.5", "--input-len", "8", "--output-len", "6-14", "--yes", "4"]


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(base_ms=3, per_request_ms=1.5) as running:
        yield running


def test_levels_are_shown_and_appended_in_the_field_names_of_bench_serving(
    server: FakeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "bench.jsonl"
    assert (
        main(["bench", server.url, "--concurrency", "1,4", "--think-time", "0,0.01", *QUICK, "-o", str(results)]) == 0
    )
    out = capsys.readouterr().out
    assert "SGLang 0.5.23 · PP4 · loopback" in out
    rows = [json.loads(line) for line in results.read_text().splitlines()]
    assert [(row["max_concurrency"], row["think_time_s"]) for row in rows] == [(1, 0), (4, 0), (4, 0.01)]
    for row in rows:
        assert row["output_throughput"] > 0
        assert row["steady_output_throughput"] == pytest.approx(row["output_throughput"], rel=0.6)
        assert row["tpot_formula"] == "(t_last - t_first) / (tokens - 1)"
    levels = levels_from_bench(rows)
    assert [level.concurrency for level in levels] == [1, 4]
    assert levels[1].turn_ms == pytest.approx(9, rel=0.5)


def test_the_json_document_holds_the_levels(server: FakeServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", server.url, "--concurrency", "2", "--think-time", "0", *QUICK, "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema_version"] == 1
    assert [row["max_concurrency"] for row in document["levels"]] == [2]


def test_the_time_for_all_levels_is_kept_and_said(server: FakeServer, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["bench", server.url, "--concurrency", "1,2,4", "--think-time", "0", *QUICK, "--max-seconds", "0.4"]
    assert main(words) == 5
    assert "of 3 levels" in capsys.readouterr().err


def test_where_less_is_allowed_nothing_is_sent_and_the_plan_is_shown(
    server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["bench", server.url, "--concurrency", "1,4", "--think-time", "0,0.5", "--seconds", "7", "--yes", "3"]
    assert main(words) == 4
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "  levels     C=1; C=4; C=4 think 0.5 s\n" in shown.err
    assert "  takes      about 21 s, " in shown.err
    assert "nothing was sent: it puts load on the server, which needs a yes, or --yes 4." in shown.err
    assert "(grade 4: puts load on the server)" in " ".join(shown.err.split())
    assert server.served == 0


def test_where_nobody_can_be_asked_the_command_is_the_wish(
    server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", server.url, "--concurrency", "2", *QUICK[:-2]]) == 0
    assert "  levels     C=2; C=2 think 0.1 s\n" in capsys.readouterr().err
    assert server.served > 0


@pytest.mark.parametrize(("answer", "status"), [("y\n", 0), ("n\n", 4), ("", 4)])
def test_whoever_is_there_is_asked(
    answer: str, status: int, server: FakeServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("ppagent.cli.try_.somebody_there", lambda: True)
    monkeypatch.setattr("ppagent.cli.bench.somebody_there", lambda: True)
    monkeypatch.setattr("sys.stdin", io.StringIO(answer))
    assert main(["bench", server.url, "--concurrency", "1", *QUICK[:-2]]) == status
    assert "do it? [y]es, [n]o: " in capsys.readouterr().err
    assert (server.served > 0) is (status == 0)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["http://127.0.0.1:1"], "Nothing listens on 127.0.0.1 port 1. See whether the server runs there. "),
        (["http://user:pass@host:1"], "through the environment"),
        (["nowhere"], "no live server"),
        (["http://127.0.0.1:1", "--concurrency", "many"], "no list of whole numbers"),
    ],
)
def test_what_cannot_be_loaded_is_said_in_a_sentence(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str], server: FakeServer
) -> None:
    if "--concurrency" in words:
        words[0] = server.url
    assert main(["bench", *words]) in (1, 2)
    assert says in capsys.readouterr().err


def test_a_setting_that_a_dead_trial_left_is_told_of_before_anything_is_measured(
    server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.limit = 2
    write_note(RestoreNote("live", server.url, key="pp_max_micro_batch_size", old=16, new=2, pid=1, pid_started="0"))
    main(["bench", server.url, "--concurrency", "1", "--think-time", "0", *QUICK])
    said = capsys.readouterr().err
    assert "was set from 16 to 2" in said
    assert f"ppagent try {server.url} --restore" in said
    assert server.limit == 2
