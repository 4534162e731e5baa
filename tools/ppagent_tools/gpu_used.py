"""Which of a host's cards the server uses."""

import re
from collections.abc import Mapping

from ppagent.errors import ToolError
from ppagent.plugins import ToolContext
from ppagent.targets.target import Artifact
from ppagent_tools.gpu_processes import card_indices, server_cards

_VISIBLE = re.compile(r"\bCUDA_VISIBLE_DEVICES=[\"']?([\w,-]+)")


def used_cards(context: ToolContext, host: str) -> frozenset[int]:
    """Indices, by the server's own processes on the cards, else by the cards it was given; empty where neither tells.

    The processes come first: what a server in a container was given is counted from 0 there.
    """
    return server_cards(context, host) or _given(context, host)


def _given(context: ToolContext, host: str) -> frozenset[int]:
    """What its environment or launch names, as indices or by UUID (of which the beginning is enough)."""
    for artifact in (Artifact.ENVIRONMENT, Artifact.LAUNCH):
        try:
            match = _VISIBLE.search(context.target.text(host, artifact))
        except ToolError:  # said where it is asked for; without it every card counts
            continue
        if match is not None:
            return _indices(match[1].split(","), card_indices(context, host))
    return frozenset()


def _indices(given: list[str], cards: Mapping[str, str]) -> frozenset[int]:
    """None of them where one is not known: a slice of a card (MIG), or a UUID that the samples lack."""
    found = [_index(word.lower(), cards) for word in given]
    return frozenset(int(index) for index in found if index) if all(found) else frozenset()


def _index(word: str, cards: Mapping[str, str]) -> str:
    if word.isdecimal():
        return word
    return next((index for key, index in cards.items() if word.startswith("gpu-") and key.startswith(word)), "")
