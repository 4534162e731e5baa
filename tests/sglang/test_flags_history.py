import json
from collections.abc import Sequence
from dataclasses import fields, replace
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.errors import UserError
from ppagent.sglang.flags import table
from ppagent.sglang.flags.chronicle import abbreviation, events
from ppagent.sglang.flags.differences import departures
from ppagent.sglang.flags.flag import Catalogue, Flag
from ppagent.sglang.flags.history import catalogue_of, spans, versions_known
from ppagent.sglang.flags.rows import difference, from_row, to_row
from ppagent.sglang.flags.wording import says_deprecated
from ppagent.sglang.versions import NEWEST_KNOWN, OLDEST_KNOWN

scalars = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.0, 1.0, "a", "1"])
values = scalars | st.lists(scalars, max_size=2)
flags = st.builds(
    Flag,
    name=st.sampled_from(["--a", "--b", "--c"]),
    dest=st.sampled_from(["a", "b"]),
    aliases=st.lists(st.sampled_from(["--x", "--y"]), max_size=2).map(tuple),
    default=values,
    choices=st.none() | st.lists(scalars, max_size=2).map(tuple),
    nargs=st.sampled_from([None, "+", "*", 0]),
    action=st.sampled_from(["store", "store_true", "deprecated"]),
    hidden=st.booleans(),
    deprecated=st.booleans(),
    replaced_by=st.none() | st.just("--new"),
    required=st.booleans(),
    stops_with=st.sampled_from(["", "no"]),
)
versions = st.lists(st.lists(flags, max_size=3, unique_by=lambda flag: flag.name), min_size=1, max_size=6)


def exactly(found: Sequence[Flag]) -> list[str]:
    """A form that tells 1, 1.0 and True apart."""
    return sorted(repr(flag) for flag in found)


@given(versions)
def test_a_table_gives_back_every_version(lists: list[list[Flag]]) -> None:
    catalogues = [Catalogue(f"0.{place}.0", tuple(found)) for place, found in enumerate(lists)]
    written = json.loads(json.dumps(table.encode(catalogues)))
    decoded = table.decode(written)
    for place, catalogue in enumerate(catalogues):
        assert exactly(decoded.flags_at(place)) == exactly(catalogue.flags)


@given(flags, flags)
def test_a_row_is_its_predecessor_with_the_difference_written_over(before: Flag, after: Flag) -> None:
    rows = to_row(before), to_row(after)
    assert repr(from_row({**rows[0], **json.loads(json.dumps(difference(*rows)))})) == repr(after)


def test_every_field_of_a_flag_is_kept_in_a_row() -> None:
    odd = Flag(
        "--a", "b", ("--c",), "int", [1], ("x",), "+", "append", 3, "help", "group", True, True, "--d", True, "no"
    )
    assert set(to_row(odd)) == {field.name for field in fields(Flag)}


def test_the_table_covers_the_versions_that_ppagent_knows() -> None:
    known = versions_known()
    assert (known[0], known[-1]) == (str(OLDEST_KNOWN), str(NEWEST_KNOWN))
    assert len(known) == 56


def test_the_table_stays_small() -> None:
    assert len(resources.files("ppagent.sglang.flags").joinpath("history.json").read_bytes()) < 400_000


@pytest.mark.parametrize(
    ("version", "count"),
    [
        ("0.4.7", 150),
        ("0.4.10", 180),
        ("0.5.5", 273),
        ("0.5.10", 354),
        ("0.5.14", 420),
        ("0.5.18", 488),
        ("0.5.20", 494),
        ("0.5.23", 531),
    ],
)
def test_published_versions_have_as_many_flags_as_their_own_parsers(version: str, count: int) -> None:
    catalogue = catalogue_of(version)
    assert (len(catalogue.flags), catalogue.version, catalogue.unread) == (count, version, ())


@pytest.mark.parametrize(
    ("written", "named"), [("v0.5.10", "0.5.10"), ("0.5.10+cu130", "0.5.10"), ("sglang 0.5.9", "0.5.9")]
)
def test_a_version_may_be_written_in_several_ways(written: str, named: str) -> None:
    assert (catalogue_of(written).version, catalogue_of(written).unread) == (named, ())


@pytest.mark.parametrize(
    ("written", "named", "said"),
    [
        ("0.5.10.post9", "0.5.10.post1", "is not a published version known here"),
        ("0.5.0", "0.4.10.post2", "is not a published version known here"),
        ("0.5.11rc1", "0.5.10.post1", "is not a published version known here"),
        ("0.9.0", "0.5.23", "is newer than 0.5.23"),
        ("0.5.24.dev12+gabc", "0.5.23", "is newer than 0.5.23"),
    ],
)
def test_an_unknown_version_is_answered_by_the_nearest_below_and_says_so(written: str, named: str, said: str) -> None:
    catalogue = catalogue_of(written)
    assert catalogue.version == named
    assert len(catalogue.unread) == 1 and said in catalogue.unread[0]


@pytest.mark.parametrize("written", ["0.4.6", "0.1.3", "newest", ""])
def test_versions_before_pipelines_and_no_versions_are_refused(written: str) -> None:
    with pytest.raises(UserError):
        catalogue_of(written)


def test_spans_follow_a_spelling_from_alias_to_primary_name() -> None:
    found = spans("--pp-size")
    assert [(s.since, s.until, s.flag.name) for s in found] == [
        ("0.4.7", "0.5.13.post1", "--pipeline-parallel-size"),
        ("0.5.14", "0.5.23", "--pp-size"),
    ]


def test_a_default_that_changed_begins_a_new_span() -> None:
    assert [(s.since, s.flag.default) for s in spans("--page-size")] == [("0.4.7", 1), ("0.4.9.post4", None)]


def test_a_spelling_that_nobody_had_has_no_history() -> None:
    assert spans("--nonsense") == () == events("--nonsense")


@pytest.mark.parametrize(
    ("flag", "since", "until"),
    [
        ("--max-micro-batch-size", "0.4.7", "0.5.3"),
        ("--pp-max-micro-batch-size", "0.5.3.post1", "0.5.23"),
        ("--pp-async-batch-depth", "0.5.7", "0.5.23"),
        ("--cuda-graph-max-bs", "0.4.7", "0.5.19"),
        ("--disaggregation-prefill-pp", "0.4.7.post1", "0.5.9"),
        ("--torchao-config", "0.4.7", "0.5.17"),
        ("--admin-api-key", "0.5.8", "0.5.23"),
    ],
)
def test_flags_are_there_from_and_to_the_versions_of_their_sources(flag: str, since: str, until: str) -> None:
    found = spans(flag)
    assert (found[0].since, found[-1].until) == (since, until)


def test_events_tell_renames_deprecations_and_ends() -> None:
    assert events("--max-micro-batch-size")[-1] == (
        "0.5.3.post1",
        "renamed to --pp-max-micro-batch-size; the old name is an error",
    )
    assert [version for version, _ in events("--cuda-graph-max-bs")] == ["0.4.7", "0.5.14", "0.5.20"]
    assert "deprecated; use --cuda-graph-max-bs-decode" in events("--cuda-graph-max-bs")[1][1]
    assert events("--pp-async-batch-depth")[0] == ("0.5.7", "added: int, default 0")


def test_an_abbreviation_is_told_over_the_versions() -> None:
    assert abbreviation("--pp") == (
        ("0.4.7", "0.5.3", "short for --pp-size"),
        ("0.5.3.post1", "0.5.23", "ambiguous, an error"),
    )
    assert abbreviation("--pp-size") == ()


def test_a_tree_as_published_departs_in_nothing() -> None:
    assert departures(catalogue_of("0.5.10")) == ()


def test_a_patched_tree_says_what_it_adds_lacks_and_changes() -> None:
    published = catalogue_of("0.5.10")
    kept = [replace(f, default=2) if f.name == "--pp-async-batch-depth" else f for f in published if f.name != "--host"]
    patched = replace(published, flags=(*kept, Flag("--mine", "mine")))
    assert departures(patched) == (
        "This tree is not the published 0.5.10: it adds --mine, lacks --host, declares differently "
        "--pp-async-batch-depth.",
    )


def test_a_tree_between_releases_is_compared_with_the_one_before_it_and_one_without_a_version_with_none() -> None:
    before = catalogue_of("0.5.9")
    built = replace(before, version="0.5.10.dev3+g1a2b3c4", flags=(*before.flags, Flag("--mine", "mine")))
    assert departures(built) == ("Compared with 0.5.9, the nearest earlier release known here, it adds --mine.",)
    assert departures(replace(built, version="")) == ()


def test_no_version_s_help_calls_a_flag_deprecated_that_it_was_not_yet() -> None:
    """Help texts are kept of the newest version only: --disable-cuda-graph was a plain switch in 0.4.7."""
    old, new = (catalogue_of(version).by_spelling["--disable-cuda-graph"] for version in ("0.4.7", "0.5.23"))
    assert (old.deprecated, old.help) == (False, "")
    assert new.deprecated and new.help.startswith("Deprecated.")
    for version in versions_known():
        assert not [f.name for f in catalogue_of(version) if says_deprecated(f.help) and not f.deprecated]
