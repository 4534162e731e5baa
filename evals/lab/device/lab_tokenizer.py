"""A tokenizer that is slow for every prompt, as a pure-Python one is (planted by LAB_TOKENIZE_MS)."""

import time
from types import ModuleType
from typing import Any


def slow_down(module: ModuleType, seconds: float) -> None:
    """Each text that SGLang's tokenizer manager encodes takes `seconds` more, on the manager's own event loop."""
    load = module.get_tokenizer

    def get_tokenizer(*args: Any, **kwargs: Any) -> Any:
        tokenizer = load(*args, **kwargs)
        slow = type("SlowTokenizer", (type(tokenizer),), {"__call__": _slowly(type(tokenizer).__call__, seconds)})
        tokenizer.__class__ = slow
        return tokenizer

    module.get_tokenizer = get_tokenizer


def _slowly(real: Any, seconds: float) -> Any:
    def encode(self: Any, *args: Any, **kwargs: Any) -> Any:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            pass  # it takes its core, as a real one does
        return real(self, *args, **kwargs)

    return encode
