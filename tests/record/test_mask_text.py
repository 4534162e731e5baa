"""Text keeps its bytes and loses its secrets; program text stays a program; a long log is masked quickly."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.record.mask_text import masked_code, masked_log, masked_text
from tests.fixtures.growth import least_s

DECODE = (
    "[2026-11-29 20:54:14 PP0] Decode batch, #running-req: 4, #token: 25, token usage: 0.00, cuda graph: False, "
    "gen throughput (token/s): 18.46, #queue-req: 0\n"
)
ACCESS = '[2026-11-29 20:54:14] INFO:     10.0.0.1:4711 - "POST /generate HTTP/1.1" 200 OK\n'


def test_a_log_without_secrets_stays_byte_for_byte() -> None:
    text = f"{DECODE}{ACCESS}\udcff broken bytes\r\n\x1b[31mred\x1b[0m\n{DECODE}no end"
    assert masked_log(text) == text


def test_a_key_in_the_arguments_line_goes_and_the_line_stays() -> None:
    text = f"{DECODE}[2026-11-29 20:00:00] server_args=ServerArgs(model_path='m', api_key='abc', tp_size=1)\n{DECODE}"
    assert masked_log(text) == text.replace("'abc'", "'[masked]'")


def test_a_secret_that_colours_split_goes_with_its_colours() -> None:
    assert masked_text("a\nkey is \x1b[1msk-abcdef\x1b[0mghijklmnopqrst\nz\n") == "a\nkey is [masked]\nz\n"


def test_a_private_key_goes_even_where_batch_lines_come_between() -> None:
    text = f"-----BEGIN RSA PRIVATE KEY-----\nMIIEabc\n{DECODE}MIIEdef\n-----END RSA PRIVATE KEY-----\nafter\n"
    assert masked_log(text) == "[masked]\nafter\n"


@pytest.mark.parametrize("line", [DECODE, DECODE.replace("Decode", "Prefill"), ACCESS])
def test_the_usual_lines_of_a_log_stay_as_they_are(line: str) -> None:
    assert masked_log(line * 1_000) == line * 1_000


@pytest.mark.bench
@pytest.mark.parametrize("line", [DECODE, DECODE.replace("Decode", "Prefill"), ACCESS])
def test_the_usual_lines_of_a_log_cost_a_small_part_of_other_text(line: str) -> None:
    """Most lines of a log are of these kinds, and no secret stands in them."""
    other = "x" * (len(line) - 1) + "\n"
    assert least_s(masked_log, line * 10_000) < least_s(masked_log, other * 10_000) / 2


@pytest.mark.parametrize(
    "line",
    [
        DECODE.replace("#queue-req: 0", "note: sk-abcdefghijklmnopqrst"),
        ACCESS.replace("/generate", "/generate?api_key=abcdefgh123"),
        ACCESS.replace("10.0.0.1:4711", "hf_abcdefghijklmnopqrstuvwxyz"),
    ],
)
def test_a_line_that_only_looks_usual_is_masked_like_any_other(line: str) -> None:
    assert "[masked]" in masked_log(DECODE + line)


@given(st.lists(st.sampled_from([DECODE, ACCESS, "x api_key=abc123 y\n", "token: abc\n", "  - hf_token\n", "{\n"])))
def test_masking_a_log_twice_changes_nothing(lines: list[str]) -> None:
    once = masked_log("".join(lines))
    assert masked_log(once) == once
    assert "abc123" not in once


CODE = """class ServerArgs:
    api_key: A[
        Optional[str], "Set --ssl-keyfile-password to none"
    ] = None
    req_to_token = pool.req_to_token
    HF_TOKEN = "abcDEF123456789"
    url = "https://me:pw123@host/x"
"""


def test_program_text_stays_a_program_and_loses_its_literal_keys() -> None:
    masked = masked_code(CODE)
    assert masked == CODE.replace("abcDEF123456789", "[masked]").replace("me:pw123", "[masked]")
    ast.parse(masked)
