import json
import math

from hypothesis import given
from hypothesis import strategies as st

from ppagent.evidence.evidence import Finding, Missing
from ppagent.evidence.kept import DEEPEST, LARGEST_NUMBER, kept
from ppagent.evidence.ledger import EXCERPT_LIMIT, Ledger


def test_a_number_that_nothing_can_measure_is_unknown() -> None:
    odd = [math.nan, math.inf, -math.inf, 10**400, -(10**400), 1e300]
    assert kept([*odd, 0, -3, 2.5, True, None]) == [*[None] * len(odd), 0, -3, 2.5, True, None]


def test_text_cannot_steer_a_terminal_wherever_it_stands() -> None:
    assert kept({"a\u202eb": ["\x1b[31mred\x1b[0m\x07", {"c\x00": "d\n\te"}]}) == {"ab": ["red", {"c": "d\n\te"}]}


def test_what_lies_too_deep_is_unknown_and_no_recursion_without_end() -> None:
    value: object = 1
    for _ in range(300):
        value = [value]
    shown = json.dumps(kept(value))  # type: ignore[arg-type]
    assert shown == "[" * DEEPEST + "null" + "]" * DEEPEST


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists))
def test_whatever_is_kept_is_json_and_stays_as_it_is(value: object) -> None:
    once = kept(value)  # type: ignore[arg-type]
    json.dumps(once, allow_nan=False).encode()
    assert kept(once) == once


def test_the_largest_number_that_is_kept_is_kept_as_it_is() -> None:
    assert kept(LARGEST_NUMBER) == LARGEST_NUMBER and kept(4_294_967_295) == 4_294_967_295


def test_a_secret_split_by_colours_is_masked() -> None:
    evidence = Ledger().add("logs", Finding("server.log", {}, "api_key=\x1b[33m'hunter2hunter2'\x1b[0m, x=1"))
    assert "hunter2" not in evidence.excerpt
    evidence = Ledger().add("logs", Finding("server.log", {"args.x": "sk-abc\u200bdefghijkl\x1b[0mmnop"}))
    assert "defgh" not in str(evidence.facts) and "mnop" not in str(evidence.facts)


def test_an_excerpt_is_masked_before_it_is_cut() -> None:
    evidence = Ledger().add("logs", Finding("server.log", {}, "x" * (EXCERPT_LIMIT - 10) + " sk-" + "a1B2" * 9))
    assert "sk-a1" not in evidence.excerpt and len(evidence.excerpt) <= EXCERPT_LIMIT


def test_why_a_question_got_no_answer_is_masked_and_made_plain() -> None:
    ledger = Ledger()
    ledger.add_missing(Missing("host.environment", "line 1: 'MY_API_KEY=hunter2hunter2 \x1b[2J' is odd"))
    assert "hunter2" not in ledger.missing[0].why and "\x1b" not in ledger.missing[0].why
