"""The matrix of `nvidia-smi topo -m`, in pasted text."""

import re

from ppagent.targets.pasted_sheet import Sheet

_ANSI = re.compile(r"\x1b?\[[0-9;]*m")
_HEAD = re.compile(r"\s*GPU0\s+(?:GPU\d+|CPU Affinity|NIC\d+|[a-z]+\d*_\w+)\b.*")
_KIND = re.compile(r"X|NV\d+|PIX|PXB|PHB|NODE|SYS|N/A")
_LEGEND = re.compile(r"\s*(?:Legend:|NIC Legend:|(?:X|SYS|NODE|PHB|PXB|PIX|NV#)\s+=|NIC\d+:)")


def take_topology(sheet: Sheet) -> str:
    """Takes the matrix with its legend from the sheet; another matrix, such as that of `topo -p2p`, is left there."""
    plain = [_ANSI.sub("", line) for line in sheet.lines]
    heads = (i for i, line in enumerate(plain) if sheet.is_free(i) and _HEAD.fullmatch(line))
    start = next((i for i in heads if _is_row(plain, i + 1, i)), None)
    if start is None:
        return ""
    end = start + 1
    while end < len(plain) and (_is_row(plain, end, start) or _LEGEND.match(plain[end]) or _blank_before(plain, end)):
        end += 1
    return "\n".join(sheet.take(range(start, end))) + "\n"


def _is_row(plain: list[str], i: int, head: int) -> bool:
    """Whether a line has a link for every device that the head names."""
    devices = plain[head].partition("CPU Affinity")[0].split()
    cells = plain[i].split()[1 : len(devices) + 1] if i < len(plain) else []
    return len(cells) == len(devices) and all(map(_KIND.fullmatch, cells))


def _blank_before(plain: list[str], i: int) -> bool:
    """Whether a blank line parts the matrix or its legend from more of the legend."""
    return not plain[i].strip() and any(_LEGEND.match(line) for line in plain[i + 1 : i + 3])
