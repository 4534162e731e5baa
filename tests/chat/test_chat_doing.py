from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from pydantic import BaseModel, Field

from ppagent.causes.cause import Change
from ppagent.changes.proposal import Plan, Predicted, Proposal
from ppagent.chat.doing import do
from ppagent.chat.loop import take_turn
from ppagent.chat.session import Session
from ppagent.errors import ToolError, UserError
from ppagent.evidence.evidence import Finding
from ppagent.plugins import Announcement, Grade, ToolContext
from ppagent_tools.tune import RelaunchArguments
from tests.chat.chat_fakes import FakePerson, fake_session, recorder_of, screen_of


class LimitArguments(BaseModel, extra="forbid"):
    limit: int = Field(ge=1)
    concurrency: int = 0


class LoadArguments(BaseModel, extra="forbid"):
    concurrency: list[int] = Field(default_factory=list)
    seconds: float = Field(20.0, ge=2)
    beside_others: bool = False


@dataclass
class FakeTune:
    """A live trial that measures what it is told to."""

    after: float = 180.0
    name: str = "tune.set_limit"
    summary: str = "Tries a limit."
    grade: Grade = Grade.PERTURB
    provides: tuple[str, ...] = ("trial.",)
    arguments: type[BaseModel] = LimitArguments
    runs: list[BaseModel] = field(default_factory=list)

    def announce(self, context: ToolContext, arguments: BaseModel) -> Announcement:
        asked = LimitArguments.model_validate(arguments.model_dump())
        if asked.limit > 64:
            raise ToolError("the server takes 64 at the most")
        plan = f"POST /set_internal_state: 256 -> {asked.limit} -> 256"
        return Announcement(plan, 125.0, "put back whatever happens", "http://gpu-box:30000")

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        self.runs.append(arguments)
        row = {"before": 95.0, "after": self.after, "noise_share": 0.014, "outcome": "better", "outputs": "identical"}
        return [Finding("trial", {"trial.comparisons": [row], "trial.restored": True}, '{"why": "x"}')]


@dataclass
class FakeBench:
    """Measures one level."""

    x: float = 96.0
    name: str = "bench.run"
    summary: str = "Loads the server."
    grade: Grade = Grade.LOAD
    provides: tuple[str, ...] = ("bench.",)
    arguments: type[BaseModel] = LoadArguments
    runs: list[BaseModel] = field(default_factory=list)

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        self.runs.append(arguments)
        level = {"concurrency": 8, "output_throughput": self.x, "mean_itl_ms": 83.7}
        return [Finding("bench.jsonl", {"bench.levels": [level]}, "{}", authority=3)]


def test_a_trial_is_shown_whole_before_it_is_allowed_and_its_result_is_evidence() -> None:
    tune, person = FakeTune(), FakePerson(answers=["y"])
    session = fake_session(tune, person=person)

    take_turn(session, "/try limit 1")

    shown = screen_of(session).text
    assert "runs      POST /set_internal_state: 256 -> 1 -> 256" in shown
    assert "where     http://gpu-box:30000" in shown
    assert "expected  2 min 05 s" in shown
    assert tune.runs == [LimitArguments(limit=1)]
    assert "better: 95, then 180 tok/s, +89% (noise 1.4%) [E1]" in shown
    assert "as it was before, read back" in shown
    assert session.desk.facts().items("trial.comparisons")[0]["after"] == 180.0  # type: ignore[call-overload,index]


def test_a_no_runs_nothing_and_is_recorded() -> None:
    tune = FakeTune()
    session = fake_session(tune, person=FakePerson(answers=["n not now"]))

    take_turn(session, "/try limit 1")

    assert tune.runs == []
    assert screen_of(session).lines[-2] == "Nothing was run."
    assert recorder_of(session).of("approval")[0]["word"] == "not now"


def test_without_anybody_to_ask_nothing_disturbs() -> None:
    tune, bench = FakeTune(), FakeBench()
    session = fake_session(tune, bench)

    take_turn(session, "/try limit 1")
    take_turn(session, "/bench")

    assert (tune.runs, bench.runs) == ([], [])


def test_a_yes_for_the_session_holds_for_the_very_same_trial_only() -> None:
    tune, person = FakeTune(), FakePerson(answers=["s", "n"])
    session = fake_session(tune, person=person)

    for command in ("/try limit 1", "/try limit 1", "/try limit 2"):
        take_turn(session, command)

    assert [run.model_dump()["limit"] for run in tune.runs] == [1, 1]
    assert len(person.questions) == 2


def test_trials_stand_beside_each_other_and_newer_levels_count() -> None:
    tune, bench = FakeTune(), FakeBench()
    session = fake_session(tune, bench, ceiling=Grade.LOAD)

    take_turn(session, "/try limit 1")
    tune.after = 150.0
    take_turn(session, "/try limit 2 with 16 requests")
    take_turn(session, "/bench 8 5s")
    bench.x = 181.0
    take_turn(session, "/bench 8 5s")

    rows = session.desk.facts().items("trial.comparisons")
    assert [row["after"] for row in rows if isinstance(row, dict)] == [180.0, 150.0]
    assert tune.runs[1] == LimitArguments(limit=2, concurrency=16)
    assert bench.runs[0] == LoadArguments(concurrency=[8], seconds=5.0, beside_others=True)
    assert session.desk.facts().items("bench.levels")[0]["output_throughput"] == 181.0  # type: ignore[call-overload,index]
    assert "C=8: 181 tok/s, 83.7 ms between tokens" in screen_of(session).text
    assert session.cost().tool_calls == {"3": 2, "4": 2}


@dataclass
class FakeRelaunch:
    """Takes what the real one takes, and measures nothing."""

    name: str = "tune.relaunch"
    summary: str = "Starts it anew."
    grade: Grade = Grade.RESTART
    provides: tuple[str, ...] = ("trial.",)
    arguments: type[BaseModel] = RelaunchArguments
    runs: list[RelaunchArguments] = field(default_factory=list)

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        self.runs.append(RelaunchArguments.model_validate(arguments.model_dump()))
        return [Finding("trial", {"trial.comparisons": [{"before": 95.0, "after": 205.0}], "trial.kept": True}, "{}")]


def proposing(made: Predicted | None) -> tuple[FakeRelaunch, Session]:
    """A session in which P1 is a relaunch with this forecast."""
    relaunch = FakeRelaunch()
    session = fake_session(relaunch, person=FakePerson(answers=["y"]))
    change = Change({"--pp-max-micro-batch-size": "1"}, ("--disable-cuda-graph",), {})
    proposal = Proposal("P1", ("CG001", "PP001"), "relaunch", "Both", change, ("E1",), predicted=made)
    session.desk.planner = lambda supported, facts: Plan((proposal,))
    return relaunch, session


FORECAST = Predicted("output_throughput", 8.0, 95.6, 200.0, 214.0)


@pytest.mark.parametrize("words", ["/try P1", "/try p1 C=8", "try P1"])
def test_a_relaunch_is_measured_at_its_forecasts_load_with_the_forecast_on_record(words: str) -> None:
    relaunch, session = proposing(FORECAST)

    take_turn(session, words)

    (asked,) = relaunch.runs
    made = asked.forecast
    assert made is not None
    assert (made.at_concurrency, made.baseline, made.low, made.high) == (8, 95.6, 200.0, 214.0)
    assert asked.change == Change({"--pp-max-micro-batch-size": "1"}, ("--disable-cuda-graph",), {})


def test_a_forecast_does_not_stand_for_another_load_or_another_figure() -> None:
    relaunch, session = proposing(FORECAST)
    take_turn(session, "/try P1 C=16")
    other, tokens = proposing(Predicted("mean_ttft_ms", 8.0, 900.0, 300.0, 400.0))
    take_turn(tokens, "/try P1")

    assert (relaunch.runs[0].concurrency, relaunch.runs[0].predicted) == (16, None)
    assert (other.runs[0].concurrency, other.runs[0].predicted) == (0, None)


def test_words_that_name_no_trial_are_said_to_name_none() -> None:
    relaunch, session = proposing(FORECAST)

    take_turn(session, "/try everything")

    assert relaunch.runs == []
    assert "/try does not know what to make of everything." in screen_of(session).text


def test_arguments_that_a_tool_does_not_take_are_said_in_words() -> None:
    session = fake_session(FakeTune(), FakeBench(), ceiling=Grade.LOAD)

    with pytest.raises(UserError, match="bench.run does not take that: seconds"):
        do(session, "bench.run", {"seconds": 1}, "")
    take_turn(session, "/bench fast")
    assert "does not know what to make of fast" in screen_of(session).text


def test_a_trial_of_nothing_says_what_may_be_tried() -> None:
    session = fake_session(FakeTune())
    take_turn(session, "/try")
    take_turn(session, "/try P7")
    shown = " ".join(screen_of(session).text.split())

    assert "There is no live change to try. Nothing is proposed. A limit of your own: /try limit 2." in shown
    assert "There is no P7 to try. Nothing is proposed." in shown
