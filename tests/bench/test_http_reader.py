import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.bench.http_reader import BadResponse, EventSplitter, ResponseReader

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def chunked(pieces: list[bytes]) -> bytes:
    return b"".join(f"{len(piece):x}\r\n".encode() + piece + b"\r\n" for piece in pieces if piece) + b"0\r\n\r\n"


def fed(reader: ResponseReader, data: bytes, cuts: list[int]) -> bytes:
    places = sorted({cut % (len(data) + 1) for cut in cuts})
    bounds = [0, *places, len(data)]
    return b"".join(reader.feed(data[a:b]) for a, b in zip(bounds, bounds[1:], strict=False))


@given(st.lists(st.binary(min_size=1, max_size=300), max_size=6), st.lists(st.integers(0, 5000), max_size=12))
def test_a_chunked_body_is_the_same_however_the_network_cuts_it(pieces: list[bytes], cuts: list[int]) -> None:
    reader = ResponseReader()
    assert fed(reader, HEAD + chunked(pieces), cuts) == b"".join(pieces)
    assert reader.done
    assert reader.status == 200
    assert reader.keeps_alive


@given(st.binary(max_size=500), st.lists(st.integers(0, 5000), max_size=8))
def test_a_body_with_a_length_is_the_same_however_it_is_cut(body: bytes, cuts: list[int]) -> None:
    reader = ResponseReader()
    data = b"HTTP/1.1 500 Oops\r\nContent-Length: " + str(len(body)).encode() + b"\r\n\r\n" + body
    assert fed(reader, data, cuts) == body
    assert (reader.done, reader.status) == (True, 500)


@given(
    st.lists(st.text(st.characters(blacklist_characters="\r\n", blacklist_categories=["Cs"]), max_size=20), max_size=6),
    st.lists(st.integers(0, 400), max_size=10),
)
def test_events_are_the_same_however_the_body_is_cut(payloads: list[str], cuts: list[int]) -> None:
    body = b"".join(b"data: " + text.encode() + b"\n\n" for text in payloads)
    places = sorted({cut % (len(body) + 1) for cut in cuts})
    bounds = [0, *places, len(body)]
    splitter = EventSplitter()
    found = [e for a, b in zip(bounds, bounds[1:], strict=False) for e in splitter.feed(body[a:b])]
    assert found == [text.encode().strip() for text in payloads]


def test_a_body_without_a_length_ends_with_the_connection() -> None:
    reader = ResponseReader()
    assert reader.feed(b"HTTP/1.1 200 OK\r\n\r\nall of it") == b"all of it"
    assert not reader.done
    assert reader.end()
    assert not reader.keeps_alive


def test_a_chunked_body_that_breaks_off_is_not_whole() -> None:
    reader = ResponseReader()
    reader.feed(HEAD + b"5\r\nhello\r\n")
    assert not reader.end()


def test_a_server_that_closes_after_its_answer_says_so() -> None:
    reader = ResponseReader()
    reader.feed(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
    assert reader.done
    assert not reader.keeps_alive


@pytest.mark.parametrize(
    "data",
    [
        b"SSH-2.0-OpenSSH\r\n\r\n",
        HEAD + b"zz\r\n",
        HEAD + b"-6\r\nabc\r\n",
        b"x" * 70_000,
        b"HTTP/1.1 " + b"2" * 5000 + b" OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n",
    ],
    ids=lambda data: repr(data[:12]),
)
def test_what_is_no_http_is_refused(data: bytes) -> None:
    with pytest.raises(BadResponse):
        ResponseReader().feed(data)
