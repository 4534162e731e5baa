"""A live host without a server, and things that could not be read."""

from dataclasses import replace

from ppagent.agent.investigation import Investigation
from ppagent.evidence.evidence import Missing
from ppagent.report.document import document_of
from ppagent.report.text import as_text
from tests.report.samples import undecided


def words(found: Investigation) -> str:
    return " ".join(as_text(document_of(found), 80).split())


def test_what_could_not_be_read_for_one_reason_is_told_together() -> None:
    why = "the log of box cannot be read"
    missing = (Missing("logs.decode", why), Missing("host.kernel", "it may not be read"), Missing("logs.trouble", why))
    assert words(replace(undecided(), missing=missing)).count(why) == 1


def test_where_no_server_runs_the_next_command_waits_for_one() -> None:
    gone = "No process of an SGLang server can be seen on box."
    shown = words(replace(undecided(), summary=gone, target_kind="live", target_name="box"))
    assert "RUN NEXT ppagent diagnose ssh://box once the server runs again and has its usual load" in shown
