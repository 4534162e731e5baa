"""Words as they were meant: what is nearly one of the words that questions are told apart by is taken for it."""

import re
from difflib import get_close_matches

KNOWN = frozenset(
    re.findall(
        r"\w+",
        """bottleneck pipeline throughput latency utilization utilisation concurrency overlap prefill decode graphs
        graph micro batch batches speculative quantization attention backend requests change changed compare before
        should evidence explain disable enable restart relaunch revert rollback problem slower faster limit memory
        tokens idle bench benchmark measure stage stages layers throttling temperature kernel scheduler tokenizer
        recommend split partition depth diagnose forecast predict expect proposal command confident certain dangerous
        safely""",
    )
)
CLOSE = 0.84

_WORD = re.compile(r"(?<![-\w/.])[A-Za-z]{4,}(?![-\w/.])")
_SLANG = {"u": "you", "ur": "your", "wat": "what", "wut": "what", "wot": "what"}
_SHORT = re.compile(r"(?<![-\w/.='])(?:u|ur|wat|wut|wot)(?![-\w/.='])", re.I)


def as_meant(text: str) -> str:
    """The text with near misses of known words in their place. Only to tell what is asked, never to keep."""
    return _WORD.sub(_nearest, _SHORT.sub(lambda match: _SLANG[match.group().lower()], text))


def _nearest(match: re.Match[str]) -> str:
    word = match.group()
    lowered = word.lower()
    if any(lowered.startswith(known) for known in KNOWN):
        return word
    close = get_close_matches(lowered, KNOWN, n=1, cutoff=CLOSE)
    return close[0] if close and close[0][0] == lowered[0] else word
