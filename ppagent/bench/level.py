"""One level of load from warm-up to drain, boxed in time."""

import asyncio
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter

from ppagent.bench.endpoint import Endpoint
from ppagent.bench.lag import LagMonitor
from ppagent.bench.load import Load
from ppagent.bench.prompts import FilePrompts, Prompts
from ppagent.bench.record import Request
from ppagent.bench.server_view import ServerSeen, ServerWatch
from ppagent.bench.shape import Shape
from ppagent.errors import ToolError

PROGRESS_EVERY_S = 0.25
LONGEST_DRAIN_S = 120.0


@dataclass(frozen=True)
class Progress:
    """How far a level is, for whoever looks on."""

    label: str
    share: float
    """Of its time or requests, 0 to 1."""
    completed: int
    failed: int
    in_flight: int | None
    tokens_per_s: float | None
    """Over the whole level so far. None, like the requests in flight, where the client that measures does not tell."""


@dataclass(frozen=True)
class LevelRun:
    """Everything that a level left behind."""

    shape: Shape
    prompts: str
    prompts_repeated: bool
    records: tuple[Request, ...]
    started_at: float
    ended_at: float
    warm_up_failed: int
    lag_p99_ms: float
    lag_own_p99_ms: float
    """The part of it that the client's own work explains; the rest is waiting for a processor."""
    lag_max_ms: float
    server: ServerSeen


async def run_level(
    endpoint: Endpoint,
    shape: Shape,
    prompts: Prompts,
    *,
    watch_server: ServerWatch | None = None,
    progress: Callable[[Progress], None] | None = None,
    drain_s: float | None = None,
) -> LevelRun:
    """Runs one level. Raises ToolError where no connection can be made, or no warm-up request is answered.

    After the time box nothing new is sent; what is in flight gets `drain_s` more (as long as the box, two minutes at
    the most), and is then cut: counted apart, in no average.
    """
    load, lag = Load(endpoint, shape, prompts), LagMonitor()
    try:
        failed = await _warm(load, endpoint)
        if watch_server is not None:
            await watch_server.start()
        started, ended = await _timed(load, lag, progress, drain_s)
    finally:
        await lag.stop()
        load.close()
    seen = await watch_server.stop() if watch_server is not None else ServerSeen()
    repeated = isinstance(prompts, FilePrompts) and prompts.repeated
    records = tuple(load.records)
    return LevelRun(
        shape,
        prompts.name,
        repeated,
        records,
        started,
        ended,
        warm_up_failed=failed,
        lag_p99_ms=lag.p99_ms,
        lag_own_p99_ms=lag.own_p99_ms,
        lag_max_ms=lag.max_ms,
        server=seen,
    )


async def _timed(
    load: Load, lag: LagMonitor, progress: Callable[[Progress], None] | None, drain_s: float | None
) -> tuple[float, float]:
    """The part of a level that is measured; when it began and ended."""
    with _no_collection():
        lag.start()
        started = perf_counter()
        load.start()
        await _until_over(load, started, progress)
        await load.drain(drain_s if drain_s is not None else min(load.shape.seconds, LONGEST_DRAIN_S))
        ended = perf_counter()
        await lag.stop()
    return started, ended


async def _warm(load: Load, endpoint: Endpoint) -> int:
    """Connects and warms up; how many of the warm-up requests failed."""
    try:
        await load.open()
    except OSError as error:
        raise ToolError(f"{endpoint.base_url} cannot be reached: {error.strerror or error}") from error
    warmed = await load.warm_up()
    failed = [record for record in warmed if record.error]
    if len(failed) == len(warmed):
        raise ToolError(f"{endpoint.base_url} answered no warm-up request: {failed[0].error}")
    return len(failed)


async def _until_over(load: Load, started: float, progress: Callable[[Progress], None] | None) -> None:
    shape = load.shape
    while not load.finished:
        spent = perf_counter() - started
        if progress is not None:
            progress(progress_of(load, spent))
        if spent >= shape.seconds:
            return
        await asyncio.sleep(min(PROGRESS_EVERY_S, shape.seconds - spent))


def progress_of(load: Load, spent_s: float) -> Progress:
    """Where a running load stands."""
    shape, records = load.shape, load.records
    ended = [record for record in records if record.ended]
    failed = sum(1 for record in ended if record.error)
    share = spent_s / shape.seconds
    if shape.requests is not None:
        share = max(share, len(ended) / shape.requests)
    tokens = sum(record.tokens for record in records)
    rate = tokens / spent_s if spent_s > 0 else 0.0
    return Progress(shape.label, min(1.0, share), len(ended) - failed, failed, len(records) - len(ended), rate)


@contextmanager
def _no_collection() -> Iterator[None]:
    """The collector pauses everything for as long as it looks through a million objects: not while times are taken."""
    was_on = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
