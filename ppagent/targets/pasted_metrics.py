"""Metrics of /metrics, found in pasted text: as curl prints them, or lines that grep picked."""

import re

from ppagent.targets.pasted_sheet import Sheet

NAME = "metrics/1.prom"
"""As a recording names its first scrape."""

_SAMPLE = re.compile(
    r"\s*(?:[\w./-]+:(?=sglang))?"
    r"(?P<sample>sglang[:_]\w+(?:\{[^{}]*\})?\s+[-+]?(?:\d[\d.]*(?:e[-+]?\d+)?|nan|inf)(?:\s+\d+)?)\s*$",
    re.I,
)
"""A sample with its value, by itself on its line; grep over files puts a file's name before it."""
_OTHER_SAMPLE = re.compile(
    r"(?:python|process|http)_\w+(?:\{[^{}]*\})?\s+[-+]?(?:\d[\d.]*(?:e[-+]?\d+)?|nan|inf)\s*$", re.I
)
_COMMENT = re.compile(r"# (?:HELP|TYPE) [\w:]+ ")


def take_metrics(sheet: Sheet) -> str:
    """The samples as one scrape; empty where there is none of SGLang. What else /metrics prints goes with them."""
    samples = {i: found["sample"] for i, line in enumerate(sheet.lines) if (found := _free(sheet, i, line)) is not None}
    if not samples:
        return ""
    sheet.take(samples)
    others = [i for i, line in enumerate(sheet.lines) if sheet.is_free(i) and _belongs(line)]
    sheet.take(others)
    return "".join(f"{sample}\n" for sample in samples.values())


def _free(sheet: Sheet, i: int, line: str) -> re.Match[str] | None:
    return _SAMPLE.match(line) if sheet.is_free(i) else None


def _belongs(line: str) -> bool:
    return bool(_OTHER_SAMPLE.match(line) or _COMMENT.match(line))
