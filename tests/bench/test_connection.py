import asyncio
import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.bench.connection import Connection
from ppagent.bench.endpoint import parse_endpoint
from ppagent.bench.http_reader import ResponseReader
from ppagent.bench.record import Request

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
END = b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"


class FakeTransport(asyncio.Transport):
    """Takes what is sent."""

    def __init__(self) -> None:
        super().__init__()
        self.sent = b""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.sent += bytes(data)

    def is_closing(self) -> bool:
        return False

    def abort(self) -> None:
        """Nothing runs."""


def event(tokens: int, text: str = "word") -> bytes:
    meta = {"finish_reason": None, "prompt_tokens": 3, "completion_tokens": tokens, "cached_tokens": 0}
    return b"data: " + json.dumps({"text": text * tokens, "meta_info": meta}).encode() + b"\n\n"


def chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def received(pieces: Sequence[bytes]) -> Request:
    """The record of one request whose answer comes in these pieces, through the buffer as the loop fills it."""

    async def run() -> Request:
        connection = Connection(parse_endpoint("http://127.0.0.1:1"))
        connection.connection_made(FakeTransport())
        record = Request(0, 4, 0.0)
        waiting = asyncio.ensure_future(connection.post("/generate", b"{}", record))
        await asyncio.sleep(0)
        for piece in pieces:
            room = connection.get_buffer(-1)
            room[: len(piece)] = piece
            connection.buffer_updated(len(piece))
        await asyncio.wait_for(waiting, 2)
        return record

    return asyncio.run(run())


@given(
    st.lists(st.tuples(st.integers(1, 400), st.text(max_size=8)), min_size=1, max_size=8),
    st.lists(st.integers(0, 9000), max_size=12),
)
def test_tokens_count_the_same_however_the_network_cuts_the_stream(
    events: list[tuple[int, str]], cuts: list[int]
) -> None:
    sizes = sorted(tokens for tokens, _ in events)
    told = [chunk(event(tokens, text)) for tokens, (_, text) in zip(sizes, events, strict=True)]
    stream = HEAD + b"".join(told) + END
    places = [0, *sorted({cut % (len(stream) + 1) for cut in cuts}), len(stream)]
    pieces = [stream[a:b] for a, b in zip(places, places[1:], strict=False) if b > a]
    whole, cut = received([HEAD, *told, END]), received(pieces)
    assert list(whole.counts) == list(cut.counts) == sorted(set(sizes))
    assert whole.final == cut.final
    assert whole.succeeded
    assert cut.succeeded


def test_an_error_behind_a_token_in_one_piece_is_not_lost() -> None:
    broken = b'data: {"error": {"message": "the scheduler died"}}\n\n'
    for pieces in ([HEAD, chunk(event(1) + broken), END], [HEAD, chunk(event(1)) + chunk(broken), END]):
        assert "the scheduler died" in received(pieces).error


@pytest.mark.parametrize(
    "data",
    [
        chunk(event(3) + event(4)),
        chunk(event(3)) + chunk(event(4)),
        chunk(event(3))[:-4],
        chunk(event(3)[:-1]),
        chunk(b": ping\n\n"),
        b"5\r\n" + chunk(event(3))[3:],
    ],
)
def test_only_one_whole_event_takes_the_short_way(data: bytes) -> None:
    reader = ResponseReader()
    reader.feed(HEAD)
    assert reader.one_event(data) == b""
    assert reader.one_event(chunk(event(3))) == event(3)[6:-2]


def test_a_refusal_is_no_event_however_it_looks() -> None:
    reader = ResponseReader()
    reader.feed(HEAD.replace(b"200 OK", b"503 Busy"))
    assert reader.one_event(chunk(event(3))) == b""
