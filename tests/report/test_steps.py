from dataclasses import replace

from ppagent.causes.cause import Change
from ppagent.changes.proposal import Proposal
from ppagent.report.lines import raw
from ppagent.report.steps import steps_of


def proposal(number: int, *risks: str, command: str = "run it", kind: str = "relaunch") -> Proposal:
    return Proposal(f"P{number}", ("PP001",), kind, "Do it", Change(), ("E1",), command=command, risks=risks)  # type: ignore[arg-type]


def test_what_an_earlier_step_told_is_pointed_to_and_not_told_again() -> None:
    first, second = steps_of([proposal(1, "a queue forms"), proposal(2, "a queue forms", "memory grows")])

    assert first.notes == (("risk", "a queue forms"),)
    assert second.notes == (("risk", "memory grows"), ("as P1", "the same risk"))


def test_a_deed_that_only_a_person_can_do_is_not_shown_as_a_command() -> None:
    assert steps_of([proposal(1, command="Do it", kind="operator")])[0].command == ""
    assert steps_of([proposal(1, command="nvidia-smi -r", kind="operator")])[0].command == "nvidia-smi -r"


def test_a_command_whose_indentation_counts_is_not_moved() -> None:
    manifest = "args:\n  - --pp-size"
    here = "cat <<EOF\nx\nEOF"

    assert [line.text for line in raw(manifest, "    ")] == manifest.split("\n")
    assert [line.text for line in raw(here, "    ")] == here.split("\n")
    assert [line.text for line in raw("one\ntwo", "    ")] == ["    one", "    two"]


def test_a_heading_says_how_a_step_stands_to_those_before_it() -> None:
    kinds = ("live", "relaunch", "relaunch", "operator")

    steps = steps_of([proposal(n, kind=kind) for n, kind in enumerate(kinds, 1)])

    assert [step.heading for step in steps] == [
        "TRY NOW, live, reversible",
        "THEN, one restart",
        "OR IN ITS PLACE, one restart",
        "BY HAND",
    ]
    assert steps_of([proposal(1)])[0].heading == "DO THIS, one restart"


def test_a_step_without_a_forecast_says_why_and_never_points_to_another_for_it() -> None:
    bare = replace(proposal(1), unpredicted="no load level is known to start from")
    first, second = steps_of((bare, replace(bare, id="P2")))
    for step in (first, second):
        assert ("forecast", "none, since no load level is known to start from") in step.notes
