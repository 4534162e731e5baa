"""Abbreviations are judged by argparse itself, the one that runs these tests."""

import argparse
from typing import NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.sglang.flags.flag import HELP, Catalogue, Flag
from ppagent.sglang.flags.history import catalogue_of

parts = st.sampled_from(["pp", "tp", "p", "size", "max", "bs", "no", "h", "help"])
spellings = st.lists(parts, min_size=1, max_size=3).map(lambda words: "--" + "-".join(words))
names = st.lists(spellings, min_size=1, max_size=8, unique=True)


class Refused(Exception):
    pass


class Strict(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Refused(message)


def verdict(flags: list[tuple[str, ...]], written: str) -> str | None:
    """The field that argparse sets for `written`, "ambiguous", or None for an unknown option."""
    parser = Strict(exit_on_error=False)
    for place, group in enumerate(flags):
        parser.add_argument(*group, dest=f"field{place}", action="store_const", const="set", default="")
    try:
        found, _ = parser.parse_known_args([written])
    except Refused as refused:
        return "ambiguous" if "ambiguous" in str(refused) else str(refused)
    return next((name for name, value in vars(found).items() if value), None)


def catalogue(flags: list[tuple[str, ...]]) -> Catalogue:
    return Catalogue(
        "", tuple(Flag(group[0], f"field{n}", group[1:], action="store_true") for n, group in enumerate(flags))
    )


@given(names.filter(lambda found: "--help" not in found), st.integers(1, 3), st.data())
def test_abbreviations_mean_what_argparse_makes_of_them(found: list[str], width: int, data: st.DataObject) -> None:
    groups = [tuple(found[start : start + width]) for start in range(0, len(found), width)]
    whole = data.draw(st.sampled_from(found) | spellings)
    written = whole[: data.draw(st.integers(3, len(whole)))]
    match = catalogue(groups).match(written)
    if match.flag is HELP:
        assert "--help".startswith(written) and match.candidates == ("--help",)
        return
    expected = verdict(groups, written)
    assert ("ambiguous" if match.ambiguous else match.flag and match.flag.dest) == expected


@pytest.mark.parametrize(
    ("version", "written", "meant"),
    [
        ("0.4.10", "--pp", "--pp-size"),
        ("0.5.3", "--pp", "--pp-size"),
        ("0.5.3.post1", "--pp", None),
        ("0.5.10", "--pp", None),
        ("0.5.23", "--tp", "--tp-size"),
        ("0.5.19", "--cuda-graph-max-bs", "--cuda-graph-max-bs"),
        ("0.5.20", "--cuda-graph-max-bs", None),
        ("0.5.23", "--tp-size=4", "--tp-size"),
        ("0.5.23", "--tp=4", "--tp-size"),
        ("0.5.10", "--ep", "--ep"),
    ],
)
def test_the_known_traps_are_read_as_the_servers_read_them(version: str, written: str, meant: str | None) -> None:
    match = catalogue_of(version).match(written)
    assert (match.spelling, match.ambiguous) == (meant, meant is None)


def test_two_spellings_of_one_flag_are_ambiguous() -> None:
    match = catalogue([("--tensor-parallel-size", "--tensor-size")]).match("--tensor")
    assert match.ambiguous and match.candidates == ("--tensor-parallel-size", "--tensor-size")


def test_the_negative_form_of_a_switch_has_its_own_abbreviations() -> None:
    switch = Catalogue("", (Flag("--graph", "graph", ("--no-graph",), action="boolean_optional"),))
    assert switch.match("--no").spelling == "--no-graph"


@pytest.mark.parametrize("written", ["-tp", "--", "-", "", "tp", "-p=4"])
def test_what_is_no_long_option_matches_nothing(written: str) -> None:
    match = catalogue([("--tp-size",)]).match(written)
    assert (match.flag, match.candidates) == (None, ())


@pytest.mark.parametrize("written", ["-h", "--help", "--he", "-help"])
def test_help_is_in_every_parser(written: str) -> None:
    match = catalogue([("--host",)]).match(written)
    assert match.flag is HELP
