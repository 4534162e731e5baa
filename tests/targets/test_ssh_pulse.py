import threading
from typing import Any

import pytest

from ppagent.targets.remote.ssh_pulse import Pulse


class Broken:
    """A connection that is lost at the very moment it is asked for a sign of life."""

    def __init__(self, error: Exception) -> None:
        self.error = error
        self.asked = threading.Event()

    def is_active(self) -> bool:
        return True

    def global_request(self, kind: str, wait: bool) -> None:
        self.asked.set()
        raise self.error

    def close(self) -> None:
        raise AssertionError("a lost connection is not closed for its silence")


@pytest.mark.parametrize("error", [EOFError(), OSError("Socket is closed")], ids=["end", "closed"])
def test_a_line_that_breaks_while_it_is_asked_ends_the_asking_without_a_traceback(error: Exception) -> None:
    broken: Any = Broken(error)
    pulse = Pulse(broken)

    pulse.start()

    assert broken.asked.wait(5)
    for thread in threading.enumerate():
        if thread.name == "ppagent-pulse":
            thread.join(5)
    assert not any(thread.name == "ppagent-pulse" for thread in threading.enumerate())
