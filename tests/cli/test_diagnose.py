import io
import json
from pathlib import Path

import pytest

from ppagent import plugins
from ppagent.agent.approvals import Request
from ppagent.agent.investigation import Investigation
from ppagent.cli.approval import ask_person
from ppagent.cli.diagnose import exit_status
from ppagent.cli.main import main
from ppagent.errors import ExitStatus, UserError
from ppagent.plugins import Grade, Tool
from tests.agent.fakes import FakeCause, FakeTool, built_in, look_into

HUNG = FakeCause("PP008", "trouble.hung")
SAID = "a token of two waits"


@pytest.fixture
def recording(tmp_path: Path) -> str:
    host = tmp_path / "one-request" / "hosts" / "box"
    host.mkdir(parents=True)
    (host / "server.log").write_text("[2026-01-01 00:00:00] The server is fired up and ready to roll!\n")
    return str(tmp_path / "one-request")


@pytest.fixture
def offers(monkeypatch: pytest.MonkeyPatch) -> list[Tool]:
    """Tools that the command finds."""
    tools: list[Tool] = []
    monkeypatch.setattr(plugins, "discover", lambda: (built_in(*tools),))
    return tools


def one_request_in_eight_stages() -> FakeTool:
    facts = {"args.pp_size": 8, "launch.command": "python -m sglang.launch_server", "stated.in_flight": 1}
    return FakeTool("server.info", facts, excerpt=SAID)


def test_a_recording_becomes_a_report(recording: str, offers: list[Tool], capsys: pytest.CaptureFixture[str]) -> None:
    offers.append(one_request_in_eight_stages())

    status = main(["diagnose", recording])

    shown = capsys.readouterr().out
    assert status == ExitStatus.NOT_ENOUGH_EVIDENCE
    assert shown.startswith("one-request · PP8 TP1\n")
    assert "PP002  concurrency below pipeline depth" in shown
    assert "1 tool call, all reads" in shown


def test_the_json_document_is_all_that_is_printed(
    recording: str, offers: list[Tool], capsys: pytest.CaptureFixture[str]
) -> None:
    offers.append(one_request_in_eight_stages())

    main(["diagnose", recording, "--format", "json", "--question", "why?"])

    document = json.loads(capsys.readouterr().out)
    assert document["target"] == {"kind": "recording", "name": "one-request"}
    assert document["evidence"][0]["excerpt"] == SAID


@pytest.mark.parametrize(
    ("name", "start"),
    [("r.json", "{"), ("r.md", "# one-request"), ("r.html", "<!doctype html>"), ("r.txt", "one-request ·")],
)
def test_a_file_gets_the_format_of_its_suffix(
    name: str, start: str, recording: str, offers: list[Tool], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    offers.append(one_request_in_eight_stages())
    written = tmp_path / name

    main(["diagnose", recording, "-o", str(written)])

    assert written.read_text(encoding="utf-8").startswith(start)
    assert capsys.readouterr().out == ""


def test_a_file_that_cannot_be_written_is_one_sentence(
    recording: str, offers: list[Tool], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diagnose", recording, "-o", str(tmp_path / "no" / "r.md")]) == ExitStatus.FAILURE
    assert "cannot be written" in capsys.readouterr().err


def test_a_target_that_is_not_there_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diagnose", "no/such/folder"]) == ExitStatus.USAGE
    assert "no/such/folder" in capsys.readouterr().err


def test_a_brain_with_a_model_needs_one_that_is_named(
    recording: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("OPENAI_BASE_URL", "PPAGENT_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))

    assert main(["diagnose", recording, "--brain", "llm"]) == ExitStatus.USAGE
    assert "No model is named. Give --model or --base-url" in capsys.readouterr().err


def test_a_budget_that_is_used_up_has_a_status_of_its_own(recording: str, offers: list[Tool]) -> None:
    offers += [one_request_in_eight_stages(), FakeTool("logs.trouble", {"engine.version": "0.5.10"})]

    assert main(["diagnose", recording, "--max-steps", "1"]) == ExitStatus.BUDGET_USED_UP


@pytest.mark.parametrize(
    ("option", "value"), [("--max-steps", "0"), ("--max-seconds", "-1"), ("--ceiling", "6"), ("--max-cost", "x")]
)
def test_a_limit_that_makes_no_sense_is_wrong_usage(option: str, value: str, recording: str) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["diagnose", recording, option, value])

    assert stopped.value.code == ExitStatus.USAGE


def ended(*tools: Tool, **options: object) -> Investigation:
    return look_into(built_in(*tools), causes=[HUNG], kind="local", **options)  # type: ignore[arg-type]


def test_the_exit_status_tells_how_it_ended() -> None:
    hung = FakeTool("logs.trouble", {"trouble.hung": True})
    cancelled = FakeTool("logs.trouble", error=KeyboardInterrupt(), provides=("trouble.",))
    trace = FakeTool("profile.trace", {"trouble.hung": True}, grade=Grade.PERTURB)

    assert exit_status(ended(hung)) == ExitStatus.OK
    assert exit_status(ended()) == ExitStatus.NOT_ENOUGH_EVIDENCE
    assert exit_status(ended(trace)) == ExitStatus.BLOCKED_BY_POLICY
    assert exit_status(ended(cancelled)) == ExitStatus.CANCELLED


REQUEST = Request("profile.trace", 3, "Traces for 5 s.", "it may decide PP007")


@pytest.mark.parametrize(
    ("typed", "allowed"), [("y\n", True), ("YES\n", True), ("n\n", False), ("\n", False), ("", False)]
)
def test_only_a_yes_allows_a_tool(
    typed: str, allowed: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))

    assert ask_person(REQUEST) is allowed

    shown = capsys.readouterr().err
    assert "profile.trace (grade 3: disturbs the server)" in shown
    assert "Traces for 5 s." in shown


INCIDENTS = Path(__file__).parents[2] / "evals" / "incidents"


@pytest.mark.parametrize(
    ("incident", "verdict", "causes"),
    [
        ("lab-pp8-a", "diagnosed", {"PP001"}),
        ("lab-pp4-a", "healthy", set()),
        ("kimi-k26-pp8", "diagnosed", {"PP001", "CG001"}),
    ],
)
def test_a_recorded_incident_from_its_folder_to_the_document(
    incident: str, verdict: str, causes: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diagnose", str(INCIDENTS / incident), "--format", "json"]) == ExitStatus.OK

    document = json.loads(capsys.readouterr().out)
    supported = [h for h in document["hypotheses"] if h["state"] == "supported"]
    assert document["verdict"] == verdict
    assert causes <= {h["cause"] for h in supported}
    ids = {e["id"] for e in document["evidence"]}
    assert all(reason["evidence"] in ids for h in document["hypotheses"] for reason in h["because"] + h["against"])
    assert document["denied"] == [] and document["cost"]["tool_calls"].keys() == {"0"}


def test_the_port_of_a_live_server_reaches_the_target(monkeypatch: pytest.MonkeyPatch) -> None:
    import ppagent.targets.open as opening

    asked: dict[str, object] = {}

    def refuse(text: str, stdin: object, *, port: int | None = None, look: bool = True) -> object:
        asked.update(text=text, port=port)
        raise UserError("No server.", "Start one.")

    monkeypatch.setattr(opening, "open_target", refuse)
    assert main(["diagnose", "local", "--port", "30001"]) == 2
    assert asked == {"text": "local", "port": 30001}
