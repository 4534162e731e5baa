"""What stands in front of a message."""

import json
from datetime import datetime
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.sglang.logs.prefix import NO_RANKS, Ranks, parse_line, parse_ranks, unwrap

INNER = "[2026-11-29 17:51:53 PP7] Load weight begin. avail mem=18.40 GB"


def test_a_line_gives_time_ranks_and_message() -> None:
    line = parse_line(INNER)
    assert line.at == datetime(2026, 11, 29, 17, 51, 53)
    assert line.ranks == Ranks(pp=7)
    assert line.message == "Load weight begin. avail mem=18.40 GB"
    assert line.raw == INNER


def test_milliseconds_of_sglang_log_ms_are_kept() -> None:
    line = parse_line("[2026-11-29 17:51:53.042 DP1 PP0 TP2] x")
    assert line.at == datetime(2026, 11, 29, 17, 51, 53, 42000)
    assert line.ranks == Ranks(dp=1, pp=0, tp=2)


@pytest.mark.parametrize("order", list(permutations(["DP3", "PP1", "TP5", "EP2"])))
def test_tags_mean_the_same_in_every_order(order: tuple[str, ...]) -> None:
    assert parse_ranks(" " + " ".join(order)) == Ranks(dp=3, pp=1, tp=5, ep=2)


def test_context_and_moe_tags_of_0_5_9_are_read_and_unknown_tags_ignored() -> None:
    line = parse_line("[2026-01-01 00:00:00 DP0 PP12 ATTN_CP1 MOE_DP2 TP3 EP4 NEW9] m")
    assert line.ranks == Ranks(dp=0, pp=12, attn_cp=1, moe_dp=2, tp=3, ep=4)
    assert str(Ranks(dp=0, pp=12)) == "DP0 PP12"


def test_the_launcher_has_no_ranks() -> None:
    line = parse_line("[2026-01-01 00:00:00] The server is fired up and ready to roll!")
    assert line.ranks == NO_RANKS
    assert not line.ranks.tagged
    assert line.at is not None


@pytest.mark.parametrize(
    "text", ['  File "a.py", line 3, in f', "[rank0]: Traceback", "", "[not a time] x", "[2026-13-99 99:99:99] x"]
)
def test_free_text_is_all_message_without_a_time(text: str) -> None:
    line = parse_line(text)
    assert (line.at, line.ranks, line.message) == (None, NO_RANKS, text)


@pytest.mark.parametrize(
    "prefix",
    [
        "(SGLangScheduler pid=4711) ",
        "(SchedulerActor(tp=0) pid=4711, ip=10.0.0.3) ",
        "sglang-1  | ",
        "Nov 29 18:44:15 gpu-box sglang[4711]: ",
        "2026-11-29T18:44:15+0000 gpu-box sglang[4711]: ",
        "2026-11-29T18:44:15.123456789Z stdout F ",
        "2026-11-29T18:44:15.123Z ",
        "[pod/sglang-0/server] ",
        "[pod/sglang-0/server] 2026-11-29T18:44:15.1Z stderr F ",
        "\x1b[32m",
    ],
)
def test_wrappers_of_the_carrier_are_taken_off(prefix: str) -> None:
    line = parse_line(prefix + INNER)
    assert line.ranks == Ranks(pp=7)
    assert line.message == "Load weight begin. avail mem=18.40 GB"
    assert line.raw == prefix + INNER


def test_docker_json_lines_are_opened() -> None:
    line = parse_line(json.dumps({"log": INNER + "\n", "stream": "stderr", "time": "2026-11-29T18:44:15Z"}))
    assert line.ranks == Ranks(pp=7)
    assert line.message.startswith("Load weight begin")


def test_a_carrier_that_cuts_long_lines_says_so() -> None:
    assert unwrap(b"2026-11-29T18:44:15.1Z stdout P [2026").partial
    assert unwrap(b'{"log":"[2026","stream":"stderr"}').partial
    assert not unwrap(b"2026-11-29T18:44:15.1Z stdout F [2026").partial


@pytest.mark.parametrize("text", ["| NVIDIA-SMI 580 |", "a table | of | things", '{"log":', '{"log": 3}'])
def test_what_only_looks_like_a_wrapper_does_no_harm(text: str) -> None:
    assert parse_line(text).at is None


@given(st.binary(max_size=300))
def test_any_bytes_give_a_line(data: bytes) -> None:
    line = parse_line(data)
    assert isinstance(line.message, str)
    assert line.raw == data.rstrip(b"\r\n").decode("utf-8", "replace")


@given(st.integers(0, 99), st.integers(0, 99), st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=60))
def test_tags_and_message_come_back_as_written(pp: int, tp: int, message: str) -> None:
    line = parse_line(f"[2026-01-02 03:04:05 PP{pp} TP{tp}] {message}")
    assert (line.ranks.pp, line.ranks.tp) == (pp, tp)
    assert line.message == message


@pytest.mark.parametrize(
    "lead",
    [
        "    ", "\t", "> ", ">> ", "server.log:", "server.log:12:", "12:", "sglang-0 server ", "2026-05-02 14:22:56\t",
        "May 02 14:22:56.123456 gpu-box sglang[1234]: ", "<13>1 2026-05-02T14:22:56.1Z box sglang 12 - - ", "* ",
        "sglang-1  | > ",
    ],
)  # fmt: skip
def test_whatever_stands_in_front_of_a_line_is_no_part_of_it(lead: str) -> None:
    line = parse_line(lead + INNER)
    assert (line.ranks, line.message) == (Ranks(pp=7), "Load weight begin. avail mem=18.40 GB")


@pytest.mark.parametrize("user", ["text='", '{"text": "', "obj=GenerateReqInput(text=[", "Receive: {'text': "])
def test_a_line_that_a_user_quotes_stays_the_users(user: str) -> None:
    assert parse_line(user + INNER).at is None
    own = parse_line(f"[2026-01-01 00:00:00] {user}{INNER}")
    assert own.ranks == NO_RANKS and own.message.startswith(user)
