from pydantic import BaseModel

from ppagent.agent.toolbox import Offer, open_toolbox
from ppagent.plugins import Grade
from tests.agent.fakes import FakeTool, built_in, plugin


def offer(*provides: str) -> Offer:
    return Offer(FakeTool("t.t", provides=provides), "built in", Grade.READ_FILE)


def test_a_tool_may_tell_the_facts_below_its_prefix_and_no_others() -> None:
    assert offer("decode.").may_tell("decode.running_req.p95")
    assert offer("engine.version").may_tell("engine.version")
    assert not offer("decode.").may_tell("metrics.itl_ms")
    assert not offer("decode.running_req.p95").may_tell("decode.running_req")


def test_a_wanted_family_is_told_by_whoever_tells_one_of_it() -> None:
    assert offer("trouble.hung").may_tell("trouble.*")
    assert offer("trouble.*").may_tell("trouble.hung")
    assert not offer("env.").may_tell("trouble.*")


def test_a_plugin_cannot_take_the_name_of_a_built_in_tool() -> None:
    mine, theirs = FakeTool("logs.decode"), FakeTool("logs.decode")

    box = open_toolbox([built_in(mine), plugin(theirs)], "local")

    assert [o.tool for o in box] == [mine]
    assert "somebody-elses-package" in box.warnings[0]


def test_a_grade_counts_on_a_live_target_and_not_on_a_recording() -> None:
    source = built_in(FakeTool("bench.run", grade=Grade.LOAD))

    assert open_toolbox([source], "ssh").offers[0].grade == Grade.LOAD
    assert open_toolbox([source], "recording").offers[0].grade == Grade.READ_FILE


class Needed(BaseModel):
    path: str


def test_a_tool_with_a_required_argument_is_not_asked_without_it() -> None:
    assert not Offer(FakeTool("t.t", arguments=Needed), "built in", Grade.READ_FILE).takes_no_arguments
