"""A fact's value as it may be kept, whoever wrote it: numbers to calculate with, text that cannot steer a terminal."""

from ppagent.evidence.evidence import FactValue
from ppagent.evidence.quoting import without_controls

LARGEST_NUMBER = 1e18
"""Nothing that is measured or set comes near it; beyond it whole numbers and floats part."""
LONGEST_TEXT = 200_000
DEEPEST = 40


def kept(value: FactValue, deepest: int = DEEPEST) -> FactValue:
    """`value` with null for what is no number to calculate with and for what lies too deep, control characters and
    terminal sequences taken out of text, keys included."""
    match value:
        case None | bool():
            return value
        case int() | float():
            return value if is_measure(value) else None
        case str():
            return without_controls(value)[:LONGEST_TEXT]
        case list():
            return [kept(item, deepest - 1) for item in value] if deepest else None
        case dict():
            return {without_controls(key): kept(item, deepest - 1) for key, item in value.items()} if deepest else None


def is_measure(number: float) -> bool:
    """Whether a number can be calculated with: it is one, and no larger than anything that is measured."""
    return abs(number) <= LARGEST_NUMBER
