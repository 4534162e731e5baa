"""A relaunch asked for inside an investigation: approved by its diff, measured, kept or rolled back, and on record."""

import json
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ppagent.agent.approvals import Request
from ppagent.agent.choosing import ToolCall
from ppagent.agent.investigation import Investigation, investigate
from ppagent.causes.catalog import cause_of
from ppagent.ledger import track_record
from ppagent.plugins import Grade
from ppagent.targets.open_live import open_live
from ppagent.trials import relaunch
from ppagent.trials.note import read_note
from ppagent.trials.serving import answers
from ppagent_tools import tune
from tests.agent.fakes import FakeBrain, FakeTool, built_in, no_plan
from tests.trials.test_relaunch import Served, _pids, launched

SHORT: dict[str, Any] = {
    "seconds": 1.0,
    "input_tokens": [8],
    "output_tokens": [6, 14],
    "think_s": 0.002,
    "concurrency": 8,
    "start_limit_s": 10,
}
LIMIT_2 = {
    **SHORT,
    "set": {"--pp-max-micro-batch-size": "2"},
    "causes": ["PP001"],
    "predicted": {"baseline": 340.0, "low": 400.0, "high": 1100.0},
}


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.setattr(relaunch, "ITSELF_S", 0.2)
    monkeypatch.setattr("ppagent.trials.watch.BETWEEN_LOOKS_S", 0.1)
    served = launched(tmp_path, "--base-ms", "6")
    yield served
    for pid in _pids(served.url):
        os.kill(pid, signal.SIGKILL)
    served.process.wait(5)


@dataclass
class Asked:
    """An approver that says yes as long as it likes the diff."""

    requests: list[Request]
    yes: bool = True

    def __call__(self, request: Request) -> bool:
        self.requests.append(request)
        return self.yes


def asked_for(served: Served, calls: Sequence[dict[str, Any]], approver: Asked | None) -> Investigation:
    """An investigation whose brain wants these relaunches, through LangGraph's interrupts."""
    port = int(served.url.rpartition(":")[2])
    brain = FakeBrain([ToolCall("tune.relaunch", "PP001 foretells it", call) for call in calls])
    facts = FakeTool("server.args", {"args.pp_size": 4, "decode.running_req.p95": 8.0, "stated.in_flight": 8.0})
    target = open_live("local", port=port)
    try:
        return investigate(
            target, (built_in(facts, *tune.tools()),), brain=brain, planner=no_plan, causes=[cause_of("PP001")],
            ceiling=Grade.READ_HOST, approver=approver, session="s1",
        )  # fmt: skip
    finally:
        target.close()


def rows(found: Investigation) -> list[dict[str, Any]]:
    return [row for item in found.evidence for row in item.facts.get("trial.comparisons", [])]  # type: ignore[union-attr,misc]


def test_a_better_launch_that_was_agreed_to_is_kept_counts_as_evidence_and_goes_on_record(server: Served) -> None:
    approver = Asked([])
    found = asked_for(server, [LIMIT_2], approver)
    (request,) = approver.requests
    assert request.grade == 5
    assert "+ --pp-max-micro-batch-size" in request.does
    assert "way back" in request.does
    (row,) = rows(found)
    assert row["outcome"] == "better"
    assert row["forecast_low"] == 400
    assert server.limit == 2
    assert read_note(server.url) is None
    assert any("as its cause foretold" in o.says for o in found.board.hypotheses[0].judgement.because)
    assert track_record().count == 1


def test_a_second_relaunch_of_the_session_stops_the_server_that_the_first_one_started(server: Served) -> None:
    first_pid = server.process.pid
    again = {**SHORT, "set": {"--pp-max-micro-batch-size": "1"}, "causes": ["PP001"]}
    approver = Asked([])
    found = asked_for(server, [LIMIT_2, again], approver)
    assert len(rows(found)) == 2
    assert [missing.why for missing in found.missing if missing.tool == "tune.relaunch"] == []
    assert "--pp-max-micro-batch-size 2" in approver.requests[1].does
    (pid,) = _pids(server.url)
    assert pid != first_pid
    assert not Path(f"/proc/{first_pid}").exists() or "Z" in Path(f"/proc/{first_pid}/stat").read_text().split()[2]
    assert answers(server.control)


def test_a_relaunch_that_does_not_come_up_is_missing_evidence_and_the_old_server_serves(server: Served) -> None:
    broken = {**SHORT, "set": {"--attention-backend": "fa3"}, "causes": ["KR001"]}
    found = asked_for(server, [broken], Asked([]))
    (why,) = [missing.why for missing in found.missing if missing.tool == "tune.relaunch"]
    assert "out of memory" in why
    assert "old one serves again" in why
    assert rows(found) == []
    assert (answers(server.control), server.limit, read_note(server.url)) == (True, 16, None)


def test_without_a_yes_nothing_is_restarted(server: Served) -> None:
    for approver in (Asked([], yes=False), None):
        found = asked_for(server, [LIMIT_2], approver)
        assert [row["tool"] for row in found.denied] == ["tune.relaunch"]
    assert _pids(server.url) == [server.process.pid]


def test_another_launch_than_the_one_that_was_shown_is_not_carried_out(server: Served) -> None:
    class Meanwhile(Asked):
        def __call__(self, request: Request) -> bool:
            os.killpg(server.process.pid, signal.SIGKILL)
            server.process.wait(5)
            port = server.url.rpartition(":")[2]
            argv = [sys.executable, "-m", "sglang.launch_server", "--model-path", "other", "--port", port]
            _restarted(server, argv)
            return True

    found = asked_for(server, [LIMIT_2], Meanwhile([]))
    (why,) = [missing.why for missing in found.missing if missing.tool == "tune.relaunch"]
    assert "started another way" in why
    assert json.dumps(rows(found)) == "[]"


def _restarted(served: Served, argv: list[str]) -> None:
    """Somebody else starts a server on the same port."""
    import subprocess

    from tests.trials.test_relaunch import ROOT, _wait

    env = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'tests/trials/fake_site'}"}
    null = subprocess.DEVNULL
    served.process = subprocess.Popen(
        argv, cwd=served.log.parent, env=env, stdout=null, stderr=null, start_new_session=True
    )
    _wait(lambda: answers(served.control))
