import pytest

from ppagent.causes.cause import Observation
from ppagent.evidence.counts import agreeing


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("1 requests in flight at the most, 8 stages", "1 request in flight at the most, 8 stages"),
        ("1 requests wait on average", "1 request waits on average"),
        ("1 lines say that requests were retracted", "1 line says that requests were retracted"),
        ("1 requests were retracted, says the counter", "1 request was retracted, says the counter"),
        ("1 requests in flight are fewer than 8 stages", "1 request in flight is fewer than 8 stages"),
        ("settled (1 generations of requests, 3 s)", "settled (1 generation of requests, 3 s)"),
        ("own load: 1 requests at a time", "own load: 1 request at a time"),
        ("about 1 slots of 8", "about 1 slot of 8"),
        ("its time to first token, 3.734e+04 ms, is high", "its time to first token, 37340 ms, is high"),
        ("1e+05 tokens at 1.2e+06 of them", "100000 tokens at 1200000 of them"),
        ("one slot carries 3, 1 nodes carry 2", "one slot carries 3, 1 node carries 2"),
    ],
)
def test_one_of_a_thing_is_said_in_the_singular(text: str, reads: str) -> None:
    assert agreeing(text) == reads


@pytest.mark.parametrize(
    "text",
    [
        "11 requests wait",
        "0.1 requests",
        "2.1 slots",
        "PP1 stages",
        "0-1 levels",
        "1 of 8 slots",
        "x/1 users",
        "v1.2e+05",
        "0xe+05",
    ],
)
def test_any_other_figure_keeps_its_plural(text: str) -> None:
    assert agreeing(text) == text


def test_an_observation_agrees_with_its_figure() -> None:
    assert Observation("1 requests in flight", ("E1",), 0.9, 0.1).says == "1 request in flight"
