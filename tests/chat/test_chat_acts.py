"""What does more than read is told as it is: while it runs, where it was cut, and after a kill."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from pydantic import BaseModel

from ppagent.chat.acts import Act, acts_in
from ppagent.chat.loop import take_turn
from ppagent.chat.session import Session
from ppagent.errors import ToolError
from ppagent.evidence.evidence import Finding
from ppagent.plugins import ToolContext
from ppagent.sessions import Session as Saved
from ppagent.trials.note import RestoreNote, restoring
from tests.chat.chat_fakes import FakePerson, fake_session, recorder_of, screen_of
from tests.chat.test_chat_doing import FakeTune

ROW = {
    "before": 9.075,
    "after": 19.12,
    "noise_share": 0.65,
    "gain_low_share": 0.28,
    "gain_high_share": 2.48,
    "outcome": "better",
    "why": "told apart",
    "outputs": "identical",
    "set": {"--pp-max-micro-batch-size": "1"},
    "old": 256,
    "forecast_low": 9.9,
    "forecast_high": 59.4,
    "unit": "tok/s",
}


@dataclass
class CutTune(FakeTune):
    """A trial that says how far it is, and ends as it is told to."""

    error: BaseException | None = None

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        self.runs.append(arguments)
        context.say("pp_max_micro_batch_size is 1 now, read back")
        if self.error is not None:
            raise self.error
        return [Finding("trial", {"trial.comparisons": [ROW], "trial.restored": True}, "{}")]


def tried(error: BaseException | None = None) -> Session:
    session = fake_session(CutTune(error=error), person=FakePerson(answers=["y"]))
    take_turn(session, "/try limit 1")
    return session


def answer(session: Session, text: str) -> str:
    screen_of(session).lines.clear()
    take_turn(session, text)
    return " ".join(screen_of(session).text.split())


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch) -> list[RestoreNote]:
    """The notes that are found of the server."""
    notes: list[RestoreNote] = []
    monkeypatch.setattr("ppagent.trials.left.left_on", lambda target, text: tuple(notes))
    return notes


NOTE = RestoreNote("live", "ssh://fake/30000", key="pp_max_micro_batch_size", old=256, new=1, at="2026-11-30T10:13:32")


def test_a_trial_says_how_far_it_is_and_its_result_has_interval_forecast_and_the_old_value() -> None:
    shown = screen_of(tried()).lines

    assert "    pp_max_micro_batch_size is 1 now, read back" in shown
    text = " ".join(" ".join(shown).split())
    assert "better: 9.075, then 19.12 tok/s, +111%, between +28% and +248% with 95 % confidence [E1]" in text
    assert "forecast 9.9-59.4 tok/s: inside it" in text
    assert "server pp_max_micro_batch_size is back at 256, read back" in text


def test_a_trial_that_cannot_tell_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ROW, "outcome", "cannot tell")
    monkeypatch.setitem(ROW, "forecast_low", 30.0)

    text = " ".join(screen_of(tried()).text.split())

    assert "cannot tell: 9.075, then 19.12 tok/s" in text
    assert "because told apart" in text
    assert "forecast 30-59.4 tok/s: below it" in text


@pytest.mark.parametrize("question", ["what did you run on my box?", "undo", "is the setting back?"])
def test_a_trial_is_among_what_was_done(question: str, left: list[RestoreNote]) -> None:
    text = answer(tried(), question)

    assert "I changed nothing" not in text
    assert "tune.set_limit limit=1 (disturbs the server): the server is as it was before, read back [E1]" in text


@pytest.mark.parametrize("question", ["what did you run on my box?", "undo", "how do i get back"])
def test_a_trial_that_was_stopped_is_among_what_was_done(question: str, left: list[RestoreNote]) -> None:
    session = tried(KeyboardInterrupt())
    stopped = " ".join(screen_of(session).text.split())

    text = answer(session, question)

    assert "Nothing of it is left on the server: its old setting stands." in stopped
    assert "I changed nothing" not in text
    assert "tune.set_limit limit=1 (disturbs the server): stopped by you" in text


def test_a_trial_that_left_its_setting_behind_says_so_wherever_it_is_asked(left: list[RestoreNote]) -> None:
    left.append(NOTE)
    back = restoring("ssh://fake", NOTE.server)

    stopped = " ".join(screen_of(tried(KeyboardInterrupt())).text.split())
    failed = tried(ToolError("could NOT be put back"))

    for text in (stopped, answer(failed, "is it back how it was?"), answer(failed, "what happened")):
        assert "was set from 256 to 1 on ssh://fake/30000 at 2026-11-30T10:13:32 and not put back" in text
        assert back == "ppagent try ssh://fake --port 30000 --restore"
        assert back in text


def test_a_trial_that_failed_says_that_the_old_setting_stands(left: list[RestoreNote]) -> None:
    text = " ".join(screen_of(tried(ToolError("/generate gave no answer"))).text.split())

    assert "/generate gave no answer The trial failed. Nothing of it is left on the server: its old" in text


def test_what_a_forecast_says_is_no_part_of_what_was_done() -> None:
    act = Act("tune.set_limit", {"limit": 1, "predicted": {"low": 8.1}}, 3)

    assert act.call == "tune.set_limit limit=1"


def test_whether_a_trial_helped_that_never_ended_cannot_be_told(left: list[RestoreNote]) -> None:
    text = answer(tried(KeyboardInterrupt()), "did the trial help?")

    assert "That cannot be told: the trial (tune.set_limit limit=1) was stopped by you." in text


def test_what_was_tried_is_told_again_with_its_forecast() -> None:
    session = tried()

    assert "forecast 9.9-59.4 tok/s: inside it" in answer(session, "what was the forecast")
    assert "Yes: it was better under this load." in answer(session, "should i keep it")
    assert "Nothing was tried in this session yet" in answer(fake_session(), "should i keep it")


def test_what_was_begun_stands_in_the_file_before_it_runs_and_how_it_ended_after(left: list[RestoreNote]) -> None:
    rows = recorder_of(tried(KeyboardInterrupt())).rows

    kinds = [kind for kind, _ in rows]
    assert kinds.index("act") < kinds.index("act_ended")
    saved = Saved({}, tuple({"kind": kind, **data} for kind, data in rows))
    assert [(act.tool, act.arguments, act.ended) for act in acts_in(saved)] == [
        ("tune.set_limit", {"limit": 1}, "stopped")
    ]
    killed = Saved({}, saved.rows[: kinds.index("act") + 1])
    assert [act.ended for act in acts_in(killed)] == [""]


def test_a_trial_that_cannot_be_made_is_not_asked_about() -> None:
    person = FakePerson(answers=["y"])
    session = fake_session(FakeTune(), person=person)

    take_turn(session, "/try limit 65")

    assert person.questions == []
    assert "the server takes 64 at the most" in screen_of(session).text
