"""Shows what the load client costs and how late it is: 256 streams of 50 tokens a second each, on one core.

    python scripts/bench_load_client.py [--streams 256] [--rate 50] [--seconds 15] [--rounds 1]

The server is a process of its own on another core. It sends events as SGLang does (chunked, one a token, the text so
far and its meta_info in each), and does nothing else. The client is `ppagent.bench` as it is, pinned to one core.

A busy machine makes every client late. So a bare reader, which takes the same streams off the wire and looks at
nothing, runs before and after it in the same run: what the client costs is said as a ratio to that, which does not
depend on the machine. Exit status 1 where its own lag passes 50 ms (p99), it takes more than three times the
processor time of the bare reader a token, or fewer than 95 % of the tokens came in time.
"""

import argparse
import asyncio
import gc
import json
import multiprocessing
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection as Pipe
from resource import RUSAGE_SELF, getrusage
from time import perf_counter

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))  # noqa: PTH118, PTH120

from ppagent.bench.endpoint import parse_endpoint
from ppagent.bench.lag import TOO_LATE_MS, LagMonitor
from ppagent.bench.level import run_level
from ppagent.bench.load import generate_body
from ppagent.bench.prompts import Prompt, Span, WordPrompts
from ppagent.bench.result import LevelResult, sum_up
from ppagent.bench.shape import Shape

MOST_TIMES_BARE = 3.0
ANSWER_S = 4.0
"""Length of one answer."""
GROUPS = 20
"""Streams get their tokens in so many groups a turn, not all at the same moment."""
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
DONE = b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"


class Stream(asyncio.Protocol):
    """One connection: every request on it is answered by a token a turn."""

    def __init__(self, groups: list[set["Stream"]]) -> None:
        self.groups = groups
        self.group: set[Stream] = set()
        self.sent = self.wanted = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        body = data.partition(b"\r\n\r\n")[2]
        if not body:
            return
        self.sent, self.wanted = 0, json.loads(body)["sampling_params"]["max_new_tokens"]
        self.transport.write(HEAD)
        self.group = min(self.groups, key=len)
        self.group.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.group.discard(self)

    def token(self) -> None:
        """Sends the next event."""
        self.sent += 1
        ended = self.sent >= self.wanted
        self.transport.write(EVENTS[self.sent] if not ended else event(self.sent, True) + DONE)
        if ended:
            self.group.discard(self)


def event(tokens: int, ended: bool) -> bytes:
    """An event of about the size that SGLang 0.5 sends."""
    meta = {
        "id": "0123456789abcdef0123456789abcdef",
        "finish_reason": {"type": "length", "length": tokens} if ended else None,
        "prompt_tokens": 16,
        "weight_version": "default",
        "total_retractions": 0,
        "completion_tokens": tokens,
        "cached_tokens": 1,
        "e2e_latency": 1.234567890123,
    }
    text = " token" * tokens
    data = b"data: " + json.dumps({"text": text, "output_ids": list(range(tokens)), "meta_info": meta}).encode()
    return f"{len(data) + 2:x}\r\n".encode() + data + b"\n\n\r\n"


EVENTS: list[bytes] = []


def serve(pipe: Pipe, rate: float, core: int) -> None:
    """The server process."""
    os.sched_setaffinity(0, {core})
    EVENTS.extend(event(n, False) for n in range(int(ANSWER_S * rate) + 2))
    asyncio.run(_serve(pipe, rate))


async def _serve(pipe: Pipe, rate: float) -> None:
    groups: list[set[Stream]] = [set() for _ in range(GROUPS)]
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Stream(groups), "127.0.0.1", 0, backlog=1024)
    pipe.send(server.sockets[0].getsockname()[1])
    due = perf_counter()
    while True:
        for group in groups:
            due += 1 / rate / GROUPS
            await asyncio.sleep(max(0.0, due - perf_counter()))
            for stream in list(group):
                stream.token()


class Bare(asyncio.BufferedProtocol):
    """One stream after the other off the wire, unread: what asyncio itself costs."""

    def __init__(self, room: memoryview, request: bytes) -> None:
        self.room, self.request = room, request
        self.reads = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.write(self.request)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self.room

    def buffer_updated(self, nbytes: int) -> None:
        self.reads += 1
        if bytes(self.room[max(0, nbytes - 7) : nbytes]) == b"\r\n0\r\n\r\n":
            self.transport.write(self.request)


@dataclass(frozen=True)
class Cost:
    """What reading the streams took."""

    tokens: int
    cpu_us: float
    """Processor time a token, microseconds."""
    busy: float
    lag_p99_ms: float
    own_p99_ms: float
    lag_max_ms: float
    put_off: int
    """Times that another process took the core away."""


def costed(work: Callable[[], tuple[int, LagMonitor | None]]) -> Cost:
    """Does `work`, which says how many tokens it read, and what it cost."""
    begin, used = perf_counter(), getrusage(RUSAGE_SELF)
    tokens, lag = work()
    wall, after = perf_counter() - begin, getrusage(RUSAGE_SELF)
    spent = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
    late = (lag.p99_ms, lag.own_p99_ms, lag.max_ms) if lag is not None else (0.0, 0.0, 0.0)
    return Cost(tokens, 1e6 * spent / max(1, tokens), spent / wall, *late, after.ru_nivcsw - used.ru_nivcsw)


def bare(port: int, streams: int, rate: float, seconds: float) -> tuple[int, LagMonitor]:
    """The streams read by the bare reader; each read is one token of one stream, as the client gets them."""

    async def run() -> tuple[int, LagMonitor]:
        room, loop, lag = memoryview(bytearray(1 << 18)), asyncio.get_running_loop(), LagMonitor()
        body = generate_body(Prompt("word " * 16, int(ANSWER_S * rate)))
        request = f"POST /generate HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
        made = [await loop.create_connection(lambda: Bare(room, request), "127.0.0.1", port) for _ in range(streams)]
        gc.collect()
        gc.disable()
        lag.start()
        await asyncio.sleep(seconds)
        await lag.stop()
        gc.enable()
        for transport, _ in made:
            transport.abort()
        return sum(reader.reads for _, reader in made), lag

    return asyncio.run(run())


def measure(port: int, streams: int, rate: float, seconds: float) -> LevelResult:
    """The client itself."""
    length = Span(int(ANSWER_S * rate), int(ANSWER_S * rate))
    shape = Shape(concurrency=streams, seconds=seconds, input_tokens=Span(16, 16), output_tokens=length)
    prompts = WordPrompts(shape.input_tokens, shape.output_tokens, 1)
    return sum_up(asyncio.run(run_level(parse_endpoint(f"http://127.0.0.1:{port}"), shape, prompts)))


def round_of(port: int, args: argparse.Namespace) -> bool:
    """Bare reader, client, bare reader: prints what each took, and whether the client is cheap enough."""
    found: list[LevelResult] = []

    def client() -> tuple[int, None]:
        found.append(measure(port, args.streams, args.rate, args.seconds))
        return sum(record.tokens for record in found[0].run.records), None

    def reference() -> tuple[int, LagMonitor]:
        return bare(port, args.streams, args.rate, args.seconds / 2)

    first, ours, second = costed(reference), costed(client), costed(reference)
    result = found[0]
    base_us, base_ms = (first.cpu_us + second.cpu_us) / 2, (first.lag_p99_ms + second.lag_p99_ms) / 2
    got, wanted = result.steady.tokens_per_s if result.steady else 0.0, args.streams * args.rate
    run = result.run
    says = (
        f"{args.streams} streams of {args.rate:g} tok/s: {got:.0f} of {wanted:.0f} tok/s",
        f"client: {ours.cpu_us:.1f} us a token, {ours.busy:.0%} of one core; bare reader {first.cpu_us:.1f} and "
        f"{second.cpu_us:.1f} us: ratio {ours.cpu_us / base_us:.2f}",
        f"lag p99 {run.lag_p99_ms:.1f} ms, of which by its own work {run.lag_own_p99_ms:.1f} ms; max "
        f"{run.lag_max_ms:.1f} ms; bare reader p99 {first.lag_p99_ms:.1f} and {second.lag_p99_ms:.1f} ms: ratio "
        f"{run.lag_p99_ms / max(base_ms, 0.1):.2f}",
        f"ITL p50 {result.itl.median:.2f} ms (true {1000 / args.rate:.2f}), p99 {result.itl.p99:.2f} ms",
        f"{len(result.completed)} answers, {len(result.failed)} failed, start spread {result.start_spread_ms:.1f} ms; "
        f"put off the core {ours.put_off} times by others",
    )
    sys.stdout.write("\n".join(says) + "\n")
    cheap = ours.cpu_us <= MOST_TIMES_BARE * base_us
    return cheap and run.lag_own_p99_ms <= TOO_LATE_MS and got >= 0.95 * wanted


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=256)
    parser.add_argument("--rate", type=float, default=50.0, help="tokens a second of each stream")
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--rounds", type=int, default=1)
    args = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.Process(target=serve, args=(theirs, args.rate, cores[-1]), daemon=True)
    process.start()
    port = ours.recv()
    os.sched_setaffinity(0, {cores[0]})
    good = [round_of(port, args) for _ in range(args.rounds)]
    process.terminate()
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
