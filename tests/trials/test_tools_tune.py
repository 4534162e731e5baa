"""The agent's own tools: they act on a live target only, say beforehand what they would do, and put it back."""

import io
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from pydantic import ValidationError

from ppagent.agent.approvals import Request, request_for
from ppagent.agent.choosing import ToolCall
from ppagent.agent.investigation import Investigation
from ppagent.agent.state import CallRow
from ppagent.agent.toolbox import open_toolbox
from ppagent.bench.prompts import Span
from ppagent.bench.reach import Reached
from ppagent.bench.session import PromptSource
from ppagent.bench.shape import Shape
from ppagent.causes.catalog import cause_of
from ppagent.cli.approval import ask_person
from ppagent.errors import NotRecorded, ToolError
from ppagent.evidence.vocabulary import known
from ppagent.plugins import Tool, ToolContext, discover
from ppagent.trials.note import RestoreNote, write_note
from ppagent.trials.own_load import OwnLoad
from ppagent_tools import bench_live, tune
from ppagent_tools.live_server import _REACHED
from tests.agent.fakes import FakeBrain, FakeTarget, FakeTool, built_in, look_into
from tests.bench.fakes import FakeServer

SHORT: dict[str, object] = {"seconds": 0.5, "input_tokens": [8], "output_tokens": [6, 14], "think_s": 0.002}


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(base_ms=6, per_request_ms=3) as running:
        yield running


def context(server: FakeServer) -> ToolContext:
    return ToolContext(FakeTarget("local"), {_REACHED: Reached(server.url, server.endpoint)})


def tool(name: str) -> Tool:
    return next(tool for tool in (*bench_live.tools(), *tune.tools()) if tool.name == name)


def test_grades_say_how_much_each_disturbs() -> None:
    assert {t.name: int(t.grade) for t in (*bench_live.tools(), *tune.tools())} == {
        "bench.run": 4,
        "tune.set_limit": 3,
        "tune.relaunch": 5,
    }


def test_a_recording_is_offered_nothing_that_acts() -> None:
    names = {offer.name for offer in open_toolbox(discover(), "recording")}
    live = {offer.name for offer in open_toolbox(discover(), "local")}
    assert live - names == {"bench.run", "profile.take", "tune.set_limit", "tune.relaunch"}


def test_there_is_nothing_to_act_on_in_a_recording() -> None:
    for each in (*bench_live.tools(), tune.SetLimit()):
        arguments = each.arguments.model_validate({"limit": 2} if each.name == "tune.set_limit" else {})
        with pytest.raises(NotRecorded, match="only a recording"):
            each.run(ToolContext(FakeTarget()), arguments)


def test_measured_levels_become_evidence_of_the_highest_authority(server: FakeServer) -> None:
    bench = tool("bench.run")
    (found,) = bench.run(context(server), bench.arguments.model_validate({"concurrency": [1, 4], **SHORT}))
    levels = found.facts["bench.levels"]
    assert isinstance(levels, list)
    assert [level["concurrency"] for level in levels if isinstance(level, dict)] == [1, 4]
    assert found.authority == 3
    assert all(known(name) for name in found.facts)


def test_a_server_too_slow_for_one_whole_answer_gives_levels_by_the_tokens_that_came() -> None:
    bench = tool("bench.run")
    asked = bench.arguments.model_validate({"concurrency": [1, 4], "seconds": 0.6, "input_tokens": [8], "think_s": 0})
    with FakeServer(base_ms=80, per_request_ms=0) as slow:
        (found,) = bench.run(context(slow), asked)
    one, four = found.facts["bench.levels"]  # type: ignore[misc, str-unpack]
    assert isinstance(one, dict)
    assert isinstance(four, dict)
    assert (one["completed"], four["completed"]) == (0, 0)
    assert one["mean_itl_ms"] == pytest.approx(80, rel=0.2)
    assert four["output_throughput"] == pytest.approx(4 / 0.08, rel=0.25)
    assert four["achieved_concurrency"] == pytest.approx(4, rel=0.1)


def test_where_no_token_comes_at_all_that_is_said() -> None:
    bench = tool("bench.run")
    asked = bench.arguments.model_validate({"concurrency": [2], "seconds": 0.5, "input_tokens": [8]})
    with FakeServer(base_ms=2) as server:
        server.fails = lambda number: number > 3  # what measures words and the warm-up are answered
        with pytest.raises(ToolError, match="no token came within"):
            bench.run(context(server), asked)


def test_a_trial_becomes_a_comparison_and_the_old_value_is_back(server: FakeServer) -> None:
    set_limit = tool("tune.set_limit")
    asked = set_limit.arguments.model_validate({"limit": 2, "concurrency": 8, **SHORT})
    (found,) = set_limit.run(context(server), asked)
    (row,) = found.facts["trial.comparisons"]  # type: ignore[misc, str-unpack]
    assert isinstance(row, dict)
    assert row["set"] == {"--pp-max-micro-batch-size": "2"}
    assert row["causes"] == ["PP001"]
    assert row["outcome"] == "better"
    assert found.facts["trial.restored"] is True
    assert all(known(name) for name in found.facts)
    assert server.limit == 16


@contextmanager
def others(server: FakeServer) -> Iterator[None]:
    """Eight requests of somebody else, all the time."""
    shape = Shape(concurrency=8, input_tokens=Span(4, 4), output_tokens=Span(6, 14))
    load = OwnLoad(server.endpoint, shape, PromptSource())
    load.start()
    try:
        yield
    finally:
        load.stop(wait=False)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ppagent.trials.observed.SHORTEST_BLOCK_S", 0.1)
    monkeypatch.setattr("ppagent.trials.observed.SHORTEST_SETTLE_S", 0.3)
    monkeypatch.setattr("ppagent.trials.others.BETWEEN_LOOKS_S", 0.05)
    # A busy machine slows the clients down, and a load that moved is compared otherwise, which is not what is asked.
    monkeypatch.setattr("ppagent.trials.observed.LOAD_MOVED", 1.0)


def test_where_others_are_served_their_traffic_is_measured_and_none_is_added(server: FakeServer, quick: None) -> None:
    set_limit = tool("tune.set_limit")
    foretold = {"baseline": 250.0, "low": 300.0, "high": 900.0}
    asked = set_limit.arguments.model_validate(
        {"limit": 2, "concurrency": 8, "predicted": foretold, **SHORT, "seconds": 2.0}
    )
    with others(server):
        seen = context(server)
        assert "nothing is sent" in set_limit.announce(seen, asked).runs  # type: ignore[attr-defined]
        (found,) = set_limit.run(seen, asked)
    (row,) = found.facts["trial.comparisons"]  # type: ignore[misc, str-unpack]
    assert isinstance(row, dict)
    assert row["outcome"] == "better"
    assert "concurrency" not in row
    assert (row["forecast_low"], row["forecast_high"]) == (300.0, 900.0)
    assert server.limit == 16


def test_no_level_is_measured_beside_the_requests_of_others(server: FakeServer, quick: None) -> None:
    run_bench = tool("bench.run")
    asked = {"concurrency": [1], **SHORT}
    with others(server):
        with pytest.raises(ToolError, match="works for others"):
            run_bench.run(context(server), run_bench.arguments.model_validate(asked))
        beside = run_bench.arguments.model_validate({**asked, "beside_others": True})
        assert run_bench.run(context(server), beside)[0].facts["bench.levels"]


def test_what_would_be_done_is_shown_before_it_is_allowed(server: FakeServer) -> None:
    box = open_toolbox(discover(), "local")
    call = CallRow(tool="tune.set_limit", arguments={"limit": 2}, why="PP001 says so", grade=3)
    request = request_for(call, box.find("tune.set_limit"), context(server))
    assert "16 -> 2 -> 16" in request.does
    assert "way back" in request.does
    assert server.settings == []


def test_a_value_out_of_range_is_an_answer_and_no_change(server: FakeServer) -> None:
    set_limit = tool("tune.set_limit")
    with pytest.raises(ToolError, match="1 to 16"):
        set_limit.run(context(server), set_limit.arguments.model_validate({"limit": 99}))
    with pytest.raises(ValidationError):
        set_limit.arguments.model_validate({"limit": 0})
    assert server.settings == []


def test_nothing_is_tried_on_what_another_trial_left(server: FakeServer) -> None:
    write_note(RestoreNote("live", server.url, key="pp_max_micro_batch_size", old=16, new=2, pid=1, pid_started="0"))
    set_limit = tool("tune.set_limit")
    with pytest.raises(ToolError, match="--restore"):
        set_limit.run(context(server), set_limit.arguments.model_validate({"limit": 4}))


def test_a_server_whose_host_is_not_at_hand_is_not_relaunched(server: FakeServer) -> None:
    relaunch = tool("tune.relaunch")
    asked = relaunch.arguments.model_validate({"set": {"--pp-size": "4"}})
    with pytest.raises(NotRecorded, match="host is not at hand"):
        relaunch.run(context(server), asked)


def asked_by_the_agent(server: FakeServer, monkeypatch: pytest.MonkeyPatch, **options: object) -> Investigation:
    """The loop with a brain that wants one experiment."""
    reached = Reached(server.url, server.endpoint)
    monkeypatch.setattr("ppagent_tools.tune_limit.reached", lambda context: reached)
    args = FakeTool("server.args", {"args.pp_size": 4, "decode.running_req.p95": 8.0, "stated.in_flight": 8.0})
    wanted = {"limit": 2, "concurrency": 8, **SHORT}
    brain = FakeBrain([ToolCall("tune.set_limit", "PP001 foretells it", wanted)])
    sources = (built_in(args, *tune.tools()),)
    return look_into(*sources, kind="local", brain=brain, causes=[cause_of("PP001")], **options)  # type: ignore[list-item, arg-type]


def test_an_allowed_experiment_becomes_evidence_that_moves_its_cause(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Request] = []

    def yes(request: Request) -> bool:
        asked.append(request)
        return True

    found = asked_by_the_agent(server, monkeypatch, approver=yes)
    assert [request.grade for request in asked] == [3]
    assert "16 -> 2 -> 16" in asked[0].does
    judgement = found.board.hypotheses[0].judgement
    assert any("as its cause foretold" in observation.says for observation in judgement.because)
    assert server.limit == 16


def test_an_experiment_that_nobody_allows_is_denied_and_listed(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for options in ({}, {"approver": lambda request: False}):
        found = asked_by_the_agent(server, monkeypatch, **options)
        assert [row["tool"] for row in found.denied] == ["tune.set_limit"]
    assert server.settings == []


def test_a_person_is_shown_the_whole_diff_however_long(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("no\n"))
    lines = [f"+ --flag-{n} value" for n in range(2000)]
    assert not ask_person(Request("tune.relaunch", 5, "\n".join(lines), "PP001"))
    shown = capsys.readouterr().err
    assert all(f"  {line}\n" in shown for line in lines)
