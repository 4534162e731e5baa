"""Investigations of recorded incidents by the rules and by a model, and what has to be the same in both."""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ppagent.agent.contribution import OTHER
from ppagent.agent.investigation import Investigation, investigate
from ppagent.brains.llm.brain import LlmBrain, Settings
from ppagent.brains.llm.model import ChatModel
from ppagent.brains.rules import RulesBrain
from ppagent.causes.cause import Change
from ppagent.changes.plan import make_plan
from ppagent.plugins import discover
from ppagent.report.document import document_of
from ppagent.report.html import as_html
from ppagent.report.json_report import as_json
from ppagent.report.markdown import as_markdown
from ppagent.report.text import as_text
from ppagent.targets.open import open_target

INCIDENTS_FOLDER = Path(__file__).parents[2] / "evals" / "incidents"
INCIDENTS = sorted(path for path in INCIDENTS_FOLDER.iterdir() if (path / "answer.yaml").is_file())
SEED = INCIDENTS_FOLDER / "kimi-k26-pp8"


@cache
def by_rules(recording: Path) -> Investigation:
    return _run(recording, RulesBrain())


def by_model(recording: Path, model: ChatModel, settings: Settings | None = None, **options: Any) -> Investigation:
    return _run(recording, LlmBrain(model, settings), **options)


def _run(recording: Path, brain: Any, **options: Any) -> Investigation:
    return investigate(open_target(str(recording)), discover(), brain=brain, planner=make_plan, session="s1", **options)


def states(found: Investigation) -> Mapping[str, str]:
    """What the code makes of every cause."""
    return {h.cause_id: h.state for h in found.board.hypotheses}


def code_changes(found: Investigation) -> list[tuple[str, Change]]:
    """What the code proposes, in its order."""
    return [(p.kind, p.change) for p in found.plan.proposals if OTHER not in p.causes]


RENDERINGS: tuple[Callable[[Investigation], str], ...] = (
    as_json,
    lambda found: as_text(document_of(found)),
    lambda found: as_markdown(document_of(found)),
    lambda found: as_html(document_of(found)),
)


def whole_report(found: Investigation) -> str:
    """Everything a person could read of it, in every form."""
    return "\n".join(render(found) for render in RENDERINGS)
