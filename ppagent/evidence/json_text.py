"""JSON as others write it: any nesting, any number. What comes out can be calculated with."""

import json

from ppagent.evidence.kept import LARGEST_NUMBER

_LONGEST_DIGITS = 40


def read_json(text: str) -> object:
    """The value of a JSON text, with null for every number that nothing measures (NaN, infinite, boundless).

    Raises ValueError where it is no JSON, or none that can be read: json.JSONDecodeError where a place can be told.
    """
    try:
        return json.loads(text, parse_int=_whole, parse_float=_real, parse_constant=_none)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _whole(digits: str) -> int | None:
    number = int(digits) if len(digits) <= _LONGEST_DIGITS else None
    return number if number is not None and abs(number) <= LARGEST_NUMBER else None


def _real(digits: str) -> float | None:
    number = float(digits)
    return number if abs(number) <= LARGEST_NUMBER else None


def _none(_name: str) -> None:
    """NaN, Infinity and -Infinity, which Python writes and JSON does not have."""
