"""Shows how late the load client itself is: 256 streams of 50 tokens a second each, on one core.

    python scripts/bench_load_client.py [--streams 256] [--rate 50] [--seconds 15]

The server is a process of its own on another core. It sends events as SGLang does (chunked, one a token, the text so
far and its meta_info in each), and does nothing else. The client is `ppagent.bench` as it is, pinned to one core. Exit
status 1 where its own lag passes 50 ms (p99), or fewer than 95 % of the tokens came in time. Time that other processes
of a busy machine take is told apart: it makes a measurement late all the same, but is no cost of the client.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import sys
from multiprocessing.connection import Connection as Pipe
from resource import RUSAGE_SELF, getrusage
from time import perf_counter

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))  # noqa: PTH118, PTH120

from ppagent.bench.endpoint import parse_endpoint
from ppagent.bench.lag import TOO_LATE_MS
from ppagent.bench.level import run_level
from ppagent.bench.prompts import Span, WordPrompts
from ppagent.bench.result import LevelResult, sum_up
from ppagent.bench.shape import Shape

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


def measure(port: int, streams: int, rate: float, seconds: float) -> LevelResult:
    """The client's side."""
    length = Span(int(ANSWER_S * rate), int(ANSWER_S * rate))
    shape = Shape(concurrency=streams, seconds=seconds, input_tokens=Span(16, 16), output_tokens=length)
    prompts = WordPrompts(shape.input_tokens, shape.output_tokens, 1)
    return sum_up(asyncio.run(run_level(parse_endpoint(f"http://127.0.0.1:{port}"), shape, prompts)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=256)
    parser.add_argument("--rate", type=float, default=50.0, help="tokens a second of each stream")
    parser.add_argument("--seconds", type=float, default=15.0)
    args = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.Process(target=serve, args=(theirs, args.rate, cores[-1]), daemon=True)
    process.start()
    port = ours.recv()
    os.sched_setaffinity(0, {cores[0]})
    begin, used = perf_counter(), getrusage(RUSAGE_SELF)
    result = measure(port, args.streams, args.rate, args.seconds)
    wall, after = perf_counter() - begin, getrusage(RUSAGE_SELF)
    process.terminate()
    busy = (after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime) / wall
    got, wanted = result.steady.tokens_per_s if result.steady else 0.0, args.streams * args.rate
    lag = result.run.lag_p99_ms
    says = (
        f"{args.streams} streams of {args.rate:g} tok/s: {got:.0f} of {wanted:.0f} tok/s",
        f"client busy {busy:.0%} of one core, put off it {after.ru_nivcsw - used.ru_nivcsw} times by others",
        f"lag p99 {lag:.1f} ms, of which by its own work {result.run.lag_own_p99_ms:.1f} ms; max "
        f"{result.run.lag_max_ms:.1f} ms",
        f"ITL p50 {result.itl.median:.2f} ms (true {1000 / args.rate:.2f}), p99 {result.itl.p99:.2f} ms",
        f"{len(result.completed)} answers, {len(result.failed)} failed, start spread {result.start_spread_ms:.1f} ms",
    )
    sys.stdout.write("\n".join(says) + "\n")
    return 0 if result.run.lag_own_p99_ms <= TOO_LATE_MS and got >= 0.95 * wanted else 1


if __name__ == "__main__":
    sys.exit(main())
