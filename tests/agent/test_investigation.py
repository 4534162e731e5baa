import pytest
from pydantic import BaseModel

from ppagent.agent.approvals import Request
from ppagent.agent.budget import Budget
from ppagent.agent.choosing import ToolCall, Usage
from ppagent.errors import NotRecorded, ToolError
from ppagent.plugins import Grade, ToolSource
from tests.agent.fakes import FakeBrain, FakeCause, FakeTool, built_in, look_into, plugin

HUNG = FakeCause("PP008", "trouble.hung")


def test_a_cause_is_supported_by_what_the_tools_found_and_cites_it() -> None:
    found = look_into(built_in(FakeTool("logs.trouble", {"trouble.hung": True})), causes=[HUNG])

    assert found.verdict == "diagnosed"
    assert found.board.supported[0].judgement.because[0].cites == ("E1",)
    assert found.evidence[0].id == "E1"
    assert found.status == "finished"


def test_what_was_not_recorded_is_missing_and_not_a_crash() -> None:
    tool = FakeTool("logs.trouble", error=NotRecorded("no server.log"), provides=("trouble.",))

    found = look_into(built_in(tool), causes=[HUNG])

    assert [(m.tool, m.why) for m in found.missing] == [("logs.trouble", "no server.log")]
    assert found.verdict == "not_enough_evidence"
    assert found.next_probes[0].tool == "fake.probe"


def test_a_host_without_a_server_is_told_instead_of_what_to_count_on_it() -> None:
    gone = NotRecorded("no process of an SGLang server can be seen on box; container one exited (137) 2 minutes ago")
    found = look_into(built_in(FakeTool("http.metrics", error=gone, provides=("trouble.",))), causes=[HUNG])
    assert found.summary == (
        "No process of an SGLang server can be seen on box; container one exited (137) 2 minutes ago."
    )
    answering = look_into(built_in(FakeTool("logs.trouble", error=gone, provides=("trouble.",))), causes=[HUNG])
    assert answering.summary.startswith("What is known does not decide")


def test_whatever_a_plugin_raises_is_missing_with_its_text() -> None:
    tool = FakeTool("other.look", error=KeyError("wattage"), provides=("trouble.",))

    found = look_into(plugin(tool), causes=[HUNG])

    assert "KeyError: 'wattage'" in found.missing[0].why


def test_a_bug_in_a_built_in_tool_is_not_hidden() -> None:
    tool = FakeTool("logs.trouble", error=KeyError("wattage"), provides=("trouble.",))

    with pytest.raises(KeyError):
        look_into(built_in(tool), causes=[HUNG])


def test_a_source_that_did_not_load_is_noted() -> None:
    found = look_into(ToolSource("bad", "bad-package", error="ImportError: no cupy"))

    assert "bad-package" in found.missing[0].why and "no cupy" in found.missing[0].why


def test_on_a_recording_every_tool_only_reads_files() -> None:
    tool = FakeTool("gpu.samples", {"trouble.hung": False}, grade=Grade.LOAD)

    found = look_into(built_in(tool), causes=[HUNG])

    assert found.cost.tool_calls == {"0": 1}
    assert found.denied == ()


def test_above_the_ceiling_with_nobody_to_ask_a_tool_is_denied_and_listed() -> None:
    tool = FakeTool("profile.trace", {"trouble.hung": True}, grade=Grade.PERTURB)

    found = look_into(built_in(tool), causes=[HUNG], kind="local")

    assert not tool.runs
    assert [(d["tool"], d["grade"]) for d in found.denied] == [("profile.trace", 3)]
    says = "it disturbs the server (grade 3), which is above the ceiling of 2; --ceiling 3 allows it; it was to tell "
    assert found.denied[0]["why"].startswith(says)
    assert found.cost.steps == 1 and found.cost.tool_calls == {}


@pytest.mark.parametrize(("answer", "verdict", "runs"), [(True, "diagnosed", 1), (False, "not_enough_evidence", 0)])
def test_above_the_ceiling_the_tool_is_asked_once_and_only_when_allowed(answer: bool, verdict: str, runs: int) -> None:
    tool = FakeTool("profile.trace", {"trouble.hung": True}, grade=Grade.PERTURB, summary="Traces 5 s.")
    requests: list[Request] = []

    def approver(request: Request) -> bool:
        requests.append(request)
        return answer

    found = look_into(built_in(tool), causes=[HUNG], kind="local", approver=approver)

    assert requests == [Request("profile.trace", 3, "Traces 5 s.", "it may decide PP008")]
    assert found.verdict == verdict
    assert len(tool.runs) == runs
    assert len(found.denied) == 1 - runs


def test_nobody_is_bothered_for_a_perturbing_tool_once_the_verdict_stands() -> None:
    slow = FakeCause("CP001", "metrics.itl_ms")
    tools = [
        FakeTool("logs.trouble", {"trouble.hung": True}),
        FakeTool("profile.trace", {"metrics.itl_ms": True}, grade=Grade.PERTURB),
    ]

    def approver(request: Request) -> bool:
        pytest.fail(f"asked for {request.tool}")

    found = look_into(built_in(*tools), causes=[HUNG, slow], kind="local", approver=approver)

    assert found.verdict == "diagnosed"


def test_the_budget_of_steps_ends_the_asking_and_what_is_known_is_reported() -> None:
    tools = [FakeTool(f"logs.{n}", {f"trouble.{n}": False}) for n in "abcd"]
    causes = [FakeCause(f"XX00{i}", f"trouble.{n}") for i, n in enumerate("abcd")]

    found = look_into(built_in(*tools), causes=causes, budget=Budget(steps=2))

    assert found.status == "budget_used_up"
    assert found.stopped == "the budget of 2 steps is used up"
    assert len(found.evidence) == 2


def test_the_budget_of_seconds_ends_the_asking() -> None:
    found = look_into(built_in(FakeTool("logs.a", {"trouble.hung": True})), causes=[HUNG], budget=Budget(seconds=0.0))

    assert found.status == "budget_used_up"
    assert not found.evidence


def test_the_budget_of_money_ends_the_asking() -> None:
    brain = FakeBrain([ToolCall("logs.a", "why not")], spent=Usage(tokens=900, usd=0.3))

    found = look_into(built_in(FakeTool("logs.a")), brain=brain, budget=Budget(usd=0.25))

    assert found.status == "budget_used_up"
    assert (found.cost.tokens, found.cost.usd) == (900, 0.3)


def test_cancelled_in_the_middle_what_was_collected_is_reported() -> None:
    tools = [
        FakeTool("logs.a", {"engine.version": "0.5.10", "trouble.hung": True}),
        FakeTool("logs.b", {"launch.command": "x"}, error=KeyboardInterrupt()),
    ]

    found = look_into(built_in(*tools), causes=[HUNG])

    assert found.status == "cancelled"
    assert found.verdict == "diagnosed"
    assert [e.tool for e in found.evidence] == ["logs.a"]


def test_a_brain_that_repeats_itself_is_stopped() -> None:
    call = ToolCall("logs.a", "again")
    tool = FakeTool("logs.a", {"trouble.hung": False})

    found = look_into(built_in(tool), brain=FakeBrain([call, call, call]))

    assert found.stopped == "logs.a was asked this already"
    assert len(tool.runs) == 1


def test_a_brain_that_invents_a_tool_learns_that_there_is_none() -> None:
    brain = FakeBrain([ToolCall("shell.run", "curious")])

    found = look_into(built_in(), brain=brain)

    assert brain.views[1].missing[0].why == "there is no such tool"
    assert found.stopped == "the script ends here"


class Lines(BaseModel, extra="forbid"):
    count: int


def test_arguments_that_do_not_fit_are_missing_evidence() -> None:
    tool = FakeTool("logs.tail", arguments=Lines)
    brain = FakeBrain([ToolCall("logs.tail", "", {"count": "many"}), ToolCall("logs.tail", "", {"count": 5})])

    found = look_into(built_in(tool), brain=brain)

    assert "count" in found.missing[0].why
    assert tool.runs == [Lines(count=5)]


def test_what_every_report_needs_is_asked_before_the_brain() -> None:
    brain = FakeBrain([])
    tools = [FakeTool("server.launch", {"launch.command": "python -m x"}), FakeTool("gpu.samples", {"gpu.count": 8})]

    found = look_into(built_in(*tools), brain=brain)

    assert [e.tool for e in found.evidence] == ["server.launch"]
    assert brain.views[0].facts.text("launch.command") == "python -m x"


def test_a_tool_error_names_the_facts_that_stay_unknown() -> None:
    tool = FakeTool("logs.a", error=ToolError("log is empty"), provides=("trouble.",))

    assert look_into(built_in(tool), causes=[HUNG]).missing[0].facts == ("trouble.",)


class Words(BaseModel, extra="forbid"):
    question: str = ""


def test_the_question_reaches_the_tool_that_reads_it_once_and_the_brain() -> None:
    brain = FakeBrain([])
    tool = FakeTool("user.stated", provides=("stated.",), arguments=Words)

    found = look_into(built_in(tool), brain=brain, question="why slow?")

    assert tool.runs == [Words(question="why slow?")]
    assert brain.views[0].question == "why slow?"
    assert found.question == "why slow?"


def test_a_deep_board_needs_no_more_node_runs_than_the_graph_allows() -> None:
    names = [f"logs.t{n:02}" for n in range(40)]
    tools = [FakeTool(name, {f"trouble.{name}": False}) for name in names]
    causes = [FakeCause(f"XX{n:03}", f"trouble.{name}") for n, name in enumerate(names)]

    found = look_into(built_in(*tools), causes=causes, budget=Budget(steps=41))

    assert found.cost.steps == 40
    assert found.status == "finished"


def test_a_version_that_was_only_stated_does_not_spare_looking() -> None:
    stated = FakeTool("user.stated", {"engine.version": "0.5.9"})
    seen = FakeTool("server.version", {"engine.version": "0.5.10"}, authority=3)
    late = FakeTool("zz.version", {"engine.version": "0.5.11"}, authority=3)

    found = look_into(built_in(stated, seen, late))

    assert found.facts.text("engine.version") == "0.5.10"
    assert [e.tool for e in found.evidence] == ["user.stated", "server.version"]
