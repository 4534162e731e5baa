"""A question has one forecast: as a proposal's change, as a chat's setting, as `ppagent predict` says it."""

import io
from functools import lru_cache
from pathlib import Path

import pytest

from ppagent.agent.investigation import Investigation, investigate
from ppagent.brains.brain import brain_of
from ppagent.causes.cause import Change
from ppagent.changes.forecasts import forecast
from ppagent.changes.plan import make_plan
from ppagent.chat.answers.forecast import Unknown, forecast_of
from ppagent.chat.answers.setting import Setting
from ppagent.cli.predict_facts import found_facts, server_in
from ppagent.cli.predict_settings import changed
from ppagent.model.forecast import Forecast
from ppagent.model.whatif import Server, what_if
from ppagent.plugins import discover
from ppagent.targets.open import open_target

INCIDENTS = Path(__file__).parents[2] / "evals" / "incidents"
RECORDINGS = ("kimi-k26-pp8", "lab-pp8-a", "lab-pp8-b", "lab-pp4-a", "pp003-limit-left-behind")
LIMIT, GRAPHS, PARTITION = "--pp-max-micro-batch-size", "--disable-cuda-graph", "SGLANG_PP_LAYER_PARTITION"
DEPTH = "--pp-async-batch-depth"
SPLIT = (8, 8, 8, 8, 8, 8, 8, 5)
QUESTIONS = (
    *(Setting(limit=limit) for limit in (1, 2, 3, 8, 64)),
    Setting(depth=2),
    Setting(limit=1, depth=2),
    Setting(graphs=True),
    Setting(limit=1, graphs=True),
    Setting(split=SPLIT),
    Setting(limit=1, graphs=True, split=SPLIT),
)


@lru_cache
def looked_at(name: str) -> Investigation:
    target = open_target(str(INCIDENTS / name), io.StringIO())
    return investigate(target, discover(), brain=brain_of("rules"), planner=make_plan)


def change(setting: Setting) -> Change:
    flags = {LIMIT: setting.limit, DEPTH: setting.depth}
    return Change(
        {flag: str(value) for flag, value in flags.items() if value is not None},
        (GRAPHS,) if setting.graphs else (),
        {PARTITION: ",".join(map(str, setting.split))} if setting.split else {},
    )


def words(setting: Setting) -> list[str]:
    asked = change(setting)
    values = [f"{flag.removeprefix('--')}={value}" for flag, value in asked.set.items()]
    values += [f"{flag.removeprefix('--')}=false" for flag in asked.unset]
    return values + [f"{name}={value}" for name, value in asked.env.items()]


def predicted(server: Server, setting: Setting) -> Forecast | None:
    """What `ppagent predict` answers; None where it says that the model cannot."""
    then = changed(words(setting), server.now, server.stages)
    try:
        return what_if(server, then, max(level.concurrency for level in server.levels))
    except ValueError:
        return None


@pytest.mark.parametrize("name", RECORDINGS)
def test_a_proposal_a_chat_and_predict_say_the_same(name: str) -> None:
    facts = looked_at(name).facts
    server = server_in(found_facts(str(INCIDENTS / name)))
    answered = 0
    for setting in QUESTIONS:
        if setting.split and len(setting.split) != server.stages:
            continue
        chatted, promised = forecast_of(facts, setting), forecast(change(setting), facts)
        said = predicted(server, setting)
        assert isinstance(chatted, Unknown) or said is not None, setting
        if isinstance(chatted, Unknown) or said is None:
            assert promised is None, setting
            continue
        assert chatted.predicted() == said.predicted(), setting
        if promised is not None:
            assert (promised.baseline, promised.low, promised.high) == tuple(
                said.predicted()[key] for key in ("baseline", "low", "high")
            ), setting
            answered += 1
    assert answered >= 4


def test_what_the_plan_proposes_is_asked_in_the_same_words() -> None:
    found = looked_at("kimi-k26-pp8")
    priced = [proposal for proposal in found.plan.proposals if proposal.predicted is not None]
    assert priced
    assert all(forecast(proposal.change, found.facts) == proposal.predicted for proposal in priced)


def test_a_limit_in_force_that_queues_is_forecast_and_says_who_waits() -> None:
    facts = looked_at("pp003-limit-left-behind").facts
    raised = forecast(change(Setting(limit=8)), facts)
    assert raised is not None
    assert raised.baseline == pytest.approx(205.4, abs=0.1)
    assert raised.low > 1.5 * raised.baseline
    assert "56 of 64 requests wait for a slot now, and none then" in raised.regime
