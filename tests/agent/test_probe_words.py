import re
from pathlib import Path

import pytest

import ppagent.causes
from ppagent.agent.board import Board
from ppagent.agent.probe_words import LOOKS, how_to_see, look_of
from ppagent.agent.summary import summary_of
from ppagent.causes.cause import Probe
from ppagent.changes.proposal import Plan
from ppagent.evidence.facts import Facts

CAUSES = Path(ppagent.causes.__file__).parent


def test_every_tool_that_a_cause_would_ask_has_words_and_a_command() -> None:
    named = {
        tool for file in CAUSES.glob("*.py") for tool in re.findall(r'Probe\(\s*"([a-z_]+\.[a-z_]+)"', file.read_text())
    }

    assert len(named) > 15
    assert named <= set(LOOKS)


@pytest.mark.parametrize("tool", sorted(LOOKS))
def test_words_name_no_tool_of_ours_and_a_command_fits_the_narrowest_column(tool: str) -> None:
    look = look_of(tool)

    assert tool not in look.at and tool not in look.run
    assert len(look.run) <= 76


@pytest.mark.parametrize(
    ("probe", "says"),
    [
        (Probe("logs.decode", "count them", 0), "to see: grep 'Decode batch' server.log"),
        (Probe("http.metrics", "busy share", 1), "to see: curl -s http://HOST:PORT/metrics"),
        (
            Probe("profile.trace", "who waits", 3),
            "to see: ppagent diagnose ssh://HOST --ceiling 3; disturbs the server for moments",
        ),
        (Probe("tune.try", "what it costs", 5), "to see: ppagent try ssh://HOST; restarts the server"),
        (Probe("theirs.own", "why", 2), "to see: ppagent tools"),
    ],
)
def test_what_would_tell_is_said_with_its_command_and_what_that_does_to_the_server(probe: Probe, says: str) -> None:
    assert how_to_see(probe) == says


def test_the_summary_of_too_little_evidence_names_the_command_and_no_tool() -> None:
    probe = Probe("logs.decode", "count #running-req on stage 0", 0)

    says = summary_of("not_enough_evidence", Board(()), Facts(()), Plan(), (probe,))

    assert says.endswith(
        "Look next at the log's decode lines: count #running-req on stage 0 (to see: grep 'Decode batch' server.log)."
    )
