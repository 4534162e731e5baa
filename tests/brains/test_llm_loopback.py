"""The whole brain against an endpoint on this machine that speaks the wire as SGLang does."""

import json
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from ppagent.agent.investigation import Investigation, investigate
from ppagent.brains.llm.abilities import Abilities
from ppagent.brains.llm.brain import LlmBrain
from ppagent.brains.llm.client import OpenAiModel
from ppagent.changes.plan import make_plan
from ppagent.plugins import discover
from ppagent.targets.recording import Recording
from tests.brains.loopback import Behaviour, hangs_up_after, sends, serving
from tests.brains.wire_samples import chunk, piece, said, sse, usage

SEED = Path(__file__).parents[2] / "evals" / "incidents" / "kimi-k26-pp8"
FINISH = sse([chunk({"tool_calls": [piece(0, "z", "finish", "{}")]}), chunk({}, "tool_calls"), usage(900, 5)])


def look(*tools: str) -> bytes:
    arguments = json.dumps({"tools": tools, "why": "to see"})
    return sse([chunk({"tool_calls": [piece(0, "a", "look", arguments)]}), chunk({}, "tool_calls"), usage(800, 20)])


def diagnose(base_url: str, **options: Any) -> Investigation:
    model = OpenAiModel(base_url, "lab-model", "none", sleep=lambda _: None, **options)
    return investigate(Recording(SEED), discover(), brain=LlmBrain(model), planner=make_plan)


def supported(found: Investigation) -> set[str]:
    return {h.cause_id for h in found.board.supported}


def test_a_diagnosis_over_the_wire_is_the_models_questions_and_the_codes_board() -> None:
    behaviour = Behaviour([sends(look("logs.decode", "bench.results")), sends(FINISH)])

    with serving(behaviour) as url:
        found = diagnose(url)

    assert supported(found) == {"PP001", "CG001"}
    assert found.cost.tokens == 820 + 905
    assert found.contribution.notes == ()
    answers = [m["content"] for m in behaviour.requests[1]["messages"] if m["role"] == "tool"]
    assert "decode.running_req.p95 3" in answers[0] and 'from="bench.jsonl"' in answers[0]


def test_a_slow_answer_in_many_pieces_is_read_to_its_end() -> None:
    with serving(Behaviour([sends(look("logs.decode"), pause_s=0.005, pieces=20), sends(FINISH)])) as url:
        found = diagnose(url)

    assert found.cost.tokens == 820 + 905


def test_an_endpoint_that_hangs_is_given_up_and_the_rules_finish() -> None:
    with serving(Behaviour([sends(look("logs.decode"), pause_s=2.0)])) as url:
        found = diagnose(url, timeout_s=0.2)

    assert supported(found) == {"PP001", "CG001"}
    assert "did not answer in time, after 4 tries" in found.contribution.notes[0]


def test_an_endpoint_that_drips_for_ever_is_cut_off() -> None:
    endless = sse([chunk({"content": "."})] * 2000, done=False)

    with serving(Behaviour([sends(endless, pause_s=0.01, pieces=1000)])) as url:
        started = monotonic()
        found = diagnose(url, timeout_s=0.2)

    assert "did not answer in time, after 4 tries" in found.contribution.notes[0]
    assert monotonic() - started < 5
    assert supported(found) == {"PP001", "CG001"}


def test_an_answer_that_is_not_streamed_may_not_drip_for_ever_either() -> None:
    with serving(Behaviour([sends(b" " * 1000, pause_s=0.01, pieces=1000)])) as url:
        started = monotonic()
        found = diagnose(url, timeout_s=0.2, abilities=Abilities(stream=False))

    assert "did not answer in time, after 4 tries" in found.contribution.notes[0]
    assert monotonic() - started < 5


def test_a_connection_cut_in_mid_stream_is_tried_again() -> None:
    begun = sse([chunk({"tool_calls": [piece(0, "a", "look", '{"tools": ["lo')]})], done=False)

    with serving(Behaviour([hangs_up_after(begun), sends(look("logs.decode")), sends(FINISH)])) as url:
        found = diagnose(url)

    assert found.contribution.notes == ()
    assert found.cost.tokens == 820 + 905


@pytest.mark.parametrize(
    "arguments",
    ['{"tools": ["logs.decode"', "[]", '"logs.decode"', '{"tool": "logs.decode"}', '{"tools": "x"}', "null"],
)
def test_a_malformed_call_is_answered_with_the_reason_and_may_be_put_right(arguments: str) -> None:
    bad = sse([chunk({"tool_calls": [piece(0, "a", "look", arguments)]}), chunk({}, "tool_calls")])
    behaviour = Behaviour([sends(bad), sends(look("logs.decode")), sends(FINISH)])

    with serving(behaviour) as url:
        found = diagnose(url)

    answer = next(m["content"] for m in behaviour.requests[1]["messages"] if m["role"] == "tool")
    assert answer.startswith("Not done: ")
    assert found.contribution.notes == ()


def test_a_call_without_arguments_where_none_are_needed_is_taken() -> None:
    bare = sse([chunk({"tool_calls": [piece(0, "z", "finish")]}), chunk({}, "tool_calls")])

    with serving(Behaviour([sends(bare)])) as url:
        assert diagnose(url).contribution.notes == ()


def test_calls_as_fenced_json_in_the_text_are_carried_out() -> None:
    fenced = '```json\n{"tool": "look", "arguments": {"tools": ["logs.decode"], "why": "to see"}}\n```'
    behaviour = Behaviour([sends(said(fenced)), sends(FINISH)])

    with serving(behaviour) as url:
        diagnose(url)

    assert any("decode.lines" in m["content"] for m in behaviour.requests[1]["messages"] if m["role"] == "tool")


def test_a_model_that_only_talks_is_reminded_and_then_given_up() -> None:
    behaviour = Behaviour([sends(said("I think it is the GPU."))])

    with serving(behaviour) as url:
        found = diagnose(url)

    assert len(behaviour.requests) == 3
    assert "Call one of the functions" in behaviour.requests[1]["messages"][-1]["content"]
    assert found.contribution.notes == ("the model led nowhere for 3 turns, so the rules finished",)
    assert supported(found) == {"PP001", "CG001"}


def test_a_server_without_the_call_parser_is_asked_in_text() -> None:
    refusal = b'{"error": {"message": "tool_choice auto requires a tool-call-parser", "code": 400}}'
    behaviour = Behaviour([sends(refusal)], status=400)

    with serving(behaviour) as url:
        found = diagnose(url)

    assert "tools" in behaviour.requests[0] and "tools" not in behaviour.requests[1]
    assert "refused the request (400)" in found.contribution.notes[0]


def test_an_endpoint_that_is_not_there_leaves_the_diagnosis_to_the_rules() -> None:
    with serving(Behaviour([sends(FINISH)])) as url:
        pass

    found = diagnose(url)

    assert "cannot be reached" in found.contribution.notes[0]
    assert supported(found) == {"PP001", "CG001"}
    assert found.verdict == "diagnosed" and found.status == "finished"
