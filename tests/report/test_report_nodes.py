"""A report says of which nodes it is, and of which it is not."""

from dataclasses import replace

from ppagent.agent.investigation import Investigation
from ppagent.evidence.evidence import Evidence, FactValue
from ppagent.report.document import document_of
from ppagent.report.html import as_html
from ppagent.report.json_report import as_json
from ppagent.report.markdown import as_markdown
from ppagent.report.nodes import nodes_told
from ppagent.report.text import as_text
from tests.report.samples import diagnosed


def launched(host: str, rank: int, **asked: FactValue) -> Evidence:
    told = {"launch.command": "sglang serve m", "launch.nnodes": 2, "launch.pp_size": 4, "launch.node_rank": rank}
    facts = {**told, **{f"launch.{name}": value for name, value in asked.items()}}
    return Evidence(f"E{host}", "server.launch", "launch.txt", facts, host=host)  # type: ignore[arg-type]


def found(kind: str, name: str, *evidence: Evidence, words: str = "") -> Investigation:
    named = words or (name if kind == "ssh" else "")
    return replace(diagnosed(), target_kind=kind, target_name=name, target_words=named, evidence=evidence)


def test_hosts_are_told_with_the_stages_that_they_hold() -> None:
    told = nodes_told(found("ssh", "a,b", launched("a", 0), launched("b", 1)))
    assert told == "a is node 0 of 2 (stages 0-1), b is node 1 of 2 (stages 2-3)"


def test_a_node_that_was_not_named_is_missing_and_the_report_says_how_to_name_it() -> None:
    assert nodes_told(found("ssh", "a", launched("a", 0))) == (
        "a is node 0 of 2 (stages 0-1); node 1 of 2 (stages 2-3): its log, metrics and cards are not in this report; "
        "name every host: ppagent diagnose a,HOST"
    )


def test_the_command_names_the_hosts_as_the_user_did() -> None:
    told = nodes_told(found("ssh", "box", launched("box", 0), words="ssh://me@box:2222 --port 30001"))
    assert told.endswith("name every host: ppagent diagnose ssh://me@box:2222,HOST --port 30001")


def test_without_the_first_node_nothing_answers_for_the_server() -> None:
    told = nodes_told(found("ssh", "b", launched("b", 1)))
    assert "and neither are the server's settings and load, for which node 0 alone answers" in told
    assert told.endswith("ppagent diagnose b,HOST")


def test_a_host_that_was_named_and_shows_no_server_is_why_a_node_is_missing() -> None:
    told = nodes_told(found("ssh", "a,b", launched("a", 0)))
    assert told.endswith("are not in this report, since nothing of a server could be read on b")


def test_a_recording_of_one_node_says_what_it_lacks_and_no_command() -> None:
    told = nodes_told(found("recording", "r", launched("a", 0)))
    assert "node 1 of 2 (stages 2-3)" in told and "ppagent" not in told


def test_two_servers_that_are_no_nodes_of_each_other_are_told_apart() -> None:
    replicas = [launched(host, 0, nnodes=1) for host in ("a", "b")]
    assert nodes_told(found("ssh", "a,b", *replicas)) == "b: a deployment of its own, to be diagnosed by itself"
    pair = [launched("a", 0, nnodes=1, disaggregation_mode="prefill"), launched("b", 0, nnodes=1)]
    assert nodes_told(found("ssh", "a,b", *pair)) == ""


def test_it_stands_at_the_top_of_every_form_of_report() -> None:
    whole = document_of(found("ssh", "a,b", launched("a", 0), launched("b", 1)))
    assert "a is node 0 of 2 (stages 0-1)" in as_text(whole)
    assert "a is node 0 of 2 (stages 0-1)" in as_html(whole)
    assert "a is node 0 of 2 \\(stages" in as_markdown(whole) or "a is node 0 of 2 (stages" in as_markdown(whole)


def test_a_server_on_one_host_is_told_nothing_of_nodes() -> None:
    assert nodes_told(diagnosed()) == ""
    assert '"elsewhere": []' in as_json(diagnosed())


def test_of_many_missing_nodes_only_their_number_is_told() -> None:
    told = nodes_told(found("recording", "r", launched("a", 0, nnodes=16, pp_size=1, tp_size=16)))
    assert told.endswith("15 more nodes of 16: their logs, metrics and cards are not in this report")


def test_a_node_that_is_named_in_a_variable_is_not_told_to_be_the_first() -> None:
    assert nodes_told(found("recording", "r", launched("a", 0, node_rank="$RANK"))) == ""
