"""What a person is shown before anything runs."""

from ppagent.agent.approvals import request_for
from ppagent.agent.state import CallRow
from ppagent.agent.toolbox import Offer
from ppagent.plugins import Grade
from tests.agent.fakes import FakeTool


def test_what_a_tool_would_run_is_shown_before_anybody_agrees() -> None:
    row: CallRow = {"tool": "shell.run", "grade": 5, "arguments": {"argv": ["rm", "-rf", "/data\n"]}, "why": "to look"}
    request = request_for(row, Offer(FakeTool("shell.run", grade=Grade.RESTART), "built in", Grade.RESTART))
    assert '["rm", "-rf", "/data\\n"]' in request.does
