"""Small pieces of text that several parts of a session share."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

BESIDE = frozenset({"predicted"})
"""Arguments that change nothing of what is done."""


def duration(seconds: float) -> str:
    """2.3 s, 1 min 05 s."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60):02d} s"


def tagged(says: str, cites: Sequence[str]) -> str:
    """A statement and the evidence it stands on."""
    return f"{says} [{' '.join(cites)}]" if cites else says


def call_in_words(name: str, arguments: Mapping[str, Any]) -> str:
    """A tool's name and its arguments on one line."""
    return " ".join([name, *(f"{key}={json.dumps(value, default=str)}" for key, value in arguments.items())])


def call_in_short(name: str, arguments: Mapping[str, Any]) -> str:
    """The same without what is only held against the result."""
    return call_in_words(name, {key: value for key, value in arguments.items() if key not in BESIDE})


def id_ranges(ids: tuple[str, ...]) -> str:
    """E3 E4 E5 E9 as E3-E5 E9."""
    runs: list[list[int]] = []
    for number in sorted(int(text[1:]) for text in ids):
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return " ".join(f"E{run[0]}" if len(run) == 1 else f"E{run[0]}-E{run[-1]}" for run in runs)
