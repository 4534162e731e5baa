from pathlib import Path

from ppagent.changes.untold import why_untold
from ppagent.cli.predict_facts import found_facts, server_in
from ppagent.model.whatif import Settings, what_if

SEED = Path(__file__).parents[2] / "evals" / "incidents" / "kimi-k26-pp8"


def test_a_forecast_that_does_not_tell_says_why_and_what_would() -> None:
    server = server_in(found_facts(str(SEED)))
    then = Settings(slot_limit=4, graph=server.now.graph, split=server.now.split)

    says = why_untold(what_if(server, then, 8), server)

    assert "reaches from below to above the 95.6 tok/s of now, because 1 to 3.3 slots may be filled now" in says
    assert "What would tell: #running-req on stage 0's decode lines" in says


def test_a_forecast_that_tells_says_nothing_of_it() -> None:
    server = server_in(found_facts(str(SEED)))
    then = Settings(slot_limit=1, graph=server.now.graph, split=server.now.split)

    assert why_untold(what_if(server, then, 8), server) == ""
