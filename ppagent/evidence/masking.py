"""Secrets are masked before anything is stored, shown or sent to a model."""

import re

from ppagent.evidence.evidence import FactValue

MASK = "[masked]"

_SECRET_NAME = r"[A-Za-z0-9_.-]*(?:api[_-]?key|token|secret|passw(?:or)?d|credential|private[_-]?key|authorization)"


def mask(text: str) -> str:
    """`text` with every secret that is recognised by its name or its shape replaced."""
    return re.sub(rf"(?i)\b({_SECRET_NAME})(\s*[=:]\s*)\S+", rf"\1\2{MASK}", text)


def mask_value(name: str, value: FactValue) -> FactValue:
    """A fact's value with secrets masked, in nested text too."""
    match value:
        case str():
            return mask(value)
        case list():
            return [mask_value(name, item) for item in value]
        case dict():
            return {key: mask_value(key, item) for key, item in value.items()}
        case _:
            return value
