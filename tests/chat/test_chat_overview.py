"""The head of a session: what a decode line's requests are requests of."""

import pytest

from ppagent.chat.answers.overview import load_now
from ppagent.evidence.evidence import FactValue
from tests.causes.builders import facts_of

SEEN: dict[str, FactValue] = {"decode.running_req.min": 11, "decode.running_req.max": 46}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"log.tags": ["TP"]}, "11-46 requests running"),
        ({"launch.command": "sglang serve m", "launch.tp_size": 2}, "11-46 requests running"),
        ({"log.tags": ["PP"]}, "11-46 requests in a micro-batch"),
        ({"launch.command": "sglang serve m", "launch.pp_size": 4}, "11-46 requests in a micro-batch"),
    ],
)
def test_only_a_pipelines_decode_lines_count_one_micro_batch(more: dict[str, FactValue], words: str) -> None:
    assert load_now(facts_of({**SEEN, **more})).startswith(words)
