"""What the user said: figures seen, not figures hoped for."""

import pytest

from ppagent.causes.said import said, stated_rates
from tests.causes.builders import facts_of


@pytest.mark.parametrize(
    ("sentence", "rates"),
    [
        ("I get 24.7 tok/s at one user", [24.7]),
        ("it does 1,024 tokens per second", [1024.0]),
        ("3141 output tok/s and 95 t/s before", [3141.0, 95.0]),
        ("about 60 tokens/sec", [60.0]),
        ("I expected 200 tok/s", []),
        ("others report 130 tok/s", []),
        ("it takes 5 tokens and 3 seconds", []),
    ],
)
def test_rates_are_read_from_a_sentence(sentence: str, rates: list[float]) -> None:
    assert [known.value for known in stated_rates(facts_of({"stated.sentences": [sentence]}))] == rates


def test_one_sentence_of_a_question_may_hope_and_the_next_one_report() -> None:
    facts = facts_of({"stated.question": "I hoped for 20 tok/s. Why do I get 11 tok/s?"})
    assert [known.value for known in stated_rates(facts)] == [11.0]


def test_stated_levels_count_before_words() -> None:
    rows = [{"concurrency": 1, "output_throughput": 25.0}, {"concurrency": 8}]
    facts = facts_of({"stated.levels": rows, "stated.sentences": ["99 tok/s"]})
    assert [known.value for known in stated_rates(facts)] == [25.0]


def test_a_sentence_is_quoted_with_the_evidence_it_stands_on() -> None:
    known = said(facts_of({"stated.question": "Why is it slow? GPUs jitter."}), r"jitter")
    assert known is not None
    assert known.says == 'the user says "GPUs jitter"'
    assert known.cites == ("stated",)
    assert said(facts_of({}), "jitter") is None
