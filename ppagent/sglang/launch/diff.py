"""The difference of two launch texts, for a person to read."""

import re
from difflib import SequenceMatcher

from ppagent.sglang.launch.find import find_launch
from ppagent.sglang.launch.options import read_options
from ppagent.sglang.launch.site import NoLaunchCommand, all_words
from ppagent.sglang.launch.words import CONTINUATION


def unified_diff(old: str, new: str) -> str:
    """Lines marked "- ", "+ " or "  ": one flag with its values a line where a command is written on one line.

    One unchanged line stands around each change. Empty where the two read the same.
    """
    before, after = (lines_of(old), lines_of(new))
    shown: list[str] = []
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for group in matcher.get_grouped_opcodes(1):
        if shown:
            shown.append("  ...")
        for tag, start, end, new_start, new_end in group:
            if tag == "equal":
                shown += [f"  {line}" for line in before[start:end]]
                continue
            shown += [f"- {line}" for line in before[start:end]]
            shown += [f"+ {line}" for line in after[new_start:new_end]]
    return "\n".join(shown)


def lines_of(text: str) -> list[str]:
    """The text in the lines a person compares: its own, or one word group each for a command on one line."""
    lines = text.strip("\n").split("\n")
    if len(lines) > 1:
        return [line.rstrip() for line in lines] if not _one_command(text) else _groups(text)
    return _groups(text)


def _one_command(text: str) -> bool:
    return "\n" not in CONTINUATION.sub(" ", text.strip("\n"))


def _groups(text: str) -> list[str]:
    """Breaks the command in front of each option, behind its assignments and behind its last word."""
    try:
        site = find_launch(text)
    except NoLaunchCommand:
        return [text.strip()]
    options, loose = read_options(site.arguments, None)
    starts = {option.word.start for option in options} | {word.start for word in loose}
    starts |= {assignment.start for assignment in site.assignments if assignment.kind != "docker"}
    starts |= {word.start for word in site.program[:1]}
    rest = max((word.end for word in all_words(site)), default=len(text))
    cuts = sorted({0, *starts, rest, len(text)})
    parts = (CONTINUATION.sub(" ", text[a:b]) for a, b in zip(cuts, cuts[1:], strict=False))
    return [line for part in parts if (line := re.sub(r"[ \t]+", " ", part).strip())]
