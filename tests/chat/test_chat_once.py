import io
from pathlib import Path

import pytest

from ppagent.cli.main import main
from ppagent.errors import ExitStatus
from tests.chat.conftest import SEED


def ask(words: str, monkeypatch: pytest.MonkeyPatch, *argv: str) -> int:
    monkeypatch.setattr("sys.stdin", io.StringIO(words))
    return main(["chat", *argv])


def test_a_question_through_a_pipe_is_answered_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask("why is it slow?\n", monkeypatch, str(SEED)) == ExitStatus.OK

    shown = capsys.readouterr().out
    assert "DIAGNOSED  Micro-batches unfilled (PP001)" in shown
    assert "> " not in shown.splitlines()[0]
    assert "\x1b" not in shown
    assert "grade 0" not in shown


def test_commands_through_a_pipe_run_one_after_the_other(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask("/board\n\n/propose P2\n/quit\n/board\n", monkeypatch, str(SEED)) == ExitStatus.OK

    shown = capsys.readouterr().out
    assert shown.count("causes, ") == 1
    assert "THEN, one restart  (P2: CG001 PP001)" in shown


def test_pasted_text_holds_its_own_question(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = "Why only 95 tok/s? python -m sglang.launch_server --model-path m --pp-size 8 --disable-cuda-graph\n"

    assert ask(words, monkeypatch, "-") in (ExitStatus.OK, ExitStatus.NOT_ENOUGH_EVIDENCE)

    assert "--disable-cuda-graph is in the launch" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("words", "argv", "status", "says"),
    [
        ("", (str(SEED),), ExitStatus.USAGE, "Nothing was asked."),
        ("why?", ("no/such/thing",), ExitStatus.USAGE, "There is no file or folder no/such/thing."),
        ("why?", (), ExitStatus.USAGE, "Give a TARGET, or --resume."),
        ("why?", (str(SEED), "--resume"), ExitStatus.USAGE, "No session about "),
        ("why?", (str(SEED), "--resume", "s1"), ExitStatus.USAGE, "Leave it out: ppagent chat --resume s1."),
        ("/resume 261129-1", (str(SEED),), ExitStatus.USAGE, "/resume needs a terminal."),
        ("/nonsense", (str(SEED),), ExitStatus.USAGE, "There is no command /nonsense."),
        ("why?", ("--resume", "261129-1"), ExitStatus.USAGE, "There is no session 261129-1."),
        ("why?", (str(SEED), "--brain", "llm"), ExitStatus.USAGE, "No model is named."),
    ],
)
def test_what_cannot_be_answered_is_said_on_the_standard_error(
    words: str,
    argv: tuple[str, ...],
    status: int,
    says: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert ask(words, monkeypatch, *argv) == status
    assert says in capsys.readouterr().err


SECRETS = {
    "password=hunter2hunter2": "hunter2",
    "--api-key 'Tr0ub4dor and 3'": "Tr0ub4dor",
    "HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz": "abcdefghijklmnop",
    "Authorization: Bearer AbCdEf0123456789xyz": "AbCdEf0123456789xyz",
    "sk-abcdefghijklmnop1234": "abcdefghijklmnop1234",
    "http://admin:swordfish9@gpu-box:30000/metrics": "swordfish9",
    "password: hunter2hunter2": "hunter2",
}


@pytest.mark.parametrize("written", SECRETS)
@pytest.mark.parametrize("words", ["why is it slow? {}", "is it {}? and is it the kv cache?", "/why {}", "what is {}?"])
def test_a_secret_through_a_pipe_is_neither_shown_nor_kept(
    words: str, written: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], state: Path
) -> None:
    ask(f"{words.format(written)}\n", monkeypatch, str(SEED))

    shown = capsys.readouterr()
    assert SECRETS[written] not in shown.out + shown.err
    kept = [file.read_text() for file in state.rglob("*") if file.is_file()]
    assert kept and not [text for text in kept if SECRETS[written] in text]


def test_a_secret_among_commands_through_a_pipe_is_neither_shown_nor_exported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    report = tmp_path / "report.md"

    ask(f"/why kv pool password=hunter2hunter2\n/export {report}\n", monkeypatch, str(SEED))

    assert "hunter2" not in capsys.readouterr().out
    assert "KV pool" in report.read_text()
    assert "hunter2" not in report.read_text()


def test_a_kept_session_answers_through_a_pipe_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], state: Path
) -> None:
    assert ask("why is it slow?", monkeypatch, str(SEED)) == ExitStatus.OK
    capsys.readouterr()

    assert ask("what should I change?", monkeypatch, "--resume") == ExitStatus.OK

    assert "THEN, one restart  (P2: CG001 PP001)" in capsys.readouterr().out
    assert len(list((state / "sessions").iterdir())) == 1


def test_where_nobody_can_be_asked_the_status_says_that_policy_stood_in_the_way(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    log = tmp_path / "server.log"
    log.write_text("[2026-11-29 17:48:09] server_args=ServerArgs(model_path='m', pp_size=8)\n")

    assert ask("why is it slow?", monkeypatch, str(log)) == ExitStatus.NOT_ENOUGH_EVIDENCE
