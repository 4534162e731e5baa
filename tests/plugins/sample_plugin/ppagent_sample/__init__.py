"""Two tools of a third party: one in a tuple, one as a class that stands for itself."""

from collections.abc import Sequence

from pydantic import BaseModel

from ppagent.evidence.evidence import Finding
from ppagent.plugins import Grade, NoArguments, Tool, ToolContext
from ppagent.targets.target import Artifact


class Greeting:
    name = "sample.greeting"
    summary = "Says which host it was asked about."
    grade = Grade.READ_FILE
    provides: tuple[str, ...] = ("stated.greeting",)
    arguments: type[BaseModel] = NoArguments

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        host = context.target.hosts[0]
        text = context.target.text(host, Artifact.VERSION)
        return [Finding(Artifact.VERSION.value, {"stated.greeting": f"hello {host}"}, text.strip(), host)]


class Uptime(Greeting):
    name = "sample.uptime"


def tools() -> tuple[Tool, ...]:
    return (Greeting(),)
