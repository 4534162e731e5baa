"""A trace is read as it comes, and what is none says so."""

import gzip
import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trace_samples import packed

from ppagent.errors import ToolError
from ppagent.profile import events as module
from ppagent.profile.events import read_events

TEXT = st.text(max_size=12)
VALUES = st.recursive(st.none() | st.booleans() | st.integers(-9, 10**9) | TEXT, lambda v: st.lists(v, max_size=3))
EVENTS = st.lists(st.dictionaries(TEXT, VALUES, max_size=4), max_size=12)


def read(text: str) -> list[dict[str, object]]:
    return list(read_events(packed(text), "t"))


@settings(max_examples=60, deadline=None)
@given(EVENTS, st.integers(1, 40), st.sampled_from([None, 1, 4]), st.booleans())
def test_events_come_out_as_they_went_in_wherever_the_pieces_end(
    events: list[dict[str, object]], piece: int, indent: int | None, ascii_only: bool
) -> None:
    trace = {"schemaVersion": 1, "traceEvents": events, "traceName": "x"}
    text = json.dumps(trace, indent=indent, ensure_ascii=ascii_only)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PIECE", piece)
        assert read(text) == events


def test_a_list_alone_is_a_trace_too_and_it_need_not_be_packed() -> None:
    assert list(read_events(io.BytesIO(b'[{"ph": "X"}, 7, {"ph": "M"}]'), "t")) == [{"ph": "X"}, {"ph": "M"}]


def test_what_stands_beside_the_events_is_told_before_and_after_them() -> None:
    told: dict[str, object] = {}
    text = '{"schemaVersion": 12, "distributedInfo": {"rank": 3}, "traceEvents": [{}], "traceName": "x" }'
    assert list(read_events(packed(text), "t", told.__setitem__)) == [{}]
    assert told == {"schemaVersion": 12, "distributedInfo": {"rank": 3}, "traceName": "x"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "t is empty"),
        ("  \n", "t is empty"),
        ("<html><body>502 Bad Gateway</body></html>", "it holds no JSON"),
        ("{}", "it holds no list of events"),
        ('{"traceEvents": 7}', "it holds no list of events"),
        ('{"traceEvents": [{"ph": "X"}, {"ph": "X", "na', "breaks off, or is no JSON, after 1 events"),
        ('{"traceEvents": [{"ph": "X"}', "breaks off, or is no JSON, after 1 events"),
        ('{"traceEvents": [{"ph": "X"} nonsense]}', "breaks off, or is no JSON, after 1 events"),
        ('{"traceEvents" [1]}', "breaks off"),
        ("{7: 8}", "breaks off"),
        ('{"traceEvents": [' + "[" * 100_000, "nested too deeply"),
        ('{"traceEvents": [{"ts": ' + "9" * 5000 + "}]}", "breaks off, or is no JSON"),
    ],
)
def test_what_is_no_whole_trace_is_said_in_words(text: str, why: str) -> None:
    with pytest.raises(ToolError, match=why.replace("(", r"\(")):
        read(text)


def test_a_string_without_end_is_given_up_before_it_fills_the_memory() -> None:
    with pytest.raises(ToolError, match="broken, or larger than 8 MiB"):
        read('{"traceEvents": [{"name": "' + "x" * (9 << 20) + '"}]}')


def test_more_than_a_trace_may_unpack_to_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_UNPACKED_GIB", 0)
    with pytest.raises(ToolError, match="larger than 0 GiB when unpacked"):
        read('{"traceEvents": []}')


@pytest.mark.parametrize("spoil", ["cut", "crc", "body"])
def test_a_spoiled_archive_is_no_trace(spoil: str) -> None:
    data = bytearray(gzip.compress(json.dumps({"traceEvents": [{"n": n} for n in range(5000)]}).encode()))
    match spoil:
        case "cut":
            del data[len(data) // 2 :]
        case "crc":
            data[-6] ^= 0xFF
        case "body":
            data[len(data) // 2] ^= 0xFF
    with pytest.raises(ToolError, match="cannot be unpacked|no JSON"):
        list(read_events(io.BytesIO(bytes(data)), "t"))
