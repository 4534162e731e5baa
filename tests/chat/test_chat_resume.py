import json
import shutil
from pathlib import Path

import pytest

from ppagent.chat.loop import take_turn
from ppagent.chat.opening import Options, begin, leave, take_up
from ppagent.chat.session import Session
from ppagent.chat.store import ChatFile, session_path
from ppagent.errors import UserError
from tests.chat.chat_fakes import FakePerson, FakeScreen, screen_of
from tests.chat.conftest import SEED


def killed(session: Session) -> None:
    """Lets go of the file without any of the tidying at the end of a session."""
    assert isinstance(session.desk.recorder, ChatFile)
    session.desk.recorder._file.close()


def board(session: Session) -> list[tuple[str, str, str, float]]:
    return [(h.id, h.cause_id, h.state, h.judgement.confidence) for h in session.desk.board().hypotheses]


def test_a_killed_session_goes_on_with_the_same_evidence_board_and_words(seed: Session) -> None:
    take_turn(seed, "why is it slow? we send 8 requests at a time")
    killed(seed)

    again = take_up(seed.id, Options(FakeScreen(), dialog=FakePerson()))

    assert again.desk.ledger.evidence == seed.desk.ledger.evidence
    assert board(again) == board(seed)
    assert again.words == seed.words
    assert [one.text for one in again.said] == [one.text for one in seed.said]
    assert again.state["asked"] == seed.state["asked"]
    assert again.cost().tool_calls == seed.cost().tool_calls
    assert again.seconds == pytest.approx(seed.seconds, abs=0.01)


def test_a_resumed_session_asks_no_tool_again_and_numbers_evidence_on(seed: Session) -> None:
    take_turn(seed, "why is it slow?")
    killed(seed)
    again = take_up("", Options(FakeScreen()))
    known = len(again.desk.ledger.evidence)

    take_turn(again, "why is it slow? I count 2 running requests")

    ids = [item.id for item in again.desk.ledger.evidence]
    assert ids == [f"E{n}" for n in range(1, len(ids) + 1)]
    assert {item.tool for item in again.desk.ledger.evidence[known:]} == {"user.stated"}


def test_what_was_stopped_in_the_middle_is_asked_again(seed: Session) -> None:
    take_turn(seed, "why is it slow?")
    killed(seed)
    path = session_path(seed.id)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    last = max(n for n, row in enumerate(rows) if row["kind"] == "tool" and row["tool"] == "logs.trouble")
    path.write_text("".join(json.dumps(row) + "\n" for row in rows[:last]) + '{"kind": "tool", "tool": "logs.tr')

    again = take_up(seed.id, Options(FakeScreen()))
    assert "logs.trouble {}" not in again.state["asked"]
    take_turn(again, "go on")

    assert any(item.tool == "logs.trouble" for item in again.desk.ledger.evidence)


def test_approvals_are_not_among_what_is_kept(seed: Session) -> None:
    seed.consent._session.add("tune.set_limit {}")
    take_turn(seed, "why is it slow?")
    killed(seed)

    again = take_up(seed.id, Options(FakeScreen()))

    assert again.consent._session == set()
    assert "approvals begin anew" in screen_of(again).text


def test_a_target_that_is_gone_leaves_what_was_found(tmp_path: Path) -> None:
    copy = tmp_path / "recording"
    shutil.copytree(SEED, copy)
    session = begin(str(copy), Options(FakeScreen()))
    take_turn(session, "why is it slow?")
    killed(session)
    shutil.rmtree(copy)

    again = take_up(session.id, Options(FakeScreen()))
    take_turn(again, "what should I change?")

    assert "There is no file or folder" in screen_of(again).text
    assert "THEN, one restart  (P2: CG001 PP001)" in screen_of(again).text


def test_a_session_is_found_from_any_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(SEED.parent)
    session = begin(SEED.name, Options(FakeScreen()))
    session.hear("why?")
    leave(session)
    monkeypatch.chdir(tmp_path)

    again = take_up("", Options(FakeScreen()))

    assert again.desk.context.target.name == SEED.name
    assert again.desk.context.target.hosts == ("gpu-box",)


def test_a_session_in_which_nothing_was_said_is_not_kept(seed: Session) -> None:
    assert leave(seed) == ""
    assert not session_path(seed.id).exists()


@pytest.mark.parametrize(
    ("wrong", "right"),
    [('"id": "E1"', '"id": "E7"'), ('"authority": 1', '"authority": "x"'), ('"facts": {', '"facts_": {')],
)
def test_a_damaged_file_is_refused_in_words(seed: Session, wrong: str, right: str) -> None:
    take_turn(seed, "why?")
    killed(seed)
    path = session_path(seed.id)
    path.write_text(path.read_text().replace(wrong, right, 1))

    with pytest.raises(UserError, match="is damaged"):
        take_up(seed.id, Options(FakeScreen()))


def test_ctrl_c_at_the_first_look_ends_the_looking_and_not_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(session: Session) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ppagent.chat.opening.first_look", interrupted)

    session = begin(str(SEED), Options(FakeScreen()))

    assert "Stopped looking" in screen_of(session).text
    take_turn(session, "why is it slow?")
    assert "DIAGNOSED" in screen_of(session).text


def test_secrets_reach_no_file(seed: Session, state: Path) -> None:
    take_turn(seed, "why is it slow? I launch with --api-key sk-abcdefghijklmnop1234 and 8 requests in flight")

    text = "".join(path.read_text() for path in state.rglob("*") if path.is_file())
    assert "why is it slow?" in text
    assert "abcdefghijklmnop1234" not in text
    assert all("abcdefghijklmnop1234" not in one.text for one in seed.said)
