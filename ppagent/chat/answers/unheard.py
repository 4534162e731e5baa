"""Is it X? where no cause is about X; and what is asked in another language."""

import re

from ppagent.agent.investigation import Investigation
from ppagent.report.lines import Line, wrapped

IS_IT = re.compile(
    r"(?:so |and |but |or )?(?:is|are|could|can|might|may) (?:it|this|that|they|the problem|the cause)(?: be)? "
    r"(?:because of |due to |caused by )?(?:(?:the|my|our|a|an|your|some) )?(?P<what>[a-z][\w /-]{1,40}?)\W*"
    r"|(?:so |and |but |or )?(?:is|are|was|were|could|can|might|may) (?:the|my|our|there|these|those) "
    r"[a-z][\w /-]{1,60}\W*",
    re.I,
)
"""A suspicion in so many words."""

_LETTER = re.compile(r"[^\W\d_]")
_FOREIGN = re.compile(
    r"\b(?:warum|wieso|langsam|ist|wie|was|nicht|pourquoi|lente?|quoi|est-ce|comment|por qu[eé]|qu[eé] pasa|lento"
    r"|perch[eé]|porque|waarom|traag|dlaczego|wolno)\b",
    re.I,
)
"""Words of other languages that no English question holds; `was` and `comment` count beside others only."""
ALSO_ENGLISH = frozenset({"was", "comment", "lent"})
FOREIGN = "I understand English only, and take that for: why is it slow?"


def is_foreign(text: str) -> bool:
    """Whether it is written in other letters than English, or in words of another language."""
    letters = _LETTER.findall(text)
    if letters and sum(not letter.isascii() for letter in letters) * 3 > len(letters):
        return True
    return bool({word.lower() for word in _FOREIGN.findall(text)} - ALSO_ENGLISH)


def unheard_lines(found: Investigation, text: str, width: int) -> list[Line]:
    """Neither yes nor no, and what was found instead."""
    match = IS_IT.fullmatch(text.strip())
    what = " ".join(match["what"].split()) if match is not None and match["what"] else "that"
    says = (
        f"None of the {len(found.board.hypotheses)} causes I know is about {what}, so I can neither confirm that nor "
        "rule it out."
    )
    return [*wrapped(says, width, tone="verdict"), *wrapped(f"Found here: {found.summary}", width, "  ")]
