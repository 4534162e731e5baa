import io
import re
from dataclasses import replace

import pytest

from ppagent.agent.investigation import Investigation
from ppagent.evidence.evidence import Evidence
from ppagent.report.document import document_of
from ppagent.report.lines import wrapped
from ppagent.report.terminal import print_report
from ppagent.report.text import as_text
from tests.agent.fakes import FakeCause
from tests.report.samples import COMMAND, diagnosed, undecided


def text(found: Investigation, width: int = 80) -> str:
    return as_text(document_of(found), width)


def test_the_first_line_says_which_server_this_is() -> None:
    assert text(diagnosed()).splitlines()[0] == "fake-pp8 · SGLang 0.5.11 · PP8 TP1 · 8x RTX PRO 6000"


def test_an_emulated_device_is_owned_up_to() -> None:
    assert "recorded from a real server; the device is emulated" in text(diagnosed())


def test_the_verdict_comes_before_everything_else() -> None:
    shown = text(diagnosed())

    assert "\nDIAGNOSED  Micro-batches unfilled (PP001): source.unfilled is True [E1].\n" in shown
    assert shown.index("DIAGNOSED") < shown.index("why PP001") < shown.index("TRY NOW") < shown.index("RULED OUT")


@pytest.mark.parametrize(("width", "holds"), [(20, 72), (80, 80), (200, 100)])
def test_every_line_holds_the_width_but_for_commands(width: int, holds: int) -> None:
    found = diagnosed()
    commands = {proposal.command for proposal in found.plan.proposals}

    long = {line.strip() for line in text(found, width).splitlines() if len(line) > holds}

    assert COMMAND in long
    assert long <= commands


def test_what_a_cure_would_give_is_told_and_what_each_cause_costs_is_drawn() -> None:
    shown = text(diagnosed())

    assert "PP001  micro-batches unfilled   0.99  +69 to +99 tok/s  E1" in shown
    assert re.search(r"\n  ceiling +200\.0 \|#{44}\|\n", shown)
    assert re.search(r"\n  micro-batches unfilled +-104\.4 \| +#+\|\n", shown)


def test_a_citation_is_never_torn_apart() -> None:
    lines = [line.text for line in wrapped("word " * 14 + "is [E1 E22 E333]", 80)]

    assert lines[1] == "[E1 E22 E333]"


def test_a_command_is_printed_in_one_piece() -> None:
    assert f"\n    {COMMAND}\n" in text(diagnosed())


def test_a_step_says_what_it_gives_risks_and_how_to_come_back() -> None:
    shown = text(diagnosed())

    assert "TRY NOW, live, reversible  (P1: PP001)" in shown
    assert "forecast: at C=8: 165-195 tok/s (now 95.6, ring)" in shown
    assert "risk:     above 8 requests a queue forms" in shown
    assert "back:     set it back to 256" in shown
    assert "    - --disable-cuda-graph\n    + --pp-max-micro-batch-size 1" in shown


def test_what_is_no_cure_ruled_out_or_undecided_is_said_with_its_evidence() -> None:
    shown = text(diagnosed())

    assert "NOT THE CURE  --pp-async-batch-depth: it adds slots and yours are empty [E1]" in shown
    assert "RULED OUT     KV001 KV pool exhausted: source.full is False [E1]" in shown
    assert "CANNOT TELL   PP007 return path exposed (0.20): source.exposed is not known" in shown
    assert "NO ANSWER     a profiler trace: no trace was recorded" in shown


def test_every_evidence_id_in_the_report_is_on_the_ledger() -> None:
    found = diagnosed()

    ids = set(re.findall(r"\bE\d+\b", text(found)))
    assert ids == {e.id for e in found.evidence}


def test_the_last_line_is_what_it_cost() -> None:
    assert re.search(r"\n  2 tool calls, all reads · \d+\.\d s · rules brain · session s1\n$", text(diagnosed()))


def test_without_evidence_the_report_says_what_to_look_at() -> None:
    shown = text(undecided())

    assert "NOT ENOUGH EVIDENCE  What is known does not decide" in shown
    assert "LOOK NEXT     fake.probe:" in shown


class FakeTerminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> FakeTerminal:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return FakeTerminal()


def uncoloured(shown: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", shown)


def test_a_terminal_shows_the_same_words_in_colour(terminal: FakeTerminal) -> None:
    found = diagnosed()

    print_report(document_of(found), terminal)

    assert "\x1b[" in terminal.getvalue()
    assert uncoloured(terminal.getvalue()) == text(found)


def test_text_of_the_server_cannot_become_markup_or_steer_the_terminal(terminal: FakeTerminal) -> None:
    hostile = "[bold red]owned[/] :skull: \x1b]0;title\x07\x1b[2J\u202eright"

    print_report(document_of(diagnosed(excerpt=hostile, **{"engine.version": hostile})), terminal)

    shown = uncoloured(terminal.getvalue())
    assert "[bold red]owned[/] :skull:" in shown
    assert not re.search(r"[\x00-\x09\x0b-\x1f\u202e]", shown)


def test_nothing_but_a_command_is_wider_than_a_terminal_of_forty_columns() -> None:
    lines = text(diagnosed(), 40).splitlines()
    commands = {line.strip() for proposal in diagnosed().plan.proposals for line in proposal.command.splitlines()}

    assert any(line.startswith("  PP001  micro-batches unfilled") for line in lines)
    assert [line for line in lines if len(line) > 40 and line.strip() not in commands] == []


def test_what_is_printed_fits_the_columns_that_are_told_even_into_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    out, found = io.StringIO(), diagnosed()
    print_report(document_of(found), out)
    assert out.getvalue() == text(found, 40)


def test_what_is_there_and_was_not_read_is_said_once() -> None:
    found = undecided()
    reason = "server.log of a: 3.0 MiB of NUL bytes were passed over"
    seen = [Evidence(f"E9{n}", "logs.decode", "server.log", {"tool.unread": [reason]}) for n in range(2)]
    shown = " ".join(text(replace(found, evidence=(*found.evidence, *seen)), 100).split())
    assert shown.count(f"not read: {reason}") == 1


def test_causes_that_one_thing_rules_out_stand_together() -> None:
    found = diagnosed()
    (refuted,) = found.board.in_state("refuted")
    twins = [
        replace(refuted, judgement=replace(refuted.judgement, cause=FakeCause(i, "source.full")))
        for i in ("KV003", "KV004")
    ]
    board = replace(found.board, hypotheses=(*found.board.hypotheses, *twins))
    assert "RULED OUT     KV001 KV003 KV004: source.full is False [E1]" in text(replace(found, board=board))


def test_causes_that_wait_for_one_and_the_same_thing_stand_together_with_their_range() -> None:
    found = diagnosed()
    (open_one,) = [h for h in found.board.hypotheses if h.cause_id == "PP007"]
    twin = replace(open_one.judgement, cause=FakeCause("PP009", "source.exposed"), confidence=0.35)
    board = replace(found.board, hypotheses=(*found.board.hypotheses, replace(open_one, judgement=twin)))
    shown = " ".join(text(replace(found, board=board)).split())
    assert "CANNOT TELL PP009 PP007 (0.20 to 0.35): source.exposed is not known" in shown
