from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.sglang.flags.fingerprint import versions_with
from ppagent.sglang.flags.history import catalogue_of, versions_known
from ppagent.sglang.logs.server_args import parse_server_args

INCIDENTS = Path(__file__).parents[2] / "evals" / "incidents"
LOGS = {
    "lab-spread-pp4-0510": ("0.5.10", "0.5.10.post1"),
    "lab-clumped-pp8": ("0.5.23",),
}
"""Recordings of real servers, and the versions with their settings: the one they were made by, and those that differ
from it in no setting."""


def settings_in(log: Path) -> set[str]:
    text = log.read_text(encoding="utf-8")
    line = text[text.index("server_args=") :].partition("\n")[0]
    args = parse_server_args(line)
    assert args is not None and args.complete
    return set(args.values)


def settings_of(version: str) -> set[str]:
    return {flag.dest for flag in catalogue_of(version).flags if not flag.deprecated} - {"config", "help"}


@pytest.mark.parametrize(("incident", "versions"), LOGS.items())
def test_a_real_log_tells_its_version_by_the_settings_it_names(incident: str, versions: tuple[str, ...]) -> None:
    assert versions_with(settings_in(INCIDENTS / incident / "hosts" / "box" / "server.log")) == versions


@given(st.sampled_from(versions_known()))
def test_every_published_version_is_told_by_its_settings_apart_from_all_with_other_ones(version: str) -> None:
    found = versions_with(settings_of(version))
    assert version in found
    assert all(settings_of(each) <= settings_of(version) for each in found)


@given(st.data(), st.sampled_from(("0.5.9", "0.5.12", "0.5.23")))
def test_settings_that_are_not_all_there_tell_nothing(data: st.DataObject, version: str) -> None:
    missing = data.draw(st.sampled_from(sorted(settings_of(version) - {"custom_sigquit_handler"})))
    assert version not in versions_with(settings_of(version) - {missing})


def test_a_build_between_two_releases_is_neither_of_them() -> None:
    new = settings_of("0.5.12") - settings_of("0.5.11")
    assert versions_with(settings_of("0.5.11") | {min(new)}) == ()


def test_names_that_were_never_a_flag_do_not_count() -> None:
    assert versions_with(settings_of("0.5.9") | {"_own_patch", "engine_secret"}) == ("0.5.9",)


def test_a_few_settings_tell_nothing() -> None:
    assert versions_with({"model_path", "pp_size"}) == ()
    assert versions_with(()) == ()
