"""Which of a host's cards the server uses."""

import re
from collections.abc import Mapping, Sequence

from ppagent.errors import ToolError
from ppagent.plugins import ToolContext
from ppagent.targets.target import Artifact
from ppagent_tools.gpu_processes import card_indices, first_moment, server_cards
from ppagent_tools.gpu_sample import Sample

_VISIBLE = re.compile(r"\bCUDA_VISIBLE_DEVICES=[\"']?([\w,-]+)")
_IN_ORDER = re.compile(r"\bCUDA_DEVICE_ORDER=[\"']?PCI_BUS_ID\b")


def used_cards(context: ToolContext, host: str) -> frozenset[int]:
    """Indices, by the server's own processes on the cards, else by the cards it was given; empty where neither tells.

    The processes come first: what a server in a container was given is counted from 0 there.
    """
    return server_cards(context, host) or _given(context, host)


def of_used_cards(moments: list[list[Sample]], used: frozenset[int]) -> list[list[Sample]]:
    """The samples of the cards that are used; all of them where that is not known, or not among the sampled ones."""
    sampled = {int(sample.index) for moment in moments for sample in moment}
    if not used or not used <= sampled:
        return moments
    kept = ([sample for sample in moment if int(sample.index) in used] for moment in moments)
    return [moment for moment in kept if moment]


def _given(context: ToolContext, host: str) -> frozenset[int]:
    """What its environment or launch names, as indices or by UUID (of which the beginning is enough)."""
    for artifact in (Artifact.ENVIRONMENT, Artifact.LAUNCH):
        try:
            text = context.target.text(host, artifact)
        except ToolError:  # said where it is asked for; without it every card counts
            continue
        if match := _VISIBLE.search(text):
            given = match[1].split(",")
            known = card_indices(context, host)
            return _indices(given, known) if _numbered_alike(context, host, given, text) else frozenset()
    return frozenset()


def _numbered_alike(context: ToolContext, host: str, given: Sequence[str], text: str) -> bool:
    """Whether CUDA counts the cards as nvidia-smi does: where they differ it puts the fastest first, unless told."""
    if _IN_ORDER.search(text) or not any(word.isdecimal() for word in given):
        return True
    return len({sample.row.cells.get("name") for sample in first_moment(context, host)}) < 2


def _indices(given: Sequence[str], cards: Mapping[str, str]) -> frozenset[int]:
    """None of them where one is not known: a slice of a card (MIG), or a UUID that the samples lack."""
    found = [_index(word.lower(), cards) for word in given]
    return frozenset(int(index) for index in found if index) if all(found) else frozenset()


def _index(word: str, cards: Mapping[str, str]) -> str:
    if word.isdecimal():
        return word
    return next((index for key, index in cards.items() if word.startswith("gpu-") and key.startswith(word)), "")
