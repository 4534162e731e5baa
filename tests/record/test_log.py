"""A log is kept whole, or as its beginning and its end with the cut told in words and not in the log."""

from hypothesis import given
from hypothesis import strategies as st

from ppagent.record.log import HEAD, TAIL, recorded_log
from ppagent.targets.remote.log_stream import HEAD_BYTES, REMARK, TAIL_BYTES

LINE = st.binary(max_size=30).map(lambda data: data.replace(b"\n", b"") + b"\n")
LINES = st.lists(LINE.filter(lambda line: not line.startswith(REMARK)), max_size=40)


@given(LINES)
def test_a_short_log_is_kept_byte_for_byte(lines: list[bytes]) -> None:
    found = recorded_log(lines)
    assert found.text.encode("utf-8", errors="surrogateescape") == b"".join(lines)
    assert found.cuts == ()


@given(LINES, st.integers(0, 100), st.integers(1, 100))
def test_a_long_log_keeps_whole_lines_of_its_beginning_and_its_end(lines: list[bytes], head: int, tail: int) -> None:
    found = recorded_log(lines, head=head, tail=tail)
    kept = found.text.encode("utf-8", errors="surrogateescape")
    whole = b"".join(lines)
    assert (kept == whole) == (found.cuts == ())
    assert any(kept == b"".join(lines[:n] + lines[m:]) for n in range(len(lines) + 1) for m in range(n, len(lines) + 1))
    assert len(kept) <= head + max(tail, max(map(len, lines), default=0))


def test_the_cut_is_said_with_its_size_and_place() -> None:
    found = recorded_log([b"a" * (1 << 20) + b"\n"] * 4, head=2 << 20, tail=2 << 20)
    assert found.text.count("\n") == 2
    assert found.cuts == ("2.0 MiB of the log were left out after line 1",)


def test_what_a_live_target_says_of_the_log_is_no_line_of_it() -> None:
    lines = [b"[ppagent] 1.5 MiB of the log were left out before the last launch\n", b"one\n", b"two\n",
             b"[ppagent] 7.0 MiB of the log were left out here\n", b"three\n"]  # fmt: skip
    found = recorded_log(lines)
    assert found.text == "one\ntwo\nthree\n"
    assert found.cuts == (
        "1.5 MiB of the log were left out before the last launch", "7.0 MiB of the log were left out after line 2",
    )  # fmt: skip


def test_what_a_live_target_sends_is_never_cut_again() -> None:
    assert HEAD + TAIL > HEAD_BYTES + TAIL_BYTES
    assert HEAD >= HEAD_BYTES
