"""Whose log it is that is not SGLang's: by the form of its lines, as a person may name any engine in words."""

import re
from collections.abc import Iterable
from itertools import islice

_LOOKED_AT = 2000
_FORMS = (
    (
        "vLLM",
        re.compile(
            rb"(?:\(\w+ pid=\d+\) )?(?:DEBUG|INFO|WARNING|ERROR) \d\d-\d\d \d\d:\d\d:\d\d \[?[\w./-]+\.py:\d+\]"
        ),
    ),
    ("TensorRT-LLM", re.compile(rb"\[TRT-LLM\] \[|\[TensorRT-LLM\]")),
    ("TGI", re.compile(rb"\btext_generation_(?:launcher|router)\b")),
    ("llama.cpp", re.compile(rb"^(?:llama_model_loader:|llama_context:|srv  +\w+:|slot +\w+:)")),
)


def other_engine(lines: Iterable[bytes]) -> str:
    """The engine that wrote a log's beginning; empty where it is none of those known here.

    SGLang to 0.4.9 prints some lines in vLLM's form: ask only where no line is SGLang's own.
    """
    for line in islice(lines, _LOOKED_AT):
        for engine, form in _FORMS:
            if form.search(line):
                return engine
    return ""
