"""Which brains can be scored, and what the one with a model needs."""

from pathlib import Path

import pytest

from ppagent.errors import UserError
from ppagent_evals.brains import NAMES, brain_to_score

INCIDENT = Path(__file__).parents[2] / "evals" / "incidents" / "idle-after-launch"


@pytest.fixture(autouse=True)
def no_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "PPAGENT_MODEL"):
        monkeypatch.delenv(name, raising=False)


def test_the_brain_with_a_model_says_at_once_that_none_is_named() -> None:
    with pytest.raises(UserError, match="No model is named"):
        brain_to_score("llm")


def test_the_brain_with_a_model_takes_any_endpoint() -> None:
    assert callable(brain_to_score("llm", model="small", base_url="http://127.0.0.1:9/v1"))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "llm"])
def test_every_other_brain_diagnoses_without_a_model(name: str) -> None:
    assert brain_to_score(name)(INCIDENT)["verdict"] in ("diagnosed", "healthy", "not_enough_evidence")
