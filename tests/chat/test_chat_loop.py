import pytest

from ppagent.agent.budget import Budget
from ppagent.chat.loop import STOPPED, take_turn, talk
from ppagent.errors import ToolError
from tests.agent.fakes import FakeTool
from tests.chat.chat_fakes import FakePerson, fake_session, probe, recorder_of, screen_of


def test_the_end_of_the_input_ends_the_conversation() -> None:
    person = FakePerson(says=["why is it slow?", ""])
    session = fake_session(probe())

    assert talk(session, person) is None
    assert [row["who"] for row in recorder_of(session).of("said")] == ["user", "ppagent"]


@pytest.mark.parametrize(
    ("answers", "stays"),
    [(["n"], True), ([""], True), (["y"], False), ([KeyboardInterrupt], False), ([EOFError], False)],
)
def test_ctrl_c_where_nothing_runs_asks_whether_to_leave(answers: list[str], stays: bool) -> None:
    person = FakePerson(says=[KeyboardInterrupt, "/cost"], answers=list(answers))
    session = fake_session(probe())

    talk(session, person)

    assert person.questions == ["leave? [y]es, [n]o > "]
    assert ("time" in screen_of(session).text) is stays


def test_ctrl_c_while_something_runs_ends_that_and_not_the_session() -> None:
    slow = FakeTool("fake.probe", {"trouble.hung": True}, error=KeyboardInterrupt())
    person = FakePerson(says=["why is it slow?", "/cost"])
    session = fake_session(slow)

    talk(session, person)

    assert STOPPED in screen_of(session).text
    assert "time" in screen_of(session).text
    assert person.questions == []


def test_an_error_for_the_person_is_shown_and_the_talk_goes_on() -> None:
    session = fake_session(probe())

    take_turn(session, "/evidence E7")
    take_turn(session, "/ceiling 9")

    assert "There is no evidence E7. Nothing was found yet." in screen_of(session).text
    assert "'9' is no grade." in screen_of(session).text


def test_a_tool_that_fails_is_a_line_and_no_end() -> None:
    session = fake_session(FakeTool("fake.probe", {"trouble.hung": True}, error=ToolError("the host is gone")))

    take_turn(session, "why is it slow?")

    assert "no answer: the host is gone" in screen_of(session).text
    assert "NOT ENOUGH EVIDENCE" in screen_of(session).text


def test_a_bug_is_left_to_crash() -> None:
    session = fake_session(FakeTool("fake.probe", {"trouble.hung": True}, error=ZeroDivisionError()))

    with pytest.raises(ZeroDivisionError):
        take_turn(session, "why is it slow?")


def test_another_session_is_asked_for_by_its_id() -> None:
    assert talk(fake_session(), FakePerson(says=["/resume 261129-1"])) == "261129-1"


def test_a_budget_that_ended_the_asking_is_said() -> None:
    session = fake_session(probe())
    session.desk.budget = Budget(seconds=0)

    take_turn(session, "why is it slow?")

    assert "NOT FINISHED  the budget of 0 s is used up: say go on" in screen_of(session).text


def test_what_a_turn_cost_is_kept() -> None:
    session = fake_session(probe())

    take_turn(session, "why is it slow?")

    assert recorder_of(session).of("cost")[-1]["seconds"] == pytest.approx(session.seconds, abs=0.001)
