"""A server's arguments out of what the server says and what was asked for."""

from ppagent.evidence.evidence import Evidence
from ppagent.evidence.facts import Facts


def test_an_answer_that_is_no_number_does_not_hide_the_number_that_was_asked_for() -> None:
    facts = Facts(
        [
            Evidence("E1", "server.launch", "launch.txt", {"launch.pp_size": 4, "launch.tp_size": 2}),
            Evidence("E2", "http.info", "server_info.json", {"args.pp_size": "x", "args.tp_size": 8}, authority=3),
        ]
    )
    assert facts.arg_number("pp_size") == 4
    assert facts.arg_number("tp_size") == 8
    assert facts.arg_number("dp_size") is None
