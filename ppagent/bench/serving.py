"""Which bench_serving measures a server: its own, beside it, or one of this machine."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ppagent.bench.beside import Beside, find_beside, run_beside
from ppagent.bench.endpoint import Endpoint
from ppagent.bench.external import INTERPRETER_VARIABLE, External, find_external, run_external
from ppagent.bench.level import Progress
from ppagent.bench.reach import Reached
from ppagent.bench.serving_output import Output, Say
from ppagent.bench.shape import Shape


@dataclass(frozen=True)
class Client:
    """A bench_serving and the server that it measures."""

    tool: Beside | External
    endpoint: Endpoint

    @property
    def beside(self) -> bool:
        """Whether it runs on the server's own host."""
        return isinstance(self.tool, Beside)

    @property
    def route(self) -> str:
        """Where it measures from."""
        return self.tool.route if isinstance(self.tool, Beside) else self.endpoint.route

    def run(self, shape: Shape, requests: int, say: Say, show: Callable[[Progress], None]) -> dict[str, object]:
        """One level; `say` is told its phases, `show` how many of its requests have ended. Raises ToolError."""

        def done(count: int) -> None:
            show(Progress(shape.label, min(1.0, count / requests), count, 0, None, None))

        done(0)
        said = Output(say, done)
        if isinstance(self.tool, External):
            return run_external(self.tool, self.endpoint, shape, requests, said)
        return run_beside(self.tool, shape, requests, said)


def find_client(reached: Reached, python: str, tokenizer: str, environ: Mapping[str, str]) -> Client:
    """An interpreter of this machine where one is named, else that of the server's process where its host can be
    looked at, else the one that runs ppagent. Raises UserError and ToolError."""
    named = python or environ.get(INTERPRETER_VARIABLE, "")
    if reached.host is not None and not named:
        return Client(find_beside(reached.host, reached.endpoint, tokenizer), reached.endpoint)
    return Client(find_external(python, tokenizer, environ), reached.endpoint)
