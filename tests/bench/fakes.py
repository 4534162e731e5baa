"""A small server that behaves like SGLang's HTTP: it streams, counts, has slots that clump, and a limit set live.

Its ring: every turn each running request gains a token, and a turn takes `base_ms` + `per_request_ms` x the fullest
slot. A new request joins the fullest slot that has room, as requests clump on the real one.
"""

import asyncio
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ppagent.bench.endpoint import Endpoint, parse_endpoint


@dataclass
class Running:
    """One request on the fake server."""

    prompt: str
    wanted: int
    arrived: float
    slot: int = -1
    tokens: int = 0
    news: asyncio.Event = field(default_factory=asyncio.Event)
    last: float = field(default_factory=time.monotonic)
    """When it last got a token, or came."""


@dataclass
class FakeServer:
    """Use as a context manager; it serves on a free port in a thread of its own."""

    stages: int = 4
    max_running: int = 64
    base_ms: float = 4.0
    per_request_ms: float = 2.0
    version: str = "0.5.23"
    truthful: bool = True
    """Whether a refusal is answered with false; up to 0.5.14 it is not."""
    refuses: bool = False
    """Whether every live setting is refused."""
    with_metrics: bool = True
    stops_early_at: int = 0
    drops_at: int = 0
    """Tokens after which the connection is cut; 0 for never."""
    fails: Callable[[int], bool] = lambda number: False
    """By number of the request, whether it is answered with an error."""
    error_in_stream: bool = False
    answer: Callable[["FakeServer", str], str] = lambda server, prompt: f"echo {len(prompt)}"
    limit: int | None = None
    launched_limit: int | None = None
    tokens_at_once: int = 1
    wanted_port: int = 0
    tells_state: bool = True
    key: str = ""
    """Wanted with every request, where set."""
    closes_idle: bool = False
    """Whether a connection is closed as soon as an answer is out, without saying so."""
    tokens_of_others: int = 0
    """Counted with every look at the metrics, as other people's traffic would be."""
    tls: ssl.SSLContext | None = None
    """Spoken where set."""
    served: int = 0
    settings: list[dict[str, Any]] = field(default_factory=list)
    generated: int = 0
    latency_sum: float = 0.0
    gaps: int = 0
    gap_sum: float = 0.0
    """Time between tokens, counted as they are made, as a real server does."""
    dropped: int = 0
    startup_time: dict[str, float] = field(default_factory=lambda: {"total": time.time()})

    def __post_init__(self) -> None:
        self.slots: list[list[Running]] = [[] for _ in range(self.stages)]
        self.waiting: list[Running] = []
        self.default_limit = max(self.max_running // self.stages, 1)
        self.limit = self.limit or self.launched_limit or self.default_limit
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._ready = threading.Event()
        self.port = 0

    def __enter__(self) -> "FakeServer":
        self._thread.start()
        assert self._ready.wait(5)
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Stops serving, as a server that died."""
        if self._loop.is_running():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(5)

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    @property
    def endpoint(self) -> Endpoint:
        return parse_endpoint(self.url)

    @property
    def _key(self) -> str:
        """What the limit was called in this version."""
        return "max_micro_batch_size" if self.version.startswith("0.4") else "pp_max_micro_batch_size"

    @property
    def in_flight(self) -> int:
        return sum(len(slot) for slot in self.slots) + len(self.waiting)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)

        async def begin() -> None:
            server = await asyncio.start_server(self._connection, "127.0.0.1", self.wanted_port, ssl=self.tls)
            self.port = server.sockets[0].getsockname()[1]
            self._ticker = asyncio.ensure_future(self._turns())
            self._ready.set()

        self._loop.run_until_complete(begin())
        self._loop.run_forever()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))

    async def _turns(self) -> None:
        while True:
            self._admit()
            fullest = max(len(slot) for slot in self.slots)
            if not fullest:
                await asyncio.sleep(0.001)
                continue
            await asyncio.sleep((self.base_ms + self.per_request_ms * fullest) / 1000)
            for slot in self.slots:
                for request in list(slot):
                    self._advance(slot, request)

    def _advance(self, slot: list[Running], request: Running) -> None:
        new = min(self.tokens_at_once, request.wanted - request.tokens)
        request.tokens += new
        self.generated += new
        now = time.monotonic()
        self.gaps += new
        self.gap_sum += now - request.last
        request.last = now
        if request.tokens >= request.wanted:
            slot.remove(request)
            self.latency_sum += time.monotonic() - request.arrived
        request.news.set()

    def _admit(self) -> None:
        assert self.limit is not None
        for request in list(self.waiting):
            room = [slot for slot in self.slots if len(slot) < self.limit]
            if not room:
                return
            self.waiting.remove(request)
            max(room, key=len).append(request)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                length = next((int(line.split(":")[1]) for line in head.lower().split("\r\n") if "th:" in line), 0)
                body = await reader.readexactly(length) if length else b""
                method, path = head.split()[:2]
                if self.key and f"authorization: bearer {self.key}" not in head.lower():
                    writer.write(_response(401, "{}"))
                    continue
                if not await self._answer(method, path, body, writer):
                    break
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _answer(self, method: str, path: str, body: bytes, writer: asyncio.StreamWriter) -> bool:
        if path == "/generate":
            return await self._generate(json.loads(body), writer)
        status, text = self._static(path, body)
        writer.write(_response(status, text))
        await writer.drain()
        return True

    def _static(self, path: str, body: bytes) -> tuple[int, str]:
        old = tuple(int(part) for part in self.version.split(".")[:3]) < (0, 5, 6)
        match path:
            case "/server_info" if not old:
                return 200, json.dumps(self._info())
            case "/get_server_info":
                return 200, json.dumps(self._info())
            case "/v1/models":
                return 200, json.dumps({"object": "list", "data": [{"id": "m", "object": "model"}]})
            case "/set_internal_state":
                return 200, json.dumps(self._set(json.loads(body)["server_args"]))
            case "/v1/loads" if not old:
                running = max((len(slot) for slot in self.slots), default=0)
                row = {"dp_rank": 0, "num_running_reqs": running, "num_waiting_reqs": len(self.waiting)}
                return 200, json.dumps({"loads": [row]})
            case "/metrics" if self.with_metrics:
                self.generated += self.tokens_of_others
                return 200, (
                    f'sglang:generation_tokens_total{{model_name="m"}} {self.generated}\n'
                    f'sglang:e2e_request_latency_seconds_sum{{model_name="m"}} {self.latency_sum}\n'
                    f'sglang:e2e_request_latency_seconds_count{{model_name="m"}} {self.served}\n'
                    f'sglang:inter_token_latency_seconds_sum{{model_name="m"}} {self.gap_sum}\n'
                    f'sglang:inter_token_latency_seconds_count{{model_name="m"}} {self.gaps}\n'
                    f'sglang:num_requests_total{{model_name="m"}} {self.served}\n'
                )
        return 404, "{}"

    def _info(self) -> dict[str, Any]:
        state = {
            self._key: self.limit,
            "effective_max_running_requests_per_dp": self.max_running,
            "pp_size": self.stages,
        }
        return {
            "version": self.version,
            "startup_time": self.startup_time,
            "pp_size": self.stages,
            "tp_size": 1,
            "device": "cuda",
            "max_running_requests": self.max_running,
            "pp_max_micro_batch_size": self.launched_limit,
            "internal_states": [state] if self.tells_state else [],
        }

    def _set(self, wanted: dict[str, Any]) -> list[bool]:
        self.settings.append(wanted)
        value = wanted.get(self._key)
        done = not self.refuses and isinstance(value, int) and 1 <= value <= self.default_limit
        if done:
            self.limit = value
        return [done or not self.truthful]

    async def _generate(self, body: dict[str, Any], writer: asyncio.StreamWriter) -> bool:
        self.served += 1
        if self.fails(self.served):
            writer.write(_response(500, '{"error": {"message": "out of luck"}}'))
            return True
        wanted = body["sampling_params"]["max_new_tokens"]
        prompt = body.get("text") or " ".join(map(str, body["input_ids"]))
        request = Running(prompt, min(wanted, self.stops_early_at or wanted), time.monotonic())
        self.waiting.append(request)
        if not body.get("stream"):
            while request.tokens < request.wanted:
                await request.news.wait()
                request.news.clear()
            writer.write(_response(200, json.dumps(self._event(request))))
            return True
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        return await self._stream(request, writer)

    async def _stream(self, request: Running, writer: asyncio.StreamWriter) -> bool:
        while request.tokens < request.wanted:
            await request.news.wait()
            request.news.clear()
            if self.error_in_stream:
                writer.write(_chunk(b'data: {"error": {"message": "the scheduler died", "code": 500}}\n\n'))
                break
            if self.drops_at and request.tokens >= self.drops_at:
                self.dropped += 1
                for slot in self.slots:
                    if request in slot:
                        slot.remove(request)
                return False
            writer.write(_chunk(b"data: " + json.dumps(self._event(request)).encode() + b"\n\n"))
        writer.write(_chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n")
        await writer.drain()
        return not self.closes_idle

    def _event(self, request: Running) -> dict[str, Any]:
        ended = request.tokens >= request.wanted
        return {
            "text": f"{self.answer(self, request.prompt)} {'x' * request.tokens}",
            "output_ids": [request.tokens],
            "meta_info": {
                "id": "r",
                "finish_reason": {"type": "length", "length": request.wanted} if ended else None,
                "prompt_tokens": len(request.prompt.split()),
                "completion_tokens": request.tokens,
                "cached_tokens": 0,
                "e2e_latency": 0.1,
            },
        }


def _response(status: int, text: str) -> bytes:
    body = text.encode()
    return f"HTTP/1.1 {status} X\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body


def _chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def free_port() -> int:
    """A port that nobody listens on right now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])
