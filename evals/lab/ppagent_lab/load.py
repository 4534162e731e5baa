"""The lab's clients: streamed requests in a closed loop, every token's time kept.

Not the load of `ppagent bench`, on purpose: what is measured here is held against what `ppagent` says.
"""

import asyncio
import json
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx2 as httpx

from ppagent_lab.shapes import Load

WORDS = ("stage", "pipeline", "request", "batch", "slot", "token", "decode", "prefill", "queue", "device", "host")
TOKEN_IDS = (10, 250)
"""Ids of the small model's vocabulary that are no special token."""
TRICKLE_S, LONGEST_TRICKLE_S = 0.7, 6.0
"""Between the first requests of two trickling clients (no multiple of a ring's turn), and until the last of them."""

THINK_SPREAD = 0.5
"""A trickling client's pause is between so much less and so much more than `think_s`, as a share of it."""


def start_spread_s(load: Load) -> float:
    """Seconds from the first client's first request to the last client's."""
    return min(LONGEST_TRICKLE_S, TRICKLE_S * (load.clients - 1)) if load.arrival == "trickle" else 0.0


@dataclass
class Request:
    """Times in seconds of time.monotonic()."""

    sent_at: float
    input_tokens: int
    wanted: int
    token_times: list[float] = field(default_factory=list)
    error: str = ""
    done_at: float | None = None

    def take(self, line: str) -> None:
        """A line of the stream: it says how many tokens there are by now, so that two in one event count as two."""
        if not line.startswith("data: {"):
            return
        so_far = json.loads(line.removeprefix("data: "))["meta_info"]["completion_tokens"]
        self.token_times += [time.monotonic()] * (so_far - len(self.token_times))


class Clients:
    """All of one load, in a thread with an event loop of its own."""

    def __init__(self, url: str, load: Load, seed: int = 1) -> None:
        self.requests: list[Request] = []
        self._url, self._load = url, load
        self._rng = random.Random(seed)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)
        self._sent = 0

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """No further request; those in flight are cut off."""
        self._stopping.set()
        self._thread.join()

    async def _run(self) -> None:
        limits = httpx.Limits(max_connections=None)
        async with httpx.AsyncClient(base_url=self._url, timeout=None, limits=limits) as http:
            work = self._bursts(http) if self._load.arrival == "burst" else self._trickle(http)
            task = asyncio.ensure_future(work)
            while not self._stopping.is_set() and not task.done():
                await asyncio.sleep(0.1)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _trickle(self, http: httpx.AsyncClient) -> None:
        count = self._load.clients
        each_s = start_spread_s(self._load) / max(1, count - 1)
        await asyncio.gather(*(self._client(http, n * each_s) for n in range(count)))

    async def _client(self, http: httpx.AsyncClient, wait_s: float) -> None:
        await asyncio.sleep(wait_s)
        while True:
            await self._send(http)
            await asyncio.sleep(self._load.think_s * self._rng.uniform(1 - THINK_SPREAD, 1 + THINK_SPREAD))

    async def _bursts(self, http: httpx.AsyncClient) -> None:
        while True:
            await asyncio.gather(*(self._send(http) for _ in range(self._load.clients)))
            await asyncio.sleep(self._load.think_s)

    async def _send(self, http: httpx.AsyncClient) -> None:
        body, request = self._next()
        self.requests.append(request)
        try:
            async with http.stream("POST", "/generate", json=body) as answer:
                async for line in answer.aiter_lines():
                    request.take(line)
            request.done_at = time.monotonic()
        except httpx.HTTPError as error:
            request.error = f"{type(error).__name__}: {error}"
            await asyncio.sleep(1)

    def _next(self) -> tuple[dict[str, object], Request]:
        load = self._load
        self._sent += 1
        is_long = load.long_every and self._sent % load.long_every == 0
        length = load.long_tokens if is_long else self._rng.randint(*load.input_tokens)
        wanted = load.long_output if is_long else self._rng.randint(*load.output_tokens)
        sampling = {"temperature": 0.0, "max_new_tokens": wanted, "ignore_eos": True}
        body: dict[str, object] = {"sampling_params": sampling, "stream": True}
        if load.as_text:
            body["text"] = " ".join(self._rng.choices(WORDS, k=max(1, length // 4)))
        else:
            shared = [TOKEN_IDS[0] + n % 200 for n in range(load.shared_prefix)]
            body["input_ids"] = shared + [self._rng.randint(*TOKEN_IDS) for _ in range(length)]
        return body, Request(time.monotonic(), length + load.shared_prefix, wanted)


@contextmanager
def clients(url: str, load: Load | None, seed: int = 1) -> Iterator[Clients | None]:
    """Runs the load as long as the block; nothing where there is none."""
    if load is None:
        yield None
        return
    running = Clients(url, load, seed)
    running.start()
    try:
        yield running
    finally:
        running.stop()
