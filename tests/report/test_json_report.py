import json
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ppagent.evidence.evidence import FactValue, Missing
from ppagent.report.json_report import as_json
from tests.report.samples import COMMAND, diagnosed, undecided


def document(**facts: FactValue) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(as_json(diagnosed(**facts)))
    return read


def test_the_document_has_the_agreed_names_and_no_others() -> None:
    assert list(document()) == [
        "schema_version",
        "session",
        "target",
        "brain",
        "verdict",
        "summary",
        "hypotheses",
        "evidence",
        "proposals",
        "waterfall",
        "next_probes",
        "denied",
        "missing",
        "cost",
    ]


def test_a_supported_cause_names_its_evidence_and_the_evidence_is_there() -> None:
    read = document()
    first = read["hypotheses"][0]

    assert first["cause"] == "PP001" and first["state"] == "supported" and first["id"] == "H1"
    assert first["because"] == [{"evidence": "E1", "says": "source.unfilled is True"}]
    assert read["evidence"][0]["id"] == "E1"
    assert read["evidence"][0]["excerpt"] == "Decode batch, #running-req: 3"
    assert set(read["evidence"][0]) == {"id", "tool", "artifact", "host", "at", "facts", "excerpt"}


def test_a_proposal_is_whole() -> None:
    live, relaunch = document()["proposals"]

    assert live["predicted"] == {
        "metric": "output_throughput",
        "at": {"max_concurrency": 8},
        "baseline": 95.6,
        "low": 165,
        "high": 195,
    }
    assert relaunch["change"] == {
        "set": {"--pp-max-micro-batch-size": "1"},
        "unset": ["--disable-cuda-graph"],
        "env": {"A": "b"},
    }
    assert relaunch["command"] == COMMAND
    assert relaunch["predicted"] is None


def test_a_tool_that_had_no_answer_is_listed_with_the_reason() -> None:
    found = replace(undecided(), missing=(Missing("gpu.samples", "gpus.csv was not recorded"),))

    assert json.loads(as_json(found))["missing"] == [{"tool": "gpu.samples", "why": "gpus.csv was not recorded"}]


def test_the_way_from_the_ceiling_to_what_was_observed_is_told() -> None:
    rows = document()["waterfall"]

    assert [row["step"] for row in rows] == ["limit", "PP001", "unexplained", "observed"]
    assert rows[0] == {"step": "limit", "value": 200, "unit": "tok/s"}


def test_the_cost_and_the_probes_are_told() -> None:
    read = document()

    assert read["cost"]["tool_calls"] == {"0": 2} and read["cost"]["steps"] == 2
    assert read["next_probes"] == [{"tool": "profile.trace", "why": "source.exposed is not known", "grade": 3}]


def test_where_nothing_is_known_the_document_is_still_whole() -> None:
    read = json.loads(as_json(undecided()))

    assert read["verdict"] == "not_enough_evidence"
    assert read["evidence"] == [] and read["proposals"] == []


texts = st.text(st.characters(exclude_categories=()))


@given(st.dictionaries(texts, st.one_of(texts, st.floats(), st.lists(st.floats()))))
def test_whatever_a_fact_holds_the_document_is_json_in_utf8(value: dict[str, Any]) -> None:
    text = as_json(diagnosed(**{"source.hits": value}))

    assert json.loads(text.encode(), parse_constant=lambda name: 1 / 0)["evidence"][0]["id"] == "E1"
