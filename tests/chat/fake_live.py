"""`ppagent` with a live target that is not there: run in a terminal by tests that need one to ask for approvals."""

import sys

from ppagent.chat import opening
from ppagent.cli.main import main
from tests.agent.fakes import FakeTarget


def _fake_target(*words: object, **options: object) -> FakeTarget:
    return FakeTarget("ssh", "gpu-box", ("gpu-box",))


if __name__ == "__main__":
    opening.open_target = _fake_target  # type: ignore[assignment]
    sys.exit(main())
