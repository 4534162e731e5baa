"""Decode graph sizes captured by default."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.sglang.scheduler_facts.graphs import graph_sizes, tier_of
from ppagent.sglang.scheduler_facts.read import read_scheduler_facts
from ppagent.sglang.versions import parse_version


@pytest.mark.parametrize(
    ("version", "memory_mib", "max_bs", "max_bs_tp4", "chunk"),
    [
        ("0.4.7", 24_000, 8, 80, 2048),
        ("0.5.1", 81_559, 160, 160, 8192),
        ("0.5.2", 143_771, 256, 256, 8192),
        ("0.5.3", 32_607, 16, 80, 2048),
        ("0.5.10", 32_607, 24, 80, 2048),
        ("0.5.20", 32_607, 48, 160, 4096),
        ("0.5.23", 46_068, 32, 160, 4096),
        ("0.5.23", 97_887, 256, 512, 8192),
        ("0.5.23", 183_359, 512, 512, 16384),
    ],
)
def test_the_largest_graph_follows_memory_and_version(
    version: str, memory_mib: int, max_bs: int, max_bs_tp4: int, chunk: int
) -> None:
    tier = tier_of(read_scheduler_facts(None, version).graph_tiers.value, memory_mib)
    assert (tier.max_bs, tier.max_bs_tp4, tier.chunk) == (max_bs, max_bs_tp4, chunk)


def test_sizes_match_what_a_server_logged() -> None:
    assert graph_sizes(32, parse_version("0.5.23")) == (1, 2, 4, 8, 12, 16, 24, 32)
    assert graph_sizes(8, parse_version("0.5.1")) == (1, 2, 4, 8)


def test_the_last_size_is_captured_from_0_5_10_on() -> None:
    assert graph_sizes(30, parse_version("0.5.9")) == (1, 2, 4, 8, 12, 16, 24)
    assert graph_sizes(30, parse_version("0.5.10")) == (1, 2, 4, 8, 12, 16, 24, 30)


def test_without_padding_every_size_is_captured() -> None:
    assert graph_sizes(5, parse_version("0.5.10"), padding=False) == (1, 2, 3, 4, 5)


@given(st.integers(1, 1024), st.sampled_from(["0.5.2", "0.5.3", "0.5.10", "0.5.23"]), st.booleans(), st.booleans())
def test_sizes_rise_and_stay_below_the_largest(max_bs: int, version: str, speculative: bool, padding: bool) -> None:
    sizes = graph_sizes(max_bs, parse_version(version), speculative=speculative, padding=padding)
    assert list(sizes) == sorted(set(sizes))
    assert sizes[0] == 1
    assert sizes[-1] <= max_bs
