import json
from pathlib import Path

import pytest
import yaml

from ppagent.chat.loop import take_turn
from ppagent.chat.opening import Options, begin
from ppagent.chat.session import Session
from ppagent.evidence.evidence import Finding
from ppagent_evals.answer import read_answer
from ppagent_evals.check_case import faults_of
from tests.chat.chat_fakes import FakePerson, FakeScreen, screen_of
from tests.chat.conftest import SEED

QUESTION = "why is it slow? <script>alert(1)</script> `x` ## not a heading"


@pytest.fixture
def asked(seed: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    monkeypatch.chdir(tmp_path)
    take_turn(seed, QUESTION)
    return seed


def answers(session: Session, *lines: str) -> None:
    assert isinstance(session.consent.dialog, FakePerson)
    session.consent.dialog.answers = list(lines)


def test_the_report_as_markdown_has_the_conversation_behind_it_with_its_words_kept_words(asked: Session) -> None:
    take_turn(asked, "/export out.md")

    page = Path("out.md").read_text()
    assert "--pp-max-micro-batch-size 1" in page
    conversation = page.split("## The conversation")[1]
    assert "\n> why is it slow? \\<script\\>alert(1)\\</script\\> \\`x\\` \\#\\# not a heading\n" in conversation
    assert "DIAGNOSED  Micro-batches unfilled (PP001)" in conversation


def test_the_report_as_html_is_one_page_with_the_conversation_and_no_markup_of_others(asked: Session) -> None:
    take_turn(asked, "/export out.html")

    page = Path("out.html").read_text()
    assert page.count("</main>") == page.count("</html>") == 1
    assert "<h2>The conversation</h2><blockquote>why is it slow? &lt;script&gt;alert(1)&lt;/script&gt;" in page.replace(
        "\n", ""
    )
    assert "<script>alert(1)" not in page
    assert Path("out.html").stat().st_mode & 0o077 == 0


def test_a_recording_of_the_session_is_diagnosed_alike_and_keeps_the_users_words(
    asked: Session, tmp_path: Path
) -> None:
    take_turn(asked, f"/export recording {tmp_path}/copy")

    again = begin(str(tmp_path / "copy"), Options(FakeScreen()))
    take_turn(again, "why is it slow?")

    assert {h.cause_id for h in again.desk.board().supported} == {"PP001", "CG001"}
    incident = yaml.safe_load((tmp_path / "copy" / "incident.yaml").read_text())
    assert incident["question"] == QUESTION
    assert "With 8 requests in flight the log shows 2-3 running requests per PP stage." in incident["stated"]
    assert (tmp_path / "copy" / "hosts" / "gpu-box" / "source" / "sglang").is_dir()


def test_a_recording_holds_no_secret(seed: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = seed.desk.context.target
    text = target.text
    monkeypatch.setattr(
        target,
        "text",
        lambda host, artifact: text(host, artifact).replace("--tp-size 1", "--api-key verysecret1 --tp-size 1"),
    )

    take_turn(seed, f"/record {tmp_path}/copy")

    kept = "".join(p.read_text() for p in (tmp_path / "copy").rglob("*") if p.is_file() and p.suffix != ".py")
    assert "--api-key" in kept
    assert "verysecret1" not in kept


def test_a_folder_in_use_is_not_written_into(asked: Session, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("x")

    take_turn(asked, f"/export recording {tmp_path}/mine")

    assert "thesis.tex. Name a new or empty folder" in " ".join(screen_of(asked).text.split())
    assert [p.name for p in (tmp_path / "mine").iterdir()] == ["thesis.tex"]


def test_a_case_has_the_answer_that_the_engineer_confirms(asked: Session, tmp_path: Path) -> None:
    answers(asked, "y", "P2")

    take_turn(asked, f"/export case {tmp_path}/case")

    answer = read_answer(tmp_path / "case")
    assert answer.verdict == "diagnosed"
    assert sorted(answer.causes) == ["CG001", "PP001"]
    assert answer.fixes[0].set == {"--pp-max-micro-batch-size": "1"}
    assert answer.fixes[0].unset == ["--disable-cuda-graph"]
    assert {"server.log", "bench.jsonl"} <= set(answer.evidence)
    assert faults_of(tmp_path / "case") == ()


def test_a_case_of_a_session_in_which_nothing_was_asked_asks_for_the_question(seed: Session, tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_bytes(b"".join(seed.desk.context.target.log("gpu-box")))
    session = begin(str(log), Options(FakeScreen(), dialog=FakePerson()))
    answers(session, "unknown", "", "Why is every second answer slow?")

    take_turn(session, f"/export case {tmp_path}/case")

    assert yaml.safe_load((tmp_path / "case" / "incident.yaml").read_text())["question"] == (
        "Why is every second answer slow?"
    )
    assert faults_of(tmp_path / "case") == ()


def test_the_engineer_may_know_better_than_the_board(asked: Session, tmp_path: Path) -> None:
    answers(asked, "PP004", "")

    take_turn(asked, f"/export case {tmp_path}/case")

    answer = read_answer(tmp_path / "case")
    assert answer.causes == ["PP004"]
    assert answer.fixes == []


@pytest.mark.parametrize(("words", "verdict"), [("healthy", "healthy"), ("unknown", "not_enough_evidence")])
def test_a_case_may_be_one_without_a_cause(words: str, verdict: str, asked: Session, tmp_path: Path) -> None:
    take_turn(asked, f"/export case {tmp_path}/case {words}")

    assert read_answer(tmp_path / "case").verdict == verdict
    assert faults_of(tmp_path / "case") == ()
    assert read_answer(tmp_path / "case").causes == []


@pytest.mark.parametrize("answer", ["", "no idea", "XX999"])
def test_without_a_confirmed_answer_no_case_is_written(answer: str, asked: Session, tmp_path: Path) -> None:
    answers(asked, answer)

    take_turn(asked, f"/export case {tmp_path}/case")

    assert not (tmp_path / "case").exists()


def test_a_session_that_measured_keeps_what_was_measured(asked: Session, tmp_path: Path) -> None:
    level = {"concurrency": 16, "output_throughput": 178.0, "achieved_concurrency": 15.5}
    asked.desk.ledger.add("bench.run", Finding("bench.jsonl", {"bench.levels": [level]}))

    take_turn(asked, f"/export recording {tmp_path}/copy")

    rows = [json.loads(line) for line in (tmp_path / "copy" / "bench.jsonl").read_text().splitlines()]
    assert rows[2]["output_throughput"] == 95.6
    assert rows[3] == {"max_concurrency": 16, "output_throughput": 178.0, "concurrency": 15.5, "tool": "ppagent bench"}


def test_trials_of_the_session_go_along_with_the_result_they_are_compared_with(asked: Session, tmp_path: Path) -> None:
    row = {"set": {"--pp-max-micro-batch-size": "2"}, "unset": [], "env": {}, "old": 512, "concurrency": 16}
    asked.desk.ledger.add(
        "tune.set_limit", Finding("trial", {"trial.comparisons": [{**row, "before": 90.0, "after": 170.5}]})
    )

    take_turn(asked, f"/export recording {tmp_path}/copy")

    bench = [json.loads(line) for line in (tmp_path / "copy" / "bench.jsonl").read_text().splitlines()]
    assert bench[-1] == {"max_concurrency": 16, "output_throughput": 90.0, "tool": "ppagent try"}
    tried = [json.loads(line) for line in (tmp_path / "copy" / "relaunches.jsonl").read_text().splitlines()]
    assert tried[-1] == {
        "change": {"set": {"--pp-max-micro-batch-size": "2"}, "unset": [], "env": {}, "live": True},
        "bench": {"max_concurrency": 16, "output_throughput": 170.5, "tool": "ppagent try"},
        "origin": "measured",
    }


def test_a_copy_may_not_lie_in_what_it_is_a_copy_of(asked: Session) -> None:
    take_turn(asked, f"/record {SEED}/copy")

    assert "overlap" in screen_of(asked).text
    assert not (SEED / "copy").exists()


def test_what_export_does_not_understand_it_says(asked: Session) -> None:
    take_turn(asked, "/export as pdf please")

    assert "/export does not know what to make of as pdf please" in screen_of(asked).text
