"""What the answers of several cases share."""

from ppagent_lab.shapes import Alternative

EMULATED = ("CG001", "CP001")
"""Accepted beside every answer: the emulated device has no graphs unless a case plants them, its log says so."""
NEVER = ("IC001", "IC002", "IC004", "HW001", "HW002", "HW004", "SP001", "CG002", "LB002", "PD001")
"""Nothing that the lab plants could ever be one of these."""
DEPTH = "--pp-async-batch-depth"
LIMIT = "--pp-max-micro-batch-size"
OPERATOR = Alternative()
"""A fix that no flag makes: replace the card, look at the neighbour, send more."""


def limit(value: str, live: bool = False) -> Alternative:
    return Alternative(set={LIMIT: value}, live=live)
