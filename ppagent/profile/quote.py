"""A piece of a trace that can be quoted."""

import re

LONGEST_QUOTE = 200
_ESCAPED = re.compile(r'["\\/]')
"""Characters that may stand otherwise in the trace's text."""


class Quote:
    """The name of the event that is worth most, of those that stand in a trace as they are read."""

    def __init__(self) -> None:
        self.text, self._worth = "", -1

    def offer(self, worth: int, name: str) -> None:
        if worth > self._worth and name.isascii() and name.isprintable() and not _ESCAPED.search(name):
            self.text, self._worth = name[:LONGEST_QUOTE], worth
