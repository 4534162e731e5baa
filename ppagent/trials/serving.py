"""Whether a server serves."""

from ppagent.bench.control import Control
from ppagent.errors import ToolError

ANSWER_S = 5.0


def answers(control: Control) -> bool:
    """Whether the server answers over HTTP now."""
    try:
        Control(control.endpoint, timeout_s=ANSWER_S).server_info()
    except ToolError:  # the very question: a server that is starting refuses, is silent, or answers half
        return False
    return True
