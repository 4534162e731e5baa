"""What a card can do: memory, bandwidth, power and links, each figure with the kind of source it comes from."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

UNCHECKED = "not checked against any document"


@dataclass(frozen=True)
class Card:
    """One accelerator. Decimal units; links are one direction. `sources` names each figure's source in words.

    `nvlink_gb_per_s` is None where the card has no such link (AMD: the direct link to one peer), `sm_version` is None
    where there is no CUDA compute capability.
    """

    name: str
    memory_gb: float
    bandwidth_gb_per_s: float
    power_w: float
    pcie_gb_per_s: float
    nvlink_gb_per_s: float | None
    sm_version: int | None
    sources: Mapping[str, str]

    @property
    def unchecked(self) -> tuple[str, ...]:
        """Figures that nobody has held against a document."""
        return tuple(field for field, source in self.sources.items() if source == UNCHECKED)

    @property
    def memory_gib(self) -> float:
        """Memory in binary units, as drivers and SGLang's logs count it."""
        return self.memory_gb * 1e9 / 2**30

    def read_ms(self, data_bytes: float) -> float:
        """Time to read `data_bytes` once at peak bandwidth, in milliseconds."""
        return data_bytes / (self.bandwidth_gb_per_s * 1e6)


def find_card(name: str) -> Card | None:
    """The card that a driver's or a person's `name` means; None where the table has no such card.

    The longest key wins whose words stand in the name as whole words, so "NVIDIA H100 PCIe" is not read as an H100 SXM
    and "L40S" not as an L40. A name that leaves the edition open gets the one with most bandwidth, so that a ceiling
    made from it is one: "RTX PRO 6000" alone is read as the Workstation Edition (1792 GB/s, the Server Edition 1597).
    """
    words = _words(name)
    found = [(len(key), card) for key, card in _keys() if _contains(words, key)]
    return max(found, key=lambda entry: entry[0])[1] if found else None


def _contains(words: tuple[str, ...], key: tuple[str, ...]) -> bool:
    """Whether the words of `key` stand in `words` in this order, others between them allowed."""
    rest = iter(words)
    return all(part in rest for part in key)


def _words(name: str) -> tuple[str, ...]:
    text = re.sub(r"(\d+)\s*g(i?)b\b", r"\1gb", name.lower())
    return tuple(re.findall(r"[a-z0-9]+", text))


@lru_cache(maxsize=1)
def _keys() -> tuple[tuple[tuple[str, ...], Card], ...]:
    document = json.loads(files("ppagent.model").joinpath("hardware.json").read_text(encoding="utf-8"))
    cards = [(_card(entry, document["sources"]), entry["keys"]) for entry in document["cards"]]
    return tuple((_words(key), card) for card, keys in cards for key in keys)


def _card(entry: Mapping[str, Any], words: Mapping[str, str]) -> Card:
    def figure(field: str) -> Any:
        return None if entry[field] is None else entry[field][0]

    return Card(
        name=entry["name"],
        memory_gb=figure("memory_gb"),
        bandwidth_gb_per_s=figure("bandwidth_gb_per_s"),
        power_w=figure("power_w"),
        pcie_gb_per_s=figure("pcie_gb_per_s"),
        nvlink_gb_per_s=figure("nvlink_gb_per_s"),
        sm_version=figure("sm_version"),
        sources={field: words[value[1]] for field, value in entry.items() if field not in ("name", "keys") and value},
    )
