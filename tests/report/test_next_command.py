from dataclasses import replace
from io import StringIO

import pytest

from ppagent.cli.main import main
from ppagent.errors import ExitStatus
from ppagent.report.next_command import next_command
from tests.report.samples import undecided

METRIC = 'sglang:gen_throughput{model_name="x",pp_rank="0"} 95.6\n'
LOG = "[2026-05-02 14:24:25 PP0] Decode batch, #running-req: 1, #token: 552, token usage: 0.00, #queue-req: 0\n"


@pytest.mark.parametrize("pasted", [METRIC, LOG, "it is slow\n"])
def test_a_paste_that_decides_nothing_names_the_one_command_to_run_next(
    pasted: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", StringIO(pasted))
    assert main(["diagnose", "-"]) == ExitStatus.NOT_ENOUGH_EVIDENCE
    shown = capsys.readouterr().out
    words = " ".join(shown.split())
    assert "  RUN NEXT      ppagent diagnose ssh://HOST\n" in shown
    assert "while the usual load is on: it reads log, launch command, metrics and cards of the running server" in words
    after = shown[shown.index("LOOK NEXT") :]
    assert "(to see: grep 'Decode batch' server.log)" in " ".join(after.split())
    assert "grade" not in after


@pytest.mark.parametrize(
    ("incident", "when"),
    [("too-little-prefills-only", "while the usual load is on"), ("too-little-killed-without-reason", "once the")],
)
def test_a_recording_that_decides_nothing_says_when_to_look_at_the_server(
    incident: str, when: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diagnose", f"evals/incidents/{incident}"]) == ExitStatus.NOT_ENOUGH_EVIDENCE
    shown = " ".join(capsys.readouterr().out.split())
    assert f"RUN NEXT ppagent diagnose ssh://HOST {when}" in shown


@pytest.mark.parametrize("written", ["sglang==0.5.11", "SGLang: 0.5.11", "sglang:v0.5.11-cu126", "SGLang 0.5.11"])
def test_a_version_that_a_ticket_states_is_known_as_stated(
    written: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", StringIO(f"{written}\n\n{LOG}"))
    main(["diagnose", "-"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "pasted text · SGLang 0.5.11" in shown
    assert shown.count("SGLang's version: 0.5.11 as stated; no installation was there to read it in") == 1
    assert "version was not recorded" not in shown
    assert "SGLang's version was recorded" not in shown


@pytest.mark.parametrize(
    ("kind", "words", "named"),
    [
        ("ssh", "ssh://me@box:2222,other --port 30001", "ssh://me@box:2222,other --port 30001"),
        ("ssh", "", "ssh://box"),
        ("local", "local --port 8000", "local --port 8000"),
        ("local", "", "local"),
    ],
)
def test_a_live_target_is_named_again_as_the_user_named_it(kind: str, words: str, named: str) -> None:
    found = replace(undecided(), target_kind=kind, target_name="box", target_words=words)
    assert next_command(found)[0].startswith(("ppagent diagnose " + named, "ppagent bench " + named))
