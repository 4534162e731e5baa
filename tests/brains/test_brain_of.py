import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ppagent.brains.brain import brain_of
from ppagent.cli.main import main
from ppagent.errors import ExitStatus, UserError
from ppagent.sessions import read_session
from tests.brains.loopback import Behaviour, sends, serving
from tests.brains.runs import SEED
from tests.brains.wire_samples import chunk, piece, sse, usage

FINISH = sse([chunk({"tool_calls": [piece(0, "z", "finish", "{}")]}), chunk({}, "tool_calls"), usage(900, 100)])


def test_without_a_model_auto_is_the_rules_and_llm_says_what_it_lacks() -> None:
    assert brain_of("auto").name == "rules"
    with pytest.raises(UserError, match="No model is named"):
        brain_of("llm")


def test_auto_takes_a_model_as_soon_as_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")

    assert brain_of("auto").name == "llm"
    assert brain_of("rules").name == "rules"


def test_openais_own_endpoint_needs_a_key() -> None:
    with pytest.raises(UserError, match="OPENAI_API_KEY is not set"):
        brain_of("llm", model="some-model")


def modules_after(code: str) -> set[str]:
    paths = os.pathsep.join(path for path in sys.path if path)
    told = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": paths},
    )
    return set(told.stdout.splitlines()[-1].split())


def test_a_diagnosis_by_the_rules_loads_no_client() -> None:
    loaded = modules_after(f"from ppagent.cli.main import main\nmain(['diagnose', {str(SEED)!r}, '--format', 'json'])")

    assert "ppagent.agent.investigation" in loaded
    assert not {"openai", "ppagent.brains.llm.client", "ppagent.brains.llm.brain"} & loaded


def test_help_loads_nothing_heavy() -> None:
    loaded = modules_after("from ppagent.cli.main import main\nmain(['--help'])\nmain(['--version'])")

    assert not {"openai", "langgraph", "pydantic", "httpx2", "rich", "paramiko"} & loaded


def test_diagnose_with_a_model_tells_its_cost_and_leaves_a_session(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "config" / "ppagent" / "config.toml"
    config.parent.mkdir(parents=True)
    with serving(Behaviour([sends(FINISH)])) as url:
        config.write_text(
            f'default = "lab"\n[models.lab]\nmodel = "m"\nbase_url = "{url}"\n'
            "usd_per_million_input = 100.0\nusd_per_million_output = 200.0\n"
        )
        assert main(["diagnose", str(SEED), "--format", "json"]) == ExitStatus.OK

    told = capsys.readouterr()
    document = json.loads(told.out)
    session = read_session(tmp_path / "state" / "ppagent" / "sessions" / f"{document['session']}.jsonl")
    assert document["brain"] == "llm" and document["model"]["name"] == "m"
    assert document["cost"]["tokens"] == 1000
    assert document["cost"]["usd"] == pytest.approx(0.11)
    assert session.of("model")[0]["endpoint"] in url
    assert f"{document['session']}.jsonl" in told.err


def test_a_budget_of_money_on_the_command_line_holds(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    config = tmp_path / "config" / "ppagent" / "config.toml"
    config.parent.mkdir(parents=True)
    behaviour = Behaviour([sends(FINISH)])
    with serving(behaviour) as url:
        config.write_text(f'[models.lab]\nmodel = "m"\nbase_url = "{url}"\nusd_per_million_input = 1000.0\n')
        status = main(["diagnose", str(SEED), "--model", "lab", "--max-cost", "0.5", "--format", "json"])

    document = json.loads(capsys.readouterr().out)
    assert status == ExitStatus.BUDGET_USED_UP and behaviour.requests == []
    assert document["cost"]["usd"] == 0 and document["verdict"] == "diagnosed"
    assert "USD are left" in document["model"]["notes"][0]


def test_without_a_model_no_session_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diagnose", str(SEED), "--format", "json"]) == ExitStatus.OK

    assert not (tmp_path / "state").exists()
    assert "model" not in json.loads(capsys.readouterr().out)
