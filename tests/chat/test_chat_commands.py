import re
from pathlib import Path

import pytest

from ppagent.chat.commands.command import Leave, Switch
from ppagent.chat.commands.registry import BY_NAME, COMMANDS, help_lines, run_command
from ppagent.chat.home import state_home
from ppagent.chat.loop import take_turn
from ppagent.chat.manual import with_commands
from ppagent.chat.session import Session
from ppagent.errors import UserError
from ppagent.plugins import Grade
from tests.chat.chat_fakes import FakePerson, fake_session, probe, screen_of

PAGE = Path(__file__).parents[2] / "docs" / "chat.md"

REQUIRED = """board why again evidence propose diff predict bench try record ceiling model cost copy export sessions
resume help quit"""


def shown(session: Session, command: str) -> str:
    screen_of(session).lines.clear()
    take_turn(session, command)
    return screen_of(session).text


def test_every_command_is_there_once_and_says_what_it_does_in_a_sentence() -> None:
    assert set(REQUIRED.split()) == set(BY_NAME)
    assert len(COMMANDS) == len(BY_NAME)
    assert all(command.does.endswith(".") and len(command.does) < 110 for command in COMMANDS)


def test_the_page_lists_the_commands_as_the_registry_has_them() -> None:
    page = PAGE.read_text(encoding="utf-8")

    assert with_commands(page) == page, "docs/chat.md has another table than `python -m ppagent.chat.manual`"


def test_the_help_fits_80_columns_and_names_every_command() -> None:
    lines = [line.text for line in help_lines(80)]

    assert max(map(len, lines)) <= 80
    assert all(any(f"/{name}" in line for line in lines) for name in BY_NAME)


def test_the_help_of_one_command() -> None:
    assert "clipboard" in help_lines(80, "copy")[0].text
    with pytest.raises(UserError, match=r"There is no command /cpoy. Did you mean /copy\?"):
        help_lines(80, "cpoy")


def test_an_unknown_command_is_met_with_what_was_probably_meant(looked: Session) -> None:
    assert "There is no command /baord. Did you mean /board?" in shown(looked, "/baord")


def test_the_board_and_a_cause(looked: Session) -> None:
    board = shown(looked, "/board")
    found = re.search(r"supported    (H\d)  PP001  micro-batches unfilled", board)
    assert found is not None
    assert "KV001" in board

    assert "cure     P1 P2 P3" in shown(looked, "/why PP001")
    assert shown(looked, f"/why {found[1]}") == shown(looked, "/why pp001")
    assert "ruled out" in shown(looked, "/why kv pool")
    assert "No cause is called moonlight" in shown(looked, "/why moonlight")


def test_evidence_unfolds_to_its_facts_and_the_words_it_was_read_from(looked: Session) -> None:
    assert "  E29  bench.results     bench.jsonl" in shown(looked, "/evidence")

    whole = shown(looked, "/evidence E23")
    assert "E23  logs.decode · server.log · gpu-box" in whole
    assert "decode.running_req.max        3" in whole
    assert "  > [2026-05-02 14:24:55 PP0] Decode batch" in whole
    assert "E23" in shown(looked, "/evidence e22-e23")
    assert "There is no evidence E999" in shown(looked, "/evidence E999")
    assert "names no evidence" in shown(looked, "/evidence nonsense")


def test_proposals_whole_and_their_differences(looked: Session) -> None:
    command = next(p.command for p in looked.found().plan.proposals if p.id == "P2")

    assert f"    {command}\n" in shown(looked, "/propose P2")
    assert "    - --disable-cuda-graph\n" in shown(looked, "/diff P2")
    assert "there is no proposal P9" in shown(looked, "/propose P9")


def test_predict_takes_a_setting(looked: Session) -> None:
    assert "With limit 1, at C=8: 162-198 tok/s" in shown(looked, "/predict --pp-max-micro-batch-size=1")


def test_the_ceiling_is_a_persons_to_set() -> None:
    session = fake_session(probe(Grade.PERTURB))

    assert "asks first      3  disturbs the server" in shown(session, "/ceiling")
    assert "without asking  3  disturbs the server" in shown(session, "/ceiling 3")
    assert session.desk.ceiling is Grade.PERTURB
    assert "'9' is no grade" in shown(session, "/ceiling 9")


def test_a_raised_ceiling_lets_a_tool_run_unasked() -> None:
    tool = probe(Grade.PERTURB)
    session = fake_session(tool, person=FakePerson())
    take_turn(session, "/ceiling 3")

    take_turn(session, "why is it slow?")

    assert len(tool.runs) == 1


def test_the_cost_counts_questions_by_grade() -> None:
    session = fake_session(probe())
    take_turn(session, "why is it slow?")

    assert "grade 2   1 question: reads on the host, changes nothing" in shown(session, "/cost")
    assert "no model asked" in shown(session, "/cost")


def test_a_model_that_is_not_set_up_is_said_in_words(looked: Session) -> None:
    assert "rules brain" in shown(looked, "/model")
    assert "rules brain" in shown(looked, "/model rules")


def test_leaving_and_changing_to_another_session_are_exits(looked: Session) -> None:
    with pytest.raises(Leave):
        run_command(looked, "/quit")
    with pytest.raises(Switch) as switch:
        run_command(looked, "/resume 261129-1")
    assert switch.value.session_id == "261129-1"
    with pytest.raises(UserError, match="There is no other session"):
        run_command(looked, "/resume")


def test_copy_sends_the_whole_command_and_writes_it_to_a_file(seed: Session) -> None:
    take_turn(seed, "/propose P2")
    text = shown(seed, "/copy")
    command = next(p.command for p in seed.found().plan.proposals if p.id == "P2")

    path = state_home() / "copied" / f"{seed.id}-P2.txt"
    assert path.read_text() == command + "\n"
    assert str(path) in text
    (sequence,) = screen_of(seed).controls
    assert sequence.startswith("\x1b]52;c;")


def test_copy_says_where_there_is_no_terminal_to_copy_with(seed: Session) -> None:
    screen_of(seed).takes_controls = False

    text = shown(seed, "/copy P1")

    assert "clipboard" not in text
    assert "P1 (" in text
    assert "There is no command P9" in shown(seed, "/copy P9")


def test_acting_commands_need_a_live_server(looked: Session) -> None:
    for command in ("/bench", "/try", "/try limit 2"):
        assert "needs a live server" in shown(looked, command)


def test_sessions_are_listed_with_the_current_one_marked(seed: Session) -> None:
    take_turn(seed, "why is it slow?")

    assert f"* {seed.id}" in shown(seed, "/sessions")
    assert "why is it slow?" in shown(seed, "/sessions")
