"""CP004: structured output costs the speed."""

from ppagent.causes.cp004_grammar_overhead import CAUSE
from tests.causes.builders import facts_of, healthy_server, judged, seed_case


def test_a_drop_only_with_a_schema_supports_it() -> None:
    values = {"stated.sentences": ["Only with a JSON schema the speed drops from 60 to 2 tok/s"]}
    assert judged(CAUSE, values).state == "supported"


def test_requests_waiting_for_grammars_that_take_seconds_support_it() -> None:
    values = {"metrics.grammar_queue": 4.0, "metrics.grammar_seconds": 2.5}
    assert judged(CAUSE, values).state == "supported"


def test_the_other_backend_is_proposed() -> None:
    assert CAUSE.advise(facts_of({"metrics.grammar_queue": 4.0})).remedies[0].change.set == {
        "--grammar-backend": "llguidance"
    }
    outlines = facts_of({"args.grammar_backend": "outlines", "metrics.grammar_queue": 4.0})
    assert CAUSE.advise(outlines).remedies[0].change.set == {"--grammar-backend": "xgrammar"}


def test_schemas_in_use_alone_are_no_finding() -> None:
    judgement = judged(CAUSE, {"stated.sentences": ["Our clients use structured output for tool calls"]})
    assert judgement.state == "cannot_tell"
    assert judgement.probes[0].tool == "http.metrics"


def test_no_grammar_backend_refutes_it() -> None:
    assert judged(CAUSE, {"args.grammar_backend": "none"}).state == "refuted"


def test_an_empty_grammar_queue_refutes_it_where_nobody_speaks_of_schemas() -> None:
    assert judged(CAUSE, {"metrics.grammar_queue": 0.0}).state == "refuted"


def test_the_seed_case_and_a_healthy_server_do_not_support_it() -> None:
    for values in (seed_case(), healthy_server()):
        assert judged(CAUSE, values).state == "cannot_tell"
