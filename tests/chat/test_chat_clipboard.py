import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.chat.clipboard import LARGEST_BYTES, osc52


def put(sequence: str) -> str:
    """What the first OSC 52 in a sequence puts on the clipboard."""
    start = sequence.index("]52;c;") + 6
    return base64.b64decode(sequence[start : sequence.index("\x07", start)]).decode()


@given(st.text(max_size=300).filter(lambda text: max(text, default="") < "\ud800" or max(text, default="") > "\udfff"))
def test_whatever_is_copied_arrives_whole(text: str) -> None:
    assert put(osc52(text, {})) == text


def test_outside_a_multiplexer_it_is_one_plain_sequence() -> None:
    assert osc52("a b", {}) == "\x1b]52;c;YSBi\x07"


def test_inside_tmux_it_comes_plain_and_passed_through() -> None:
    sequence = osc52("a b", {"TMUX": "/tmp/tmux-0/default,1,0"})

    assert sequence == "\x1b]52;c;YSBi\x07" + "\x1bPtmux;\x1b\x1b]52;c;YSBi\x07\x1b\\"


def test_inside_screen_it_is_cut_into_pieces_that_screen_takes() -> None:
    sequence = osc52("x" * 2000, {"STY": "1.pts"})

    pieces = sequence.split("\x1b\\")[:-1]
    assert all(piece.startswith("\x1bP") and len(piece) < 768 for piece in pieces)
    assert put("".join(piece.removeprefix("\x1bP") for piece in pieces)) == "x" * 2000


@pytest.mark.parametrize(("size", "fits"), [(LARGEST_BYTES, True), (LARGEST_BYTES + 1, False)])
def test_what_is_too_long_for_a_terminal_is_not_sent_at_all(size: int, fits: bool) -> None:
    assert bool(osc52("x" * size, {})) is fits
