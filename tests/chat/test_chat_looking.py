import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pydantic import BaseModel

from ppagent.agent.choosing import ToolCall, Usage
from ppagent.chat.looking import first_look, investigate, know
from ppagent.chat.loop import take_turn
from ppagent.chat.voice import Voice
from ppagent.config import ModelProfile
from ppagent.evidence.evidence import Finding
from ppagent.plugins import Grade, ToolContext
from tests.agent.fakes import FakeBrain, FakeCause, FakeTool
from tests.chat.chat_fakes import HUNG, FakePerson, fake_session, probe, recorder_of, screen_of

ROOT = Path(__file__).parents[2]


@dataclass
class InterruptedTool(FakeTool):
    """Sends Ctrl-C to its own process while it works; `swallows` it where told to."""

    swallows: bool = False
    ended: list[str] = field(default_factory=list)

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        try:
            time.sleep(5)
            self.ended.append("slept to the end")
        except KeyboardInterrupt:
            if not self.swallows:
                raise
        finally:
            timer.join()
        return super().run(context, arguments)


def test_a_first_look_asks_what_tells_the_server_apart_and_loads_no_langgraph() -> None:
    code = (
        "import sys\n"
        "from tests.chat.chat_fakes import fake_session, probe\n"
        "from tests.agent.fakes import FakeTool\n"
        "from ppagent.chat.looking import first_look\n"
        "version = FakeTool('server.version', {'engine.version': '0.5.11'}, authority=3)\n"
        "session = fake_session(version, probe())\n"
        "first_look(session)\n"
        "print(session.state['asked'], [m for m in sys.modules if m.startswith('langgraph.graph')])\n"
    )
    path = os.pathsep.join(str(ROOT / part) for part in (".", "tools", "evals", "prompts"))
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == "['server.version {}'] []\n"


def test_a_first_look_shows_no_line_for_each_tool_and_never_disturbs() -> None:
    loud = FakeTool("bench.load", {"engine.version": "1"}, grade=Grade.LOAD)
    session = fake_session(loud, ceiling=Grade.RESTART)

    first_look(session)

    assert loud.runs == []
    assert screen_of(session).lines == []


def test_each_question_to_a_tool_is_one_line_and_says_what_it_became() -> None:
    session = fake_session(probe())

    investigate(session)

    assert screen_of(session).worked == ["fake.probe: it may decide PP008"]
    assert screen_of(session).lines == ["  fake.probe        box       reads host  0.0 s  E1"]
    assert session.desk.board().supported[0].cause_id == "PP008"


def test_what_was_found_is_on_the_disk_before_the_next_question() -> None:
    first = FakeTool("a.first", {"trouble.hung": True})
    second = FakeTool("a.second", {"trouble.other": True})
    session = fake_session(first, second, causes=[HUNG, FakeCause("PP009", "trouble.other")])
    seen: list[int] = []
    run = second.run
    second.run = lambda c, a: seen.append(len(recorder_of(session).of("tool"))) or run(c, a)  # type: ignore[method-assign,func-returns-value]

    investigate(session)

    assert seen == [1]


def test_above_the_ceiling_a_person_is_asked_and_a_no_runs_nothing_more() -> None:
    loud, louder = probe(Grade.LOAD), FakeTool("x.other", {"trouble.other": True}, grade=Grade.LOAD)
    person = FakePerson(answers=["n"])
    session = fake_session(loud, louder, causes=[HUNG, FakeCause("PP009", "trouble.other")], person=person)

    investigate(session)

    assert (loud.runs, louder.runs) == ([], [])
    assert len(person.questions) == 1
    assert [row["why"] for row in session.state["denied"]] == ["not allowed"]
    assert recorder_of(session).of("approval") == [{"tool": "fake.probe", "grade": 4, "allowed": False, "word": ""}]


def test_a_no_with_a_word_reaches_a_brain_that_reads_words() -> None:
    brain = FakeBrain([ToolCall("fake.probe", "to see"), ToolCall("b.quiet", "instead")])
    quiet = FakeTool("b.quiet", {"trouble.other": True})
    person = FakePerson(answers=["no, it is in production"])
    session = fake_session(probe(Grade.LOAD), quiet, person=person, brain=brain)

    investigate(session)

    assert [m.why for m in brain.views[1].missing] == ["not allowed: it is in production"]
    assert len(quiet.runs) == 1


def test_a_yes_runs_it_once() -> None:
    loud = probe(Grade.LOAD)
    session = fake_session(loud, person=FakePerson(answers=["y"]))

    investigate(session)

    assert len(loud.runs) == 1
    assert session.desk.board().supported != ()


def test_where_nobody_can_be_asked_it_is_denied_and_listed() -> None:
    loud = probe(Grade.LOAD)
    session = fake_session(loud)

    investigate(session)

    assert loud.runs == []
    assert session.found().denied[0]["tool"] == "fake.probe"


def test_ctrl_c_at_an_approval_runs_nothing() -> None:
    loud = probe(Grade.LOAD)
    session = fake_session(loud, person=FakePerson(answers=[KeyboardInterrupt]))

    with pytest.raises(KeyboardInterrupt):
        investigate(session)

    assert loud.runs == []
    assert session.status == "cancelled"


def test_ctrl_c_ends_the_tool_at_hand_keeps_what_there_is_and_asks_nothing_more() -> None:
    slow = InterruptedTool("b.slow", {"trouble.other": True}, grade=Grade.HTTP_GET)
    last = FakeTool("c.last", {"trouble.third": True}, grade=Grade.READ_HOST)
    causes = [HUNG, FakeCause("PP009", "trouble.other"), FakeCause("PP007", "trouble.third")]
    session = fake_session(FakeTool("a.first", {"trouble.hung": True}), slow, last, causes=causes)

    with pytest.raises(KeyboardInterrupt):
        investigate(session)

    assert slow.ended == [] and last.runs == []
    assert [item.tool for item in session.desk.ledger.evidence] == ["a.first"]
    assert "stopped" in screen_of(session).lines[-1]
    assert session.state["asked"] == ["a.first {}"]
    assert session.seconds < 2


def test_a_tool_that_swallows_ctrl_c_is_the_last_one_all_the_same() -> None:
    rude = InterruptedTool("a.rude", {"trouble.hung": True}, swallows=True)
    last = FakeTool("c.last", {"trouble.third": True}, grade=Grade.READ_HOST)
    session = fake_session(rude, last, causes=[HUNG, FakeCause("PP007", "trouble.third")])

    with pytest.raises(KeyboardInterrupt):
        investigate(session)

    assert last.runs == []


def test_what_was_stopped_is_not_begun_again_unasked_but_on_demand() -> None:
    slow = InterruptedTool("b.slow", {"trouble.hung": True})
    session = fake_session(slow)
    with pytest.raises(KeyboardInterrupt):
        investigate(session)

    know(session)
    assert slow.runs == []

    slow.run = lambda c, a: FakeTool.run(slow, c, a)  # type: ignore[method-assign]
    investigate(session)
    assert len(slow.runs) == 1
    assert session.desk.board().supported != ()


def test_a_second_question_asks_no_tool_twice() -> None:
    tool = probe()
    session = fake_session(tool)

    investigate(session)
    session.looked = False
    investigate(session)

    assert len(tool.runs) == 1


def test_each_question_has_a_fresh_brain_and_what_the_last_one_spent_still_counts() -> None:
    made: list[FakeBrain] = []

    def make(recorder: object) -> FakeBrain:
        made.append(FakeBrain([ToolCall("fake.probe", "to see")], spent=Usage(100, 0.5)))
        return made[-1]

    session = fake_session(probe())
    session.make_brain = make
    session.voice = Voice(ModelProfile(model="m"))

    investigate(session)
    session.looked = False
    investigate(session)

    assert len(made) == 2
    assert session.cost().tokens == 200
    assert "choosing what to look at" in screen_of(session).worked[0]


def test_where_a_models_money_is_spent_the_rules_go_on() -> None:
    session = fake_session(probe())
    session.voice = Voice(ModelProfile(model="m"), Usage(10, 3.0))
    session.make_brain = lambda recorder: FakeBrain([])

    investigate(session)

    assert session.desk.brain.name == "rules"
    assert session.desk.board().supported != ()


def test_steps_count_anew_for_each_question() -> None:
    tools = [FakeTool(f"t.n{n}", {f"trouble.n{n}": True}) for n in range(4)]
    session = fake_session(*tools, causes=[FakeCause(f"PP00{n}", f"trouble.n{n}") for n in range(4)])
    session.desk.budget = type(session.desk.budget)(steps=2)

    investigate(session)
    assert session.status == "budget_used_up"
    investigate(session)

    assert sum(len(tool.runs) for tool in tools) == 4


def test_first_comes_what_reads_tell_and_what_disturbs_waits_for_a_go_on() -> None:
    person = FakePerson(answers=["n"])
    tool = probe(Grade.LOAD)
    session = fake_session(tool, person=person)
    session.insists = False

    take_turn(session, "why is it slow?")

    assert (person.questions, tool.runs) == ([], [])
    assert "NOT ENOUGH EVIDENCE" in screen_of(session).text
    assert "FURTHER  fake.probe (puts load on the server): " in screen_of(session).text
    assert session.state["denied"] == []
    take_turn(session, "yes")
    assert len(person.questions) == 1
    assert session.insists is False


def test_a_command_never_comes_to_an_approval_by_itself() -> None:
    person = FakePerson(answers=["y"])
    tool = probe(Grade.LOAD)
    session = fake_session(tool, person=person)
    session.insists = False

    take_turn(session, "/board")

    assert (person.questions, tool.runs) == ([], [])
    take_turn(session, "go on")
    assert len(tool.runs) == 1
