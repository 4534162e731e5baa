"""One look at a host, and its first part by itself: which servers there are is told before what the machine is."""

import threading

from ppagent.targets.remote.ahead import in_background
from ppagent.targets.remote.link import Link
from ppagent.targets.remote.once import Once
from ppagent.targets.remote.sections import Early, Sections, run_sections, script

SURVEY_S = 60.0
_MACHINE = "cpu"
"""The section with which the part on the machine begins."""


class Survey:
    """What the survey script says, asked for once. `cpu_s`: for how long the use of the processor is watched."""

    def __init__(self, link: Link, cpu_s: float) -> None:
        self._link = link
        self._cpu_s = cpu_s
        self._once = Once()
        self._first: Sections | None = None
        self._told = threading.Event()

    @property
    def whole(self) -> Sections:
        """All of it. Raises ToolError where the host answers no commands."""
        return self._once.get("whole", self._run)

    @property
    def first(self) -> Sections:
        """The part on processes and servers, without what they use; more where there is more already."""
        if not self._told.is_set():
            in_background(lambda: self.whole)
            self._told.wait()
        return self._first or self.whole

    def _run(self) -> Sections:
        try:
            early = Early(_MACHINE, self._tell)
            return run_sections(self._link, script("survey.sh"), f"{self._cpu_s:g}", timeout_s=SURVEY_S, early=early)
        finally:
            self._told.set()

    def _tell(self, first: Sections) -> None:
        self._first = first
        self._told.set()
