"""The forecast of a live trial: a few short levels below the one that is measured, and the ring model over them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ppagent.bench.endpoint import Endpoint
from ppagent.bench.result import LevelResult
from ppagent.bench.session import PromptSource, run_session
from ppagent.bench.shape import Shape
from ppagent.errors import ToolError
from ppagent.model.forecast import Forecast
from ppagent.model.levels import Level
from ppagent.model.whatif import Server, Settings, what_if
from ppagent.sglang.server_info import ServerInfo, whole
from ppagent.trials.phase import Phase

Say = Callable[[str], None]


@dataclass(frozen=True)
class Foresight:
    """Levels measured before the trial, and the server they were measured on."""

    info: ServerInfo
    levels: tuple[Level, ...]
    old: int
    new: int
    concurrency: int

    def __call__(self, first: Phase) -> tuple[Forecast | None, str]:
        """The forecast for the new limit at the trial's concurrency, `first` being the old one's measurement."""
        stages = whole(self.info.effective("pp_size")) or 1
        if stages < 2:
            return None, "there is one pipeline stage only, which has nothing to spread over"
        if first.itl_ms is None:
            return None, "no time between tokens was measured"
        top = Level(self.concurrency, first.itl_ms, "itl", first.tokens_per_s)
        server = Server(
            levels=(*self.levels, top),
            stages=stages,
            now=Settings(slot_limit=self.old, async_depth=whole(self.info.effective("pp_async_batch_depth")) or 0),
            shared_host=self.info.effective("device") == "cpu",
        )
        try:
            return what_if(server, replace(server.now, slot_limit=self.new), self.concurrency), ""
        except ValueError as error:
            return None, str(error)


def measure_levels(
    endpoint: Endpoint, shape: Shape, source: PromptSource, concurrencies: Sequence[int], seconds: float, say: Say
) -> tuple[Level, ...]:
    """Short levels for the ring's line. Raises ToolError where one gives no time between tokens."""
    if not concurrencies:
        return ()
    say(f"levels for the forecast: C = {', '.join(map(str, concurrencies))}, {seconds:.2g} s each")
    shapes = [
        replace(shape, concurrency=count, seconds=seconds, seed=shape.seed + 100 + count) for count in concurrencies
    ]
    return tuple(_level(result) for result in run_session(endpoint, shapes, source))


def levels_below(concurrency: int) -> tuple[int, ...]:
    """Concurrencies that show how the turn grows: one request, and half of those of the trial."""
    return tuple(sorted({1, concurrency // 2} - {0, concurrency}))


def _level(result: LevelResult) -> Level:
    concurrency = result.run.shape.concurrency
    if concurrency is None or not result.itl.count:
        raise ToolError("a level for the forecast ended without two tokens of one request: measure for longer")
    rate = result.steady.tokens_per_s if result.steady is not None else result.output_throughput
    return Level(concurrency, result.itl.mean, "itl", rate)
