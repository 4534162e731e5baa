import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.chat.questions import meaning
from ppagent.chat.replies import REPLIES

SEED = "gpu util at 150/200 out of 600, makes no sense, seems like we're not properly pushing data into the pipeline?"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (SEED, "why"),
        ("why is it slow?", "why"),
        ("only 95 tok/s at C=8", "why"),
        ("what's wrong with it", "why"),
        ("is PP001 the cause?", "cause"),
        ("H3?", "cause"),
        ("is it the kv cache?", "cause"),
        ("could it be nccl", "cause"),
        ("why not the tokenizer?", "cause"),
        ("what should I change?", "change"),
        ("how do I fix this", "change"),
        ("what do you recommend?", "change"),
        ("what if I set --pp-max-micro-batch-size 2?", "what_if"),
        ("what if the limit is 2 at C=16?", "what_if"),
        ("would more slots help? --pp-async-batch-depth 2", "what_if"),
        ("what happens with 16 users?", "what_if"),
        ("what does --pp-async-batch-depth do?", "flag"),
        ("--attention-backend?", "flag"),
        ("would --enable-dp-attention help", "flag"),
        ("compare with before", "compare"),
        ("is it any better than last time?", "compare"),
        ("show me E7", "evidence"),
        ("yes", "yes"),
        ("no.", "no"),
        ("go on", "go_on"),
        ("hello", "greeting"),
        ("we have 16 users at a time", "told"),
        ("please write me a poem", "cannot"),
    ],
)
def test_the_words_people_use(text: str, kind: str) -> None:
    assert meaning(text, looked=True) == kind


@pytest.mark.parametrize("text", ["please help me with this server", "it misbehaves since monday"])
def test_before_anything_was_looked_at_most_words_are_a_reason_to_look(text: str) -> None:
    assert meaning(text, looked=False) == "why"


@given(st.text(max_size=200), st.booleans())
def test_whatever_is_said_there_is_an_answer_to_it(text: str, looked: bool) -> None:
    assert meaning(text, looked=looked) in REPLIES
