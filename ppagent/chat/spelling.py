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
_SLANG = {
    "u": "you", "ur": "your", "wat": "what", "wut": "what", "wot": "what", "whats": "what's", "wats": "what's",
    "hows": "how's", "whos": "who's", "thats": "that's", "cmd": "command", "cmdline": "command line",
    "reqs": "requests", "req": "request", "pls": "please", "plz": "please", "conf": "config", "mem": "memory",
    "temp": "temperature", "temps": "temperature", "errs": "errors", "gonna": "going to", "wanna": "want to",
}  # fmt: skip
_SHORT = re.compile(rf"(?<![-\w/.='])(?:{'|'.join(_SLANG)})(?![-\w/.='])", re.I)
_LETTERS = (
    (re.compile(r"\br (?=(?:you|we|they|these|the)\b)", re.I), "are "),
    (re.compile(r"^y (?=\w)", re.I), "why "),
)
"""Single letters that stand for a word only where another word follows them."""


def as_meant(text: str) -> str:
    """The text with near misses of known words in their place. Only to tell what is asked, never to keep."""
    text = _SHORT.sub(lambda match: _SLANG[match.group().lower()], text)
    for pattern, word in _LETTERS:
        text = pattern.sub(word, text)
    return _WORD.sub(_nearest, text)


def _nearest(match: re.Match[str]) -> str:
    word = match.group()
    lowered = word.lower()
    if any(lowered.startswith(known) for known in KNOWN):
        return word
    close = get_close_matches(lowered, KNOWN, n=1, cutoff=CLOSE)
    return close[0] if close and close[0][0] == lowered[0] else word
