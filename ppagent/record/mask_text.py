"""Text with its secrets masked and everything else as it was, so that what is quoted from it is found in it."""

import re

from ppagent.evidence.masking import MASK, mask, mask_shapes
from ppagent.evidence.quoting import without_controls
from ppagent.evidence.secret_names import is_secret_name

_STAMP = r"\[[0-9][0-9 :.,-]{18,30}(?: [A-Z]{2,4}\d+)*\] "
_PLAIN_LINE = re.compile(
    rf"{_STAMP}(?:Decode|Prefill) batch(?: \[\d+\])?[,:.]?"
    r"(?: [#A-Za-z][#A-Za-z _()/-]{0,40}: (?:[\d.]+|True|False|None),?)+\r?\n?"
    rf'|(?:{_STAMP})?INFO: {{1,6}}[\d.:]+ - "(?:GET|POST) /[a-z0-9_/]{{0,40}} HTTP/1\.\d" '
    r"\d{3}(?: [A-Za-z ]{1,30})?\r?\n?"
)
"""A batch line, which holds nothing but counts under names that are no secret's, or one of the access log: most of a
log, and slow to look through."""
_KEY_BLOCK = "PRIVATE KEY-----"
_NAMED_LITERAL = re.compile(
    r"""(?P<head>(?P<name>[\w.-]{3,80})["']?\s*[=:]\s*(?P<q>["']))(?P<value>[^"'\s]{8,400})(?P=q)"""
)


def masked_text(text: str) -> str:
    """Free text. A line whose secret is split by colours or other control characters loses these with the secret."""
    plain = text.isascii() and text.isprintable()
    return mask(text if plain else "".join(map(_whole, text.splitlines(keepends=True))))


def masked_log(text: str) -> str:
    """A server's log: as `masked_text`, only quicker."""
    if _KEY_BLOCK in text:
        return masked_text(text)
    done: list[str] = []
    block: list[str] = []
    for line in text.splitlines(keepends=True):
        if not _PLAIN_LINE.fullmatch(line):
            block.append(line)
            continue
        if block:
            done.append(masked_text("".join(block)))
            block = []
        done.append(line)
    return "".join((*done, masked_text("".join(block))))


def masked_code(text: str) -> str:
    """Program text, which has to stay one: what has a secret's shape, and literals that look like keys under a name
    that says so."""
    return _NAMED_LITERAL.sub(_literal, mask_shapes(text))


def _whole(line: str) -> str:
    """The line, unless it holds a secret that is only seen without its control characters."""
    if line.isascii() and line.rstrip("\r\n").isprintable():
        return line
    plain = without_controls(line)
    masked = mask(plain)
    if masked == plain or mask(line) == masked:
        return line
    return masked


def _literal(match: re.Match[str]) -> str:
    value = match["value"]
    like_a_key = re.search(r"\d", value) and re.search(r"[A-Za-z]", value) and re.fullmatch(r"[\w+/=.~-]+", value)
    if not like_a_key or value.startswith("-") or not is_secret_name(match["name"].rpartition(".")[2]):
        return match.group()
    return f"{match['head']}{MASK}{match['q']}"
