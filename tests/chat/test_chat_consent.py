from dataclasses import replace

import pytest

from ppagent.chat.consent import QUESTION_ONCE, Consent, Deed, visible
from tests.chat.chat_fakes import FakePerson, FakeScreen

DEED = Deed(
    name="tune.set_limit",
    arguments={"limit": 1},
    grade=3,
    where="gpu-box",
    why="it may decide PP001",
    runs="curl -X POST http://127.0.0.1:30000/set_internal_state",
    seconds=240,
    effect="at most one request a slot; put back afterwards",
)


def consent(*answers: str | type[BaseException]) -> tuple[Consent, FakeScreen, FakePerson]:
    screen, person = FakeScreen(), FakePerson(answers=list(answers))
    return Consent(screen, person), screen, person


def test_a_person_sees_what_runs_where_how_it_disturbs_how_long_and_why() -> None:
    asked, screen, _ = consent("y")

    assert asked.decide(DEED).allowed
    shown = " ".join(screen.text.split())
    for words in (
        "tune.set_limit asks to run (grade 3: disturbs the server)",
        "runs curl -X POST http://127.0.0.1:30000/set_internal_state",
        "where gpu-box",
        "effect at most one request a slot; put back afterwards",
        "expected 4 min 00 s",
        "because it may decide PP001",
    ):
        assert words in shown


def test_a_deed_without_an_announcement_is_shown_by_its_name_and_arguments() -> None:
    asked, screen, _ = consent("n")

    asked.decide(replace(DEED, runs="", seconds=None))

    assert "tune.set_limit limit=1" in screen.text
    assert "it does not say how long" in screen.text


@pytest.mark.parametrize("answer", ["y", "YES", " yes "])
def test_yes_is_a_yes(answer: str) -> None:
    asked, _, _ = consent(answer)

    assert asked.decide(DEED).allowed


@pytest.mark.parametrize(
    ("answer", "word"),
    [("n", ""), ("no", ""), ("no, 64 users are on it", "64 users are on it"), ("n look at the log", "look at the log")],
)
def test_no_may_come_with_a_word_for_the_agent(answer: str, word: str) -> None:
    asked, _, _ = consent(answer)

    decision = asked.decide(DEED)

    assert not decision.allowed
    assert decision.word == word


def test_a_secret_in_the_word_is_masked_before_anybody_has_it() -> None:
    asked, _, _ = consent("n use password=hunter2hunter2 for it")

    assert asked.decide(DEED).word == "use password=[masked] for it"


@pytest.mark.parametrize("answers", [(), (EOFError,), ("", "", ""), ("yes but not now", "maybe", "later")])
def test_the_end_of_the_input_and_what_is_no_answer_mean_no(answers: tuple[str, ...]) -> None:
    asked, _, person = consent(*answers)

    assert not asked.decide(DEED).allowed
    assert len(person.questions) <= 3


def test_ctrl_c_stops_it_all() -> None:
    asked, _, _ = consent(KeyboardInterrupt)

    with pytest.raises(KeyboardInterrupt):
        asked.decide(DEED)


def test_nobody_there_means_no_without_a_question() -> None:
    screen = FakeScreen()

    assert not Consent(screen, None).decide(DEED).allowed
    assert screen.lines == []


def test_a_yes_for_the_session_holds_for_the_same_arguments_and_no_others() -> None:
    asked, _, person = consent("s", "n")

    assert asked.decide(DEED).allowed
    assert asked.decide(DEED).allowed
    assert len(person.questions) == 1
    assert not asked.decide(replace(DEED, arguments={"limit": 2})).allowed
    assert len(person.questions) == 2


def test_a_single_yes_is_not_remembered() -> None:
    asked, _, _ = consent("y", "n")

    assert asked.decide(DEED).allowed
    assert not asked.decide(DEED).allowed


def test_what_may_change_anything_is_never_allowed_for_the_session() -> None:
    asked, _, person = consent("s", "y", "n")
    restart = replace(DEED, grade=5)

    assert asked.decide(restart).allowed
    assert person.questions == [QUESTION_ONCE, QUESTION_ONCE]
    assert not asked.decide(restart).allowed


def test_what_a_screen_would_hide_is_shown() -> None:
    hidden = "cat /tmp/a\u202e; rm -rf /\u0430\x1b[2K"

    assert visible(hidden) == "cat /tmp/a\\u202e; rm -rf /\\u0430\\x1b[2K"
    assert visible("two\nlines") == "two\nlines"
