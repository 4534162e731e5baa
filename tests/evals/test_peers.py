"""Peers' findings, put into our words: wide classes count in the peer's favour, silence never as healthy."""

import json
from pathlib import Path

import pytest

from ppagent.causes.catalog import all_causes
from ppagent.errors import UserError
from ppagent_evals.peers import MEANS, Peer, peers_line, peers_of, read_peers, said, score_peer


def incident(folder: Path, name: str, answer: str) -> Path:
    place = folder / name
    place.mkdir()
    (place / "answer.yaml").write_text(f"schema_version: 1\n{answer}\n")
    return place


def doctor(cases: dict[str, tuple[str, ...]], silent: frozenset[str] = frozenset()) -> Peer:
    return Peer("vllm-doctor", "0.6.0", "2026-11-29", "scrapes", cases, silent)


def test_every_finding_stands_for_causes_of_the_list() -> None:
    known = {cause.id for cause in all_causes()}
    assert all(set(causes) <= known and causes for table in MEANS.values() for causes in table.values())


def test_of_a_wide_class_the_answers_cause_is_taken(tmp_path: Path) -> None:
    case = incident(tmp_path, "slots", "verdict: diagnosed\ncauses: [PP003]")
    document = said(doctor({"slots": ("queue_pressure",)}), case)
    assert [h["cause"] for h in document["hypotheses"]] == ["PP003"] and document["verdict"] == "diagnosed"
    assert score_peer(doctor({"slots": ("queue_pressure",)}), [case])[0].passed


def test_a_class_that_holds_nothing_of_the_answer_is_a_wrong_cause(tmp_path: Path) -> None:
    case = incident(tmp_path, "eager", "verdict: diagnosed\ncauses: [CG001]")
    [result] = score_peer(doctor({"eager": ("queue_pressure",)}), [case])
    assert result.score is not None and result.score.wrong_causes == ("KV002",) and not result.passed


@pytest.mark.parametrize(
    ("findings", "silent", "verdict"),
    [
        ((), False, "healthy"),
        ((), True, "not_enough_evidence"),
        (("tpot_bottleneck",), False, "not_enough_evidence"),
        (("low_throughput",), False, "healthy"),
        (("low_throughput", "kv_cache_pressure"), False, "diagnosed"),
    ],
)
def test_silence_is_healthy_only_where_something_was_read(
    tmp_path: Path, findings: tuple[str, ...], silent: bool, verdict: str
) -> None:
    case = incident(tmp_path, "a", "verdict: healthy")
    peer = doctor({"a": findings}, frozenset({"a"}) if silent else frozenset())
    assert said(peer, case)["verdict"] == verdict


def test_a_peer_is_scored_on_what_it_was_run_on_alone(tmp_path: Path) -> None:
    cases = [incident(tmp_path, name, "verdict: healthy") for name in ("a", "b")]
    assert [result.id for result in score_peer(doctor({"b": ()}), cases)] == ["b"]


def test_a_saved_run_is_read_and_a_foreign_file_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    assert read_peers(path) == ()
    case = {"id": "a", "findings": ["kv_bound"], "no_data": False}
    peer = {"name": "inferguard", "version": "0.7.4", "accepts": "logs", "cases": [case]}
    path.write_text(json.dumps({"date": "2026-11-29", "peers": [peer]}))
    assert read_peers(path)[0].cases == {"a": ("kv_bound",)}
    path.write_text("[]")
    with pytest.raises(UserError, match="no run of the peers"):
        read_peers(path)


def test_without_incidents_of_theirs_peers_have_no_row(tmp_path: Path) -> None:
    assert peers_of([incident(tmp_path, "of-nobody", "verdict: healthy")]) == {}


def test_the_line_on_the_peers_breaks_no_name() -> None:
    lines = peers_line().splitlines()
    assert len(lines) > 1 and not any(line.endswith("-") for line in lines)
