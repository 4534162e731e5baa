import json
from importlib.resources import files

import pytest

from ppagent.model.hardware import UNCHECKED, Card, find_card


def all_cards() -> list[Card]:
    """Every card of the table, as its own name finds it."""
    table = json.loads(files("ppagent.model").joinpath("hardware.json").read_text(encoding="utf-8"))
    return [card for entry in table["cards"] if (card := find_card(entry["name"])) is not None]


@pytest.mark.parametrize(
    ("name", "card"),
    [
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "NVIDIA RTX PRO 6000 Blackwell Server Edition"),
        ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "NVIDIA RTX PRO 6000 Blackwell Workstation Edition"),
        (
            "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition",
            "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition",
        ),
        ("8x RTX PRO 6000", "NVIDIA RTX PRO 6000 Blackwell Workstation Edition"),
        ("NVIDIA A100-SXM4-80GB", "NVIDIA A100 80GB SXM"),
        ("NVIDIA A100-PCIE-40GB", "NVIDIA A100 40GB PCIe"),
        ("NVIDIA A100 80GB PCIe", "NVIDIA A100 80GB PCIe"),
        ("NVIDIA H100 80GB HBM3", "NVIDIA H100 SXM"),
        ("NVIDIA H100 PCIe", "NVIDIA H100 PCIe"),
        ("NVIDIA H100 NVL", "NVIDIA H100 NVL"),
        ("NVIDIA L40S", "NVIDIA L40S"),
        ("NVIDIA L40", "NVIDIA L40"),
        ("NVIDIA L4", "NVIDIA L4"),
        ("NVIDIA H200", "NVIDIA H200"),
        ("NVIDIA H200 NVL", "NVIDIA H200 NVL"),
        ("Tesla V100-SXM2-32GB", "NVIDIA V100 SXM2 32GB"),
        ("Tesla V100-SXM2-16GB", "NVIDIA V100 SXM2 16GB"),
        ("Tesla V100-PCIE-32GB", "NVIDIA V100 PCIe 32GB"),
        ("Tesla V100-PCIE-16GB", "NVIDIA V100 PCIe 16GB"),
        ("NVIDIA H20-3e", "NVIDIA H20 141GB"),
        ("NVIDIA RTX 6000 Ada Generation", "NVIDIA RTX 6000 Ada Generation"),
        ("NVIDIA GeForce RTX 3090 Ti", "NVIDIA GeForce RTX 3090 Ti"),
        ("AMD Instinct MI300X OAM", "AMD Instinct MI300X"),
    ],
)
def test_a_drivers_name_finds_its_card(name: str, card: str) -> None:
    found = find_card(name)
    assert found is not None
    assert found.name == card


@pytest.mark.parametrize("name", ["", "NVIDIA GeForce GTX 1080", "a box of eight", "none: real SGLang on a CPU"])
def test_what_the_table_does_not_hold_is_not_guessed(name: str) -> None:
    assert find_card(name) is None


def test_every_figure_has_a_source_and_a_sane_size() -> None:
    for card in all_cards():
        assert {"memory_gb", "bandwidth_gb_per_s", "power_w", "pcie_gb_per_s"} <= set(card.sources)
        assert (card.nvlink_gb_per_s is None) == ("nvlink_gb_per_s" not in card.sources)
        assert 16 <= card.memory_gb <= 300
        assert 300 <= card.bandwidth_gb_per_s <= 8000
        assert 70 <= card.power_w <= 1400


def test_every_card_finds_itself() -> None:
    table = json.loads(files("ppagent.model").joinpath("hardware.json").read_text(encoding="utf-8"))
    assert [card.name for card in all_cards()] == [entry["name"] for entry in table["cards"]]


def test_memory_counts_as_drivers_count_it_and_reading_takes_its_time() -> None:
    card = find_card("RTX PRO 6000")
    assert card is not None
    assert card.memory_gib == pytest.approx(97887 / 1024, abs=0.1)
    assert card.read_ms(1.792e9) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("edition", "gb_per_s", "power_w", "source"),
    [
        ("Server", 1597, 600, "data sheet of December 2025"),
        ("Workstation", 1792, 600, "data sheet 3519208"),
        ("Max-Q Workstation", 1792, 300, "Max-Q"),
    ],
)
def test_the_editions_of_one_card_are_told_apart(edition: str, gb_per_s: int, power_w: int, source: str) -> None:
    card = find_card(f"NVIDIA RTX PRO 6000 Blackwell {edition} Edition")
    assert card is not None
    assert (card.bandwidth_gb_per_s, card.power_w) == (gb_per_s, power_w)
    assert source in card.sources["bandwidth_gb_per_s"]


def test_the_server_editions_bandwidth_is_what_its_memory_clock_gives() -> None:
    card = find_card("NVIDIA RTX PRO 6000 Blackwell Server Edition")
    assert card is not None
    clock_mhz, width_bits = 12481, 512
    assert card.bandwidth_gb_per_s == pytest.approx(2 * clock_mhz * 1e6 * width_bits / 8 / 1e9, abs=1)


def test_a_card_in_a_slot_has_other_power_and_links_than_its_module() -> None:
    slot, module = find_card("Tesla V100-PCIE-32GB"), find_card("Tesla V100-SXM2-32GB")
    assert slot is not None
    assert module is not None
    assert (slot.power_w, slot.nvlink_gb_per_s) == (250, None)
    assert (module.power_w, module.nvlink_gb_per_s) == (300, 150)


def test_what_nobody_checked_is_said_and_nothing_else() -> None:
    server, pcie = find_card("RTX PRO 6000 Blackwell Server Edition"), find_card("NVIDIA H100 PCIe")
    assert server is not None
    assert pcie is not None
    assert server.unchecked == ()
    assert pcie.unchecked == ("memory_gb", "nvlink_gb_per_s")
    figures = [(card, field) for card in all_cards() for field in card.sources]
    unchecked = [(card, field) for card in all_cards() for field in card.unchecked]
    assert len(unchecked) <= 0.06 * len(figures)
    assert all(card.sources[field] == UNCHECKED for card, field in unchecked)
