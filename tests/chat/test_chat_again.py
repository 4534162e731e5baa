"""A second look at a live server, over a real SSH connection to a server that is really started anew."""

import functools
from collections.abc import Iterator
from pathlib import Path

import pytest

from ppagent.chat import lookout, opening
from ppagent.chat.loop import take_turn
from ppagent.chat.opening import Options, begin, take_up
from ppagent.chat.session import Session
from ppagent.evidence.evidence import Finding
from ppagent.targets.live_host import Windows
from ppagent.targets.open import open_target
from tests.chat.chat_fakes import FakePerson, FakeScreen, screen_of
from tests.fixtures.fake_server import FakeServer
from tests.fixtures.sshd import MISSING, Sshd

SHORT = Windows(cpu_s=0.1, gpu_s=0.2, scrapes=2, scrape_gap_s=0.1)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[FakeServer]:
    running = FakeServer(tmp_path / "box").start()
    yield running
    running.stop()


@pytest.fixture
def session(server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    """About the server, over SSH, after the first look."""
    if MISSING:
        pytest.skip(MISSING)
    sshd = Sshd(tmp_path / "sshd").start()
    monkeypatch.setenv("PPAGENT_SSH_CONFIG", str(sshd.ssh_config()))
    for module in (opening, lookout):
        monkeypatch.setattr(module, "open_target", functools.partial(open_target, windows=SHORT))
    begun = begin("ssh://box", Options(FakeScreen(), dialog=FakePerson(), port=server.port))
    yield begun
    sshd.stop()


def started_anew(server: FakeServer, *words: str) -> None:
    server.stop()
    server.words = words or server.words
    server.log.unlink()
    server.start()


def answer(session: Session, text: str) -> str:
    screen_of(session).lines.clear()
    take_turn(session, text)
    return " ".join(screen_of(session).text.split())


def test_a_server_that_goes_on_is_not_looked_at_afresh(session: Session) -> None:
    found = len(session.desk.ledger.evidence)

    said = answer(session, "/ceiling")

    assert "started anew" not in said
    assert len(session.desk.ledger.evidence) == found
    assert session.before is None


def test_a_server_that_was_started_anew_is_noticed_and_nothing_of_before_counts(
    session: Session, server: FakeServer
) -> None:
    last = session.desk.ledger.evidence[-1].id
    pid = server.pid
    started_anew(server, "--pp-size", "4", "--enable-metrics")

    said = answer(session, "/ceiling")

    assert f"started anew on box (process {pid} before, process {server.pid} now, up for" in said
    assert f"What was found before (E1-{last}) stays readable, and counts no more." in said
    assert "PP4 TP1" in said
    assert session.desk.facts().number("args.pp_size") == 4
    assert int(session.desk.ledger.evidence[0].id[1:]) == int(last[1:]) + 1
    assert "started anew" not in answer(session, "/ceiling")
    assert "(of before: nothing is concluded from it any more)" in answer(session, "/evidence E1")


def test_what_has_changed_since_then_is_told(session: Session, server: FakeServer) -> None:
    last = session.desk.ledger.evidence[-1].id
    started_anew(server, "--pp-size", "4", "--enable-metrics")

    said = answer(session, "how does it compare with before?")

    assert f"since E1-{last} of this session, until 20" in said
    assert "- --pp-size 2" in said
    assert "+ --pp-size 4" in said


def test_measurements_of_the_same_launch_still_count(session: Session, server: FakeServer) -> None:
    level = {"concurrency": 16, "output_throughput": 178.0}
    measured = session.desk.ledger.add("bench.run", Finding("bench.jsonl", {"bench.levels": [level]}, authority=3))
    session.record("tool", tool="bench.run", why="", arguments={}, taken_in=True, evidence=[])
    started_anew(server)

    said = answer(session, "/evidence")

    assert f"launched by the same command, so that what was measured under it counts: {measured.id}." in said
    assert session.desk.facts().items("bench.levels") == [level]
    assert session.desk.facts().text("launch.command")


def test_the_second_look_outlives_the_session(session: Session, server: FakeServer) -> None:
    started_anew(server, "--pp-size", "4", "--enable-metrics")
    answer(session, "/ceiling")
    ids = [item.id for item in session.desk.ledger.evidence]
    opening.leave(session)

    again = take_up(session.id, Options(FakeScreen(), dialog=FakePerson()))

    assert [item.id for item in again.desk.ledger.evidence] == ids
    assert again.before is not None and again.before.evidence[0].id == "E1"
    assert "started anew" not in screen_of(again).text
    assert "+ --pp-size 4" in answer(again, "compare with before")


def test_a_restart_while_nobody_looked_is_noticed_when_the_session_is_taken_up(
    session: Session, server: FakeServer
) -> None:
    answer(session, "/ceiling")
    opening.leave(session)
    started_anew(server)

    again = take_up(session.id, Options(FakeScreen(), dialog=FakePerson()))

    assert "started anew on box" in screen_of(again).text
    assert again.before is not None


def test_a_server_that_has_ended_is_said_once_and_what_was_found_stays(session: Session, server: FakeServer) -> None:
    found, pid = len(session.desk.ledger.evidence), server.pid
    server.stop()

    said = answer(session, "/ceiling")

    assert f"No server runs now on box (process {pid} has ended). What was found is of before that." in said
    assert len(session.desk.ledger.evidence) == found
    assert "No server runs" not in answer(session, "/ceiling")
    server.start()
    assert "started anew" in answer(session, "/ceiling")


def test_a_connection_that_broke_is_made_anew_without_a_word(session: Session, tmp_path: Path) -> None:
    target = session.desk.context.target
    target.close()  # type: ignore[attr-defined]

    said = answer(session, "/ceiling")

    assert "started anew" not in said and "reached" not in said
    assert session.desk.context.target is not target
    assert session.before is None


def test_a_second_look_may_be_asked_for(session: Session) -> None:
    session.looked = True

    said = answer(session, "look again")

    assert "I have looked again. What was found before (E1-" in said
    assert session.before is not None


def test_a_recording_has_no_second_look(seed: Session) -> None:
    assert "This is no live server" in answer(seed, "/again")
