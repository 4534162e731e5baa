"""Whole numbers in text that somebody else wrote: plain digits only, and no more of them than anything can count."""

import re

_DIGITS = re.compile(r"\s*([0-9]{1,15})\s*")


def whole_number(text: str) -> int | None:
    """The number that `text` writes; None for anything else. (`isdigit` takes `²` and a million digits for one too.)"""
    match = _DIGITS.fullmatch(text)
    return int(match[1]) if match else None
