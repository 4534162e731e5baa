"""How layers are dealt over stages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.errors import UserError
from ppagent.sglang.layers import check_partition, default_split, parse_partition, spell_partition
from ppagent.sglang.versions import parse_version


@pytest.mark.parametrize(
    ("layers", "stages", "version", "split"),
    [
        (61, 8, "0.5.5.post3", (7, 7, 7, 7, 7, 7, 7, 12)),
        (61, 8, "0.5.6", (7, 7, 7, 8, 8, 8, 8, 8)),
        (61, 4, "0.5.5", (15, 15, 15, 16)),
        (61, 4, "0.5.23", (15, 15, 15, 16)),
        (94, 8, "0.4.7", (11, 11, 11, 11, 11, 11, 11, 17)),
        (94, 8, "0.5.10.post1", (11, 11, 12, 12, 12, 12, 12, 12)),
        (36, 8, "0.5.4", (4, 4, 4, 4, 4, 4, 4, 8)),
        (36, 8, None, (4, 4, 4, 4, 5, 5, 5, 5)),
        (8, 8, "0.5.23", (1, 1, 1, 1, 1, 1, 1, 1)),
    ],
)
def test_the_remainder_goes_where_the_version_puts_it(
    layers: int, stages: int, version: str | None, split: tuple[int, ...]
) -> None:
    assert default_split(layers, stages, version) == split


@given(st.integers(1, 500), st.integers(1, 64), st.sampled_from(["0.4.10", "0.5.5", "0.5.6", "0.5.23"]))
def test_every_layer_is_dealt_once_and_the_split_is_legal(layers: int, stages: int, version: str) -> None:
    split = default_split(layers, stages, parse_version(version))
    assert check_partition(split, layers, stages) is None
    assert list(split) == sorted(split)
    assert parse_partition(spell_partition(split)) == split


def test_a_partition_that_does_not_fit_says_why() -> None:
    assert check_partition((8, 8), 17, 2) == "The partition adds up to 16 layers, the model has 17."
    assert check_partition((8, 8), None, 3) == "The partition names 2 stages, the pipeline has 3."
    assert check_partition((8, 8), None, 2) is None


@pytest.mark.parametrize("text", ["", "8,", "8;8", "8,a"])
def test_a_partition_that_is_no_list_of_numbers_is_the_users_to_mend(text: str) -> None:
    with pytest.raises(UserError, match="layer counts"):
        parse_partition(text)


def test_a_pipeline_without_stages_is_refused() -> None:
    with pytest.raises(UserError, match="at least one stage"):
        default_split(8, 0, "0.5.10")
