"""A change is written in the words of the installed version, at every border where they changed."""

import pytest

from ppagent.causes.cause import Change
from ppagent.changes.spelling import lever_name, spell
from ppagent.sglang.flags.history import catalogue_of
from ppagent.sglang.legality.renames import earlier_name

LIMIT = Change(set={"--pp-max-micro-batch-size": "2"})
GRAPHS = Change(set={"--cuda-graph-max-bs-decode": "128"})


@pytest.mark.parametrize(
    ("version", "change", "written"),
    [
        ("0.5.3", LIMIT, "--max-micro-batch-size"),
        ("0.5.4", LIMIT, "--pp-max-micro-batch-size"),
        ("0.5.13", GRAPHS, "--cuda-graph-max-bs"),
        ("0.5.14", GRAPHS, "--cuda-graph-max-bs-decode"),
        ("0.5.19", GRAPHS, "--cuda-graph-max-bs-decode"),
        ("0.5.20", GRAPHS, "--cuda-graph-max-bs-decode"),
    ],
)
def test_flags_are_spelled_as_the_version_spells_them(version: str, change: Change, written: str) -> None:
    spelled = spell(change, catalogue_of(version))
    assert list(spelled.change.set) == [written]
    assert spelled.lacking == ()


def test_a_flag_that_the_version_lacks_is_named_and_not_written() -> None:
    spelled = spell(Change(set={"--pp-async-batch-depth": "1"}), catalogue_of("0.5.6"))
    assert spelled.lacking == ("--pp-async-batch-depth",)
    assert spelled.change.set == {}


def test_without_a_version_the_newest_spelling_is_kept() -> None:
    assert spell(LIMIT, None).change == LIMIT


@pytest.mark.parametrize(
    ("lever", "version", "name"),
    [
        ("--pp-max-micro-batch-size", "0.5.3", "--max-micro-batch-size"),
        ("--cuda-graph-max-bs-decode", "0.5.10", "--cuda-graph-max-bs"),
        ("--disable-cuda-graph", "0.5.10", "--disable-cuda-graph"),
        ("--pp-async-batch-depth", "0.5.6", None),
        ("SGLANG_PP_LAYER_PARTITION", "0.5.6", "SGLANG_PP_LAYER_PARTITION"),
        ("--a, --b", "0.5.6", "--a, --b"),
    ],
)
def test_a_declined_lever_has_the_name_that_the_version_gives_it(lever: str, version: str, name: str | None) -> None:
    assert lever_name(lever, catalogue_of(version)) == name
    assert lever_name(lever, None) == lever


@pytest.mark.parametrize(
    ("flag", "value", "version", "why"),
    [
        ("--kv-cache-dtype", "bf16", "0.5.3", "--kv-cache-dtype takes no bf16"),
        ("--kv-cache-dtype", "bf16", "0.5.10", ""),
        ("--attention-backend", "trtllm_mha", "0.4.7", "--attention-backend takes no trtllm_mha"),
        ("--chunked-prefill-size", "4096", "0.4.7", ""),
    ],
)
def test_a_value_that_the_version_does_not_take_is_named(flag: str, value: str, version: str, why: str) -> None:
    assert spell(Change(set={flag: value}), catalogue_of(version)).unfit.get(flag, "") == why


def test_where_no_version_is_known_the_name_of_before_is_told() -> None:
    assert earlier_name("--cuda-graph-max-bs-decode") == "before 0.5.14 it is called --cuda-graph-max-bs"
    assert earlier_name("--pp-max-micro-batch-size").endswith("it is called --max-micro-batch-size")
    assert earlier_name("--max-running-requests") == ""
    assert earlier_name("--cuda-graph-max-bs") == ""
