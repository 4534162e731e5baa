import json
from pathlib import Path
from typing import Any

import pytest

from ppagent.agent.budget import Budget
from ppagent.agent.investigation import Investigation, investigate
from ppagent.brains.llm.brain import LlmBrain, Settings
from ppagent.brains.llm.model import ModelFailed
from ppagent.brains.llm.prices import Prices
from ppagent.brains.rules import RulesBrain
from ppagent.causes.catalog import all_causes
from ppagent.changes.plan import make_plan
from ppagent.cli.main import main
from ppagent.errors import UserError
from ppagent.plugins import Grade, discover
from ppagent.replay import replay
from ppagent.report.json_report import as_json
from ppagent.sessions import SessionFile, read_session
from ppagent.targets.recording import Recording
from tests.agent.fakes import FakeTool, built_in, look_into
from tests.brains.models import FakeModel, liar, scripted, sensible
from tests.brains.runs import SEED

PRICES = Settings(Prices(usd_per_million_input=1.0, usd_per_million_output=2.0))


def recorded(tmp_path: Path, model: FakeModel | None, settings: Settings | None = PRICES) -> tuple[Path, Investigation]:
    file = SessionFile(tmp_path / "s1.jsonl")
    brain = LlmBrain(model, settings, file) if model is not None else RulesBrain()
    found = investigate(
        Recording(SEED), discover(), brain=brain, planner=make_plan, question="why slow?", session="s1", recorder=file
    )
    return file.path, found


def without_times(found: Investigation) -> Any:
    document = json.loads(as_json(found))
    del document["cost"]["seconds"]
    return document


@pytest.mark.parametrize("model", [None, sensible, liar, lambda: scripted("hm", "hm", "hm")])
def test_a_session_replayed_offline_gives_the_same_report(tmp_path: Path, model: Any) -> None:
    path, found = recorded(tmp_path, model() if model else None)

    again = replay(path)

    assert without_times(again) == without_times(found)


def test_a_model_that_failed_fails_again_in_the_same_words(tmp_path: Path) -> None:
    failed = scripted([("look", {"tools": ["logs.decode"]})], ModelFailed("lab:1 cannot be reached, after 4 tries."))
    path, found = recorded(tmp_path, failed)

    again = replay(path)

    assert again.contribution.notes == found.contribution.notes
    assert without_times(again) == without_times(found)


def test_a_budget_that_ended_the_model_ends_it_again(tmp_path: Path) -> None:
    file = SessionFile(tmp_path / "s1.jsonl")
    found = investigate(
        Recording(SEED), discover(), brain=LlmBrain(sensible(), None, file), planner=make_plan, session="s1",
        recorder=file, budget=Budget(tokens=8_000),
    )  # fmt: skip

    again = replay(file.path)

    assert found.status == again.status == "budget_used_up"
    assert without_times(again) == without_times(found)


def test_the_record_holds_every_message_tool_call_price_and_the_hash_of_the_prompts(tmp_path: Path) -> None:
    model = sensible()
    path, found = recorded(tmp_path, model)

    session = read_session(path)

    assert len(session.of("asked_model")) == len(session.of("reply")) == len(model.requests) == 3
    assert [m["role"] for m in session.of("asked_model")[0]["messages"]] == ["system", "user"]
    asked = [row["tool"] for row in session.of("tool")]
    assert len(asked) == found.cost.steps and "logs.decode" in asked
    assert sum(row["price"]["usd"] for row in session.of("reply")) == pytest.approx(found.cost.usd)
    assert len(session.of("model")[0]["prompts_sha256"]) == 64
    assert session.rows[-1]["kind"] == "end" and session.rows[-1]["verdict"] == "diagnosed"


def test_what_a_person_allowed_is_allowed_again(tmp_path: Path) -> None:
    file = SessionFile(tmp_path / "s1.jsonl")
    tool = FakeTool("profile.trace", {"decode.running_req.p95": 3}, grade=Grade.PERTURB, excerpt="x")
    look_into(built_in(tool), causes=all_causes(), kind="local", approver=lambda _: True, recorder=file)  # type: ignore[arg-type]

    session = read_session(file.path)

    assert [(row["tool"], row["allowed"]) for row in session.of("approval")] == [("profile.trace", True)]
    assert replay(file.path).evidence[0].facts == {"decode.running_req.p95": 3}


def test_ppagent_diagnose_takes_a_session_for_its_target(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, found = recorded(tmp_path, sensible())

    assert main(["diagnose", str(path), "--format", "json"]) == 0

    assert json.loads(capsys.readouterr().out)["summary"] == found.summary


def test_a_session_with_parts_missing_is_refused_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text('{"kind": "session", "schema_version": 1}\n')

    with pytest.raises(UserError, match="not whole"):
        replay(path)
