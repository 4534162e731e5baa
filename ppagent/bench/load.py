"""A load that runs until it is told to stop: clients in a loop, or requests by the clock."""

import asyncio
import json
import math
import random
from collections.abc import Awaitable, Callable
from time import perf_counter

from ppagent.bench.connection import Connection, reading_room
from ppagent.bench.endpoint import Endpoint
from ppagent.bench.prompts import Prompt, Prompts, WordPrompts
from ppagent.bench.record import Request
from ppagent.bench.shape import Shape

WARM_UP_TOKENS = 4
AHEAD_S = 4.0
"""An open loop has connections ready for as many requests as come in that time; further ones are opened as needed."""
Watch = Callable[[Request], None]


def generate_body(prompt: Prompt) -> bytes:
    """A streamed `/generate`: greedy, and exactly as many tokens as asked for, since a model that stops early would
    turn a comparison of settings into one of answers."""
    sampling = {"temperature": 0.0, "max_new_tokens": prompt.output_tokens, "ignore_eos": True}
    return json.dumps({"text": prompt.text, "sampling_params": sampling, "stream": True}).encode()


class Load:
    """Clients on one server. `records` holds every request ever sent, in the order it was due."""

    def __init__(self, endpoint: Endpoint, shape: Shape, prompts: Prompts, watch: Watch | None = None) -> None:
        self.shape = shape
        self.records: list[Request] = []
        self._endpoint = endpoint
        self._prompts = prompts
        self._watch = watch
        self._rng = random.Random(shape.seed + 1)
        self._barrier = asyncio.Event()
        self._stopping = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._room = reading_room()
        self._idle: list[Connection] = []
        self._all: list[Connection] = []
        self._places = asyncio.Semaphore(shape.concurrency) if shape.open_loop and shape.concurrency else None

    async def open(self) -> None:
        """Connects every client before the clock starts, so that no handshake counts as the server's time."""
        count = self.shape.concurrency or math.ceil(AHEAD_S * (self.shape.rate or 1.0))
        self._idle = [Connection(self._endpoint, self._room) for _ in range(count)]
        self._all = list(self._idle)
        await asyncio.gather(*(connection.open() for connection in self._idle))

    async def warm_up(self) -> list[Request]:
        """A short request on every connection at once: the first batch of a size compiles, captures or loads."""
        seed = self.shape.seed + 7919
        prompts = WordPrompts(self.shape.input_tokens, self.shape.output_tokens, seed)
        asked = [Prompt(prompts.next().text, WARM_UP_TOKENS) for _ in self._idle]
        records = [Request(n, WARM_UP_TOKENS, perf_counter()) for n in range(len(asked))]
        posts = zip(self._idle, asked, records, strict=True)
        await asyncio.gather(*(c.post("/generate", generate_body(p), r) for c, p, r in posts))
        return records

    def start(self) -> None:
        """Builds the first requests, then lets all clients go at once."""
        loop = asyncio.get_running_loop()
        if self.shape.open_loop:
            self._tasks = [loop.create_task(self._by_the_clock())]
        else:
            first = [(connection, self._prompts.next()) for connection in self._idle]
            self._tasks = [loop.create_task(self._client(n, c, p)) for n, (c, p) in enumerate(first)]
        self._barrier.set()

    def stop_sending(self) -> None:
        """No further request; those in flight go on."""
        self._stopping.set()

    async def drain(self, seconds: float) -> None:
        """Waits for what is in flight, at most `seconds`; what still runs then is marked as cut and dropped."""
        self.stop_sending()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)
        for record in self.in_flight():
            record.cut = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.close()

    def close(self) -> None:
        """Drops every connection."""
        for connection in self._all:
            connection.close()

    def in_flight(self) -> list[Request]:
        """Requests that have no end yet."""
        return [record for record in self.records if not record.ended]

    @property
    def finished(self) -> bool:
        """Whether nothing runs any more, the number of requests asked for being done."""
        return all(task.done() for task in self._tasks)

    async def _client(self, number: int, connection: Connection, first: Prompt) -> None:
        await self._barrier.wait()
        prompt, due = first, perf_counter()
        while not self._stopping.is_set() and not self._enough(len(self.records)):
            await self._ask(number, connection, prompt, due)
            prompt = self._prompts.next()
            if self.shape.think_s:
                await self._pause(self.shape.think_s * self._rng.uniform(0.5, 1.5))
            due = perf_counter()

    async def _by_the_clock(self) -> None:
        assert self.shape.rate is not None
        await self._barrier.wait()
        running: set[asyncio.Task[None]] = set()
        due, number = perf_counter(), 0
        try:
            while not self._stopping.is_set() and not self._enough(number):
                await self._pause(due - perf_counter())
                if self._stopping.is_set():
                    break
                task = asyncio.get_running_loop().create_task(self._arrival(number, due))
                running.add(task)
                task.add_done_callback(running.discard)
                number += 1
                due += self._rng.expovariate(self.shape.rate)
            await asyncio.gather(*running)
        except asyncio.CancelledError:
            for task in running:
                task.cancel()
            raise

    async def _arrival(self, number: int, due: float) -> None:
        """One request of the open loop; waiting for a free place counts, since its user waits as well."""
        prompt = self._prompts.next()
        if self._places is None:
            await self._on_any(number, prompt, due)
            return
        async with self._places:
            await self._on_any(number, prompt, due)

    async def _on_any(self, number: int, prompt: Prompt, due: float) -> None:
        if self._idle:
            connection = self._idle.pop()
        else:
            connection = Connection(self._endpoint, self._room)
            self._all.append(connection)
        await self._ask(number, connection, prompt, due)
        self._idle.append(connection)

    async def _ask(self, number: int, connection: Connection, prompt: Prompt, due: float) -> None:
        record = Request(number, prompt.output_tokens, due)
        self.records.append(record)
        await connection.post("/generate", generate_body(prompt), record)
        if self._watch is not None:
            self._watch(record)
        if record.error:
            await self._pause(min(1.0, self.shape.seconds / 20))

    def _enough(self, begun: int) -> bool:
        return self.shape.requests is not None and begun >= self.shape.requests

    async def _pause(self, seconds: float) -> None:
        """Sleeps, unless the load is stopped meanwhile."""
        if seconds <= 0:
            return
        await _either(self._stopping.wait(), seconds)


async def _either(event: Awaitable[object], seconds: float) -> None:
    try:
        await asyncio.wait_for(event, seconds)
    except TimeoutError:
        return
