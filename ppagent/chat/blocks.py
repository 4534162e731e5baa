"""Markdown as it comes in, cut into blocks that are finished and the tail that may still change."""

import re
from dataclasses import dataclass

_FENCE = re.compile(r"^(?P<indent>[ \t]*)(?P<mark>`{3,}|~{3,})(?P<info>[^`]*)$")


@dataclass(frozen=True)
class Block:
    """A finished piece: prose (Markdown), or code to be copied as it is."""

    text: str
    code: bool = False


def finished(text: str) -> tuple[list[Block], str]:
    """The blocks of `text` that nothing further can change, and the rest. A block of prose ends at an empty line
    outside a code fence or where a fence begins; code ends at its closing fence."""
    blocks: list[Block] = []
    at = start = 0
    lines = text.splitlines(keepends=True)
    opened = ""
    for line in lines:
        at += len(line)
        whole = line.endswith("\n")
        fence = _FENCE.match(line.rstrip("\n")) if whole else None
        if opened:
            if fence is not None and _closes(fence, opened):
                blocks.append(Block(_inside(text[start:at]), code=True))
                opened, start = "", at
        elif fence is not None:
            blocks += _prose(text[start : at - len(line)])
            opened, start = fence["mark"], at - len(line)
        elif whole and not line.strip():
            blocks += _prose(text[start:at])
            start = at
    return blocks, text[start:]


def rest(tail: str) -> list[Block]:
    """The blocks of a tail after which nothing comes: a fence that was left open is code all the same."""
    if not tail.strip():
        return []
    first = tail.split("\n", 1)[0]
    if _FENCE.match(first):
        return [Block(_inside(f"{tail}\n", closed=False), code=True)]
    return _prose(tail)


def _closes(fence: re.Match[str], opened: str) -> bool:
    mark = fence["mark"]
    return mark[0] == opened[0] and len(mark) >= len(opened) and not fence["info"].strip()


def _prose(text: str) -> list[Block]:
    return [Block(text.strip("\n"))] if text.strip() else []


def _inside(fenced: str, closed: bool = True) -> str:
    """The lines between the fences, without the indentation of the opening one."""
    opening, *body = fenced.rstrip("\n").split("\n")
    indent = len(opening) - len(opening.lstrip())
    if closed:
        body = body[:-1]
    return "\n".join(line[min(indent, len(line) - len(line.lstrip())) :] for line in body)
