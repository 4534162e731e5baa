"""What the lab's cases say, without starting a server."""

from pathlib import Path

import pytest

from ppagent.causes.catalog import all_causes
from ppagent.sglang.flags.history import catalogue_of
from ppagent.sglang.legality.renames import renamed
from ppagent_lab.cases import all_cases
from ppagent_lab.install import VERSIONS
from ppagent_lab.server import command, environment
from ppagent_lab.shapes import Case, Device

CASES = list(all_cases().values())
LAB = Path("/lab")


def test_there_are_at_least_twenty_cases_over_two_versions_and_three_depths() -> None:
    assert len(CASES) >= 20
    assert {case.version for case in CASES} == set(VERSIONS) == {"0.5.10", "0.5.23"}
    assert {case.pp for case in CASES} == {2, 4, 8}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_answer_names_known_causes_and_never_accepts_what_it_forbids(case: Case) -> None:
    answer = case.answer
    accepted = {*answer.causes, *answer.also_accepted}
    assert accepted | {*answer.must_not_support, *answer.ruled_out} <= {cause.id for cause in all_causes()}
    assert not accepted & set(answer.must_not_support)
    assert (answer.verdict == "diagnosed") <= bool(answer.causes)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_flag_of_a_fix_exists_in_the_version_that_is_recorded(case: Case) -> None:
    catalogue = catalogue_of(case.version)
    fixes = [flag for fix in case.answer.fixes for flag in fix.set]
    assert [flag for flag in fixes if renamed(flag, catalogue) is None] == []


def test_a_flag_of_the_case_takes_the_place_of_the_labs_own() -> None:
    words = command(all_cases()["lab-small-pool-pp2"], LAB, 30900)
    assert words.count("--max-total-tokens") == 1
    assert words[words.index("--max-total-tokens") + 1] == "1400"
    assert words[0] == "/lab/0.5.23/bin/python"


def test_the_device_gets_one_time_a_stage_and_the_server_nothing_of_the_callers_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SGLANG_API_KEY", "not-for-a-recording")
    case = all_cases()["lab-slow-stage-pp4"]
    given = environment(case, LAB, case.device)
    assert given["LAB_STAGE_MS"] == "40,40,110,40"
    assert given["SGLANG_CPU_OMP_THREADS_BIND"].count("|") == 3
    assert "SGLANG_API_KEY" not in given


def test_a_device_without_graphs_sets_no_replay_time() -> None:
    assert "LAB_REPLAY_MS" not in Device().environment()
    assert Device(replay_ms=(2, 3)).environment()["LAB_REPLAY_MS"] == "2,3"
