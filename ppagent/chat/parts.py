"""Several questions in one message, taken apart."""

import re

MOST_PARTS = 4
LONGEST = 600
"""Characters of a message that is taken apart; what is longer is a story, or something pasted."""

_ASKS = (
    r"(?:should|shall|is|are|was|were|can|could|do|does|did|what|why|how|would|will|which|where|when|may|might|am"
    r"|has|have|and (?:what|why|how|is|should))"
)
_BETWEEN = re.compile(
    rf"(?<=[?!;\n])\s+|(?<=\w\w[.])\s+(?=[A-Za-z])|,?\s+(?:and|or|also|but|plus)\s+(?:also\s+)?(?={_ASKS}\b)", re.I
)


def parts_of(text: str) -> tuple[str, ...]:
    """The questions and statements of a message, in their order; the whole of it where it is one, or too long."""
    parts = tuple(part.strip(" ,;\n") for part in _BETWEEN.split(text) if len(part.split()) > 1)
    return parts if 1 < len(parts) <= MOST_PARTS and len(text) <= LONGEST else (text,)
