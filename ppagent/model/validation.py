"""Forecasts held against measured runs of servers whose stage times are known.

Three ways of forecasting are scored: from the stage times, the same after one measured row of the server, and as
`ppagent` forecasts on a server that it knows nothing of, from levels measured without a limit.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ppagent.model.admission import as_in
from ppagent.model.deployment import Deployment
from ppagent.model.fill import read_fill
from ppagent.model.forecast import Forecast
from ppagent.model.levels import level_from_throughput
from ppagent.model.ring import Ring, Stage
from ppagent.model.spread import forecast_limit
from ppagent.model.stated_run import RunForecast, StatedRun, forecast_run
from ppagent.model.workload import Admission, Launch, Load
from ppagent.sglang.versions import parse_version

NO_LIMIT = 4096
"""A slot limit that leaves any load alone, as the default does on a server of a few requests."""


class Row(BaseModel):
    """One measured run. Times are of one stage and one step; lists have one value a stage.

    `limit` None is the default limit. `arrival` trickle: each client sends on its own, first requests spread over
    `start_spread_s`; burst: all send together, and again when all have their answers. Pauses are `think_s` long, give
    or take the share `think_spread`. `host_ms` is the CPU's launch of a step, `around_ms` its work before and after it.
    `measured_tok_s_low` and `_high` are the lowest and highest of repeated runs.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    pp: int = Field(ge=2)
    stage_ms: tuple[float, ...]
    stage_ms_per_req: tuple[float, ...]
    stage_ms_per_tok: float = 0.0
    hop_ms: float = 0.0
    host_ms: float = 0.0
    around_ms: float = 0.0
    limit: int | None = None
    depth: int = Field(default=0, ge=0)
    concurrency: int = Field(ge=1)
    arrival: Literal["trickle", "burst"]
    think_s: float = Field(default=0.0, ge=0)
    think_spread: float = Field(default=0.0, ge=0, le=1)
    input_len: int = Field(default=64, ge=1)
    output_lens: tuple[int, int]
    measured_tok_s: float = Field(gt=0)
    measured_tok_s_low: float | None = None
    measured_tok_s_high: float | None = None
    device: Literal["async", "sync"] = "async"
    version: str = "0.5.23"
    start_spread_s: float = 3.0
    warm_up_s: float = 20.0
    seconds: float = 60.0

    @model_validator(mode="after")
    def _one_value_a_stage(self) -> Self:
        if {len(self.stage_ms), len(self.stage_ms_per_req)} - {1, self.pp}:
            raise ValueError(f"stage times need one value or one for each of {self.pp} stages")
        return self

    @property
    def server(self) -> tuple[object, ...]:
        """What is the same for all rows of one server: its stages, whatever the load and the settings."""
        return self.pp, self.stage_ms, self.stage_ms_per_req, self.stage_ms_per_tok, self.device

    @property
    def curve(self) -> tuple[object, ...]:
        """What is the same for all rows that make one curve over the load."""
        return self.server, self.depth, self.arrival, self.think_s, self.input_len, self.output_lens

    @property
    def even(self) -> bool:
        """Whether all stages take the same time."""
        return len({*self.stage_ms}) == 1 and len({*self.stage_ms_per_req}) == 1

    def run(self) -> StatedRun:
        """The row in the model's terms."""
        base_ms, extra_ms = (_each(values, self.pp) for values in (self.stage_ms, self.stage_ms_per_req))
        blocks, burst = self.device == "sync", self.arrival == "burst"
        # A blocking step takes its launch in; what the CPU does around it comes on top, and nothing hides it.
        launch_ms, around_ms = (0.0, self.host_ms + self.around_ms) if blocks else (self.host_ms, self.around_ms)
        stages = tuple(Stage(base, extra, launch_ms) for base, extra in zip(base_ms, extra_ms, strict=True))
        load = Load(
            self.concurrency,
            self.input_len,
            self.output_lens,
            think_ms=1000 * self.think_s,
            think_spread=self.think_spread,
            start_spread_ms=0.0 if burst else 1000 * self.start_spread_s,
            lockstep=burst,
        )
        return StatedRun(
            Ring(stages, self.hop_ms, 0.0, self.pp + self.depth, around_ms),
            load,
            as_in(parse_version(self.version), Admission(self.limit or NO_LIMIT)),
            self.stage_ms_per_tok,
            Launch.BLOCKS if blocks else Launch.EMULATED,
            self.warm_up_s,
            self.seconds,
        )


@dataclass(frozen=True)
class Scored:
    """A row beside a forecast of it."""

    row: Row
    forecast: Forecast
    middle: float

    @property
    def miss(self) -> float:
        """Forecast over measurement, less 1."""
        return self.middle / self.row.measured_tok_s - 1

    @property
    def inside(self) -> bool:
        """Whether the measurement lies in the range."""
        return self.forecast.low <= self.row.measured_tok_s <= self.forecast.high


def from_stage_times(rows: Sequence[Row]) -> Iterator[tuple[Row, RunForecast]]:
    """Every row with what both models say of it."""
    for row in rows:
        yield row, forecast_run(row.run())


def scored(found: Iterable[tuple[Row, RunForecast]]) -> list[Scored]:
    """The event model's forecasts beside the measurements."""
    return [Scored(row, run.forecast, run.tokens_per_s) for row, run in found]


def calibrated(forecasts: Sequence[Scored]) -> list[Scored]:
    """The forecasts after the first row of each server was taken to correct those that follow; it is left out."""
    result: list[Scored] = []
    first: dict[tuple[object, ...], Scored] = {}
    for each in forecasts:
        pair = first.setdefault(each.row.server, each)
        if pair is not each:
            forecast = each.forecast.calibrated(pair.forecast, pair.row.measured_tok_s)
            result.append(Scored(each.row, forecast, forecast.middle))
    return result


def from_levels(rows: Sequence[Row]) -> list[Scored]:
    """Rows with a limit, forecast from the rows of the same curve without one, as `ppagent` sees a server.

    Stages are taken as they are, since a server's layers are known; their times are not used otherwise.
    """
    result: list[Scored] = []
    for _, group in groupby(sorted(rows, key=lambda row: repr(row.curve)), key=lambda row: row.curve):
        curve = list(group)
        deployment = _deployment([row for row in curve if row.limit is None])
        if deployment is None:
            continue
        for row in (row for row in curve if row.limit is not None):
            forecast = forecast_limit(deployment, row.limit or 1, row.concurrency).forecast
            result.append(Scored(row, forecast, forecast.middle))
    return result


def read_row(document: Mapping[str, object]) -> Row:
    """A row of the file. Raises pydantic's ValidationError where a field is missing or cannot be."""
    return Row.model_validate(document)


def _deployment(free: Sequence[Row]) -> Deployment | None:
    rates = {row.concurrency: row.measured_tok_s for row in free}
    if len(rates) < 2:
        return None
    levels = tuple(level_from_throughput(at, rates[at]) for at in sorted(rates))
    row = free[0]
    slots = row.pp + row.depth
    report = read_fill(levels, slots)
    shares = tuple(_each(row.stage_ms, row.pp))
    share = tuple(value / sum(shares) for value in shares)
    return Deployment(levels, row.pp, slots, (report.fill_low, report.fill_high), (share,))


def _each(values: Sequence[float], stages: int) -> Sequence[float]:
    return tuple(values) * stages if len(values) == 1 else values
