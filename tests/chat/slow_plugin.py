"""A plugin whose tool sleeps in a process of its own, as a profiler would; a test installs it by hand."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel

from ppagent.evidence.evidence import Finding
from ppagent.plugins import Grade, NoArguments, Tool, ToolContext

SLEEPS_S = "PPAGENT_SLOW_S"
"""Environment variable with how long it sleeps, so that a test knows its own process."""

LEFT_BEHIND = "slow-wrote-this"


class Slow:
    name = "slow.profile"
    summary = "Profiles the schedulers for a minute."
    grade = Grade.PERTURB
    provides: tuple[str, ...] = ("decode.", "metrics.", "bench.", "host.", "trouble.")
    arguments: type[BaseModel] = NoArguments

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        process = subprocess.Popen(["sleep", os.environ[SLEEPS_S]])
        try:
            process.wait()
        finally:
            process.kill()
            process.wait()
        Path(LEFT_BEHIND).write_text("it went on after all")
        return [Finding("profile.txt", {"host.load_average": 1.0})]


def tools() -> tuple[Tool, ...]:
    return (Slow(),)
