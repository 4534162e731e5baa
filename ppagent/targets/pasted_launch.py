"""The launch command in pasted text: alone, in a code block, a script, a unit, a manifest, or in mid-sentence."""

import re

from ppagent.sglang.launch.lost_backslashes import PROGRAM, with_backslashes
from ppagent.sglang.launch.shell import PLACEHOLDER
from ppagent.sglang.launch.spelling import OWN_OPTION
from ppagent.targets.pasted_sheet import Sheet

_OPTION = re.compile(r"(?<!\S)[\"'\-\[ ]*--?[a-z][\w-]*")
_START = re.compile(
    r"(?:[A-Za-z_]\w*=\S*\s+)*(?:(?:sudo|nohup|exec|time|env|numactl|taskset|srun|docker|podman|nerdctl)\s.*?)?"
    r"(?:[A-Za-z_]\w*=\S*\s+)*(?:\S*python[\d.]*\s+|\S*(?=launch_server\.py)|(?=sglang\s+serve))"
)
_PROMPT = re.compile(r"\s*(?:[\w.@-]+(?::\S*)?)?[$#>]\s+")
_ENV_LINE = re.compile(r"\s*(?:export\s+)?[A-Za-z_]\w*=\S*(?:\s+[A-Za-z_]\w*=\S*)*\s*\\?\s*$|\s*#!")
_CONTAINER = re.compile(r"\s*(?:sudo\s+)?(?:docker|podman|nerdctl)\s+(?:run|exec)\b")
_CONTINUED = re.compile(r"\\\s*$")
_YAML = re.compile(r"\s*(?:- |[\w./-]+:(?:\s|$)|[\"'\[\]{}#]|---)")
_YAML_ANCHOR = re.compile(r"\s*(?:- |(?:command|args|image|entrypoint):)")
_UNIT = re.compile(r"\s*(?:\[\w+\]\s*$|\w+=|#|;|.*\\\s*$)")
_VALUE = re.compile(rf"(?:{PLACEHOLDER.pattern}|[\"'\w./{{\[,:$~-])(?:{PLACEHOLDER.pattern}|\S)*")
_YAML_OPTION = re.compile(r"\s*- [\"']?--[a-z]")
_BARE_OPTIONS = re.compile(r"\s*--[a-z][\w-]*(?:[= ]|\s*\\?\s*$)")
_SHELL_END = re.compile(r"\||&|;|\d*>")
MOST_STRAYS = 3
"""Words that no option takes between two options of one command, such as the further values of a list."""
_STOP_WORDS = re.compile(
    r"(?:and|but|with|then|gives|is|was|on|for|i|we|it|it's|which|so|to|the|a|at|as|that|this|in|by|from|or|when|while"
    r"|where|because|gets|got|get)[,.;]?",
    re.IGNORECASE,
)
_REFUSAL = re.compile(r"\s*usage: |\.py: error: |UserWarning")
"""Lines that name the program and start nothing: what argparse prints, what Python warns of."""


def take_launch(sheet: Sheet) -> str:
    """The launch command with what it stands in, else its options alone, as pasted; empty where there is neither."""
    return _whole_command(sheet) or _options_alone(sheet)


def _whole_command(sheet: Sheet) -> str:
    for i, line in enumerate(sheet.lines):
        if not sheet.is_free(i) or not PROGRAM.search(line) or _REFUSAL.search(line):
            continue
        if _YAML_ANCHOR.match(line) and not line.lstrip().startswith("#"):
            return _taken(sheet, *_grow(sheet, i, _YAML, blank_lines=True))
        if re.match(r"\s*ExecStart\s*=", line):
            return _taken(sheet, *_grow(sheet, i, _UNIT, blank_lines=True))
        found = _take_command(sheet, i)
        if found:
            return found
    return ""


def _options_alone(sheet: Sheet) -> str:
    """Lines of options without the program that takes them, of which one at least is SGLang's own."""
    for i, line in enumerate(sheet.lines):
        if sheet.is_free(i) and _YAML_OPTION.match(line) and OWN_OPTION.search(line):
            return _taken(sheet, *_grow(sheet, i, _YAML, blank_lines=True))
        if not sheet.is_free(i) or not _BARE_OPTIONS.match(line):
            continue
        last = i
        while sheet.is_free(last + 1) and _BARE_OPTIONS.match(sheet.lines[last + 1]):
            last += 1
        if not any(OWN_OPTION.search(sheet.lines[at]) for at in range(i, last + 1)):
            continue
        lines = [line.strip().removesuffix("\\").strip() for line in sheet.take(range(i, last + 1))]
        return " \\\n  ".join(lines) + "\n"
    return ""


def _taken(sheet: Sheet, first: int, last: int) -> str:
    return "\n".join(sheet.take(range(first, last + 1))) + "\n"


def _grow(sheet: Sheet, i: int, kind: re.Pattern[str], *, blank_lines: bool = False) -> tuple[int, int]:
    """First and last line around `i` that are of one kind, single blank lines between them passed over."""

    def reach(step: int) -> int:
        at = i
        while True:
            ahead = at + step
            if blank_lines and sheet.is_free(ahead) and not sheet.lines[ahead].strip():
                ahead += step
            joined = step > 0 and _CONTINUED.search(sheet.lines[at]) is not None
            if not sheet.is_free(ahead) or not (kind.match(sheet.lines[ahead]) or joined):
                return at
            at = ahead

    return reach(-1), reach(1)


def _take_command(sheet: Sheet, i: int) -> str:
    """A shell command that starts the server in line `i`: its continued lines, and the assignments in front of it."""
    first = i
    while sheet.is_free(first - 1) and _leads(sheet.lines[first - 1]):
        first -= 1
    last = i
    while _CONTINUED.search(sheet.lines[last]) and sheet.is_free(last + 1):
        last += 1
    if last == i:
        last = _loose_options(sheet, i)
    if not any(_OPTION.search(sheet.lines[at]) for at in range(i, last + 1)):
        return ""
    if first == last:
        return _cut_from_sentence(sheet, i)
    head = sheet.lines[first]
    block = sheet.take(range(first, last + 1))
    block[0] = head[prompt.end() :] if (prompt := _PROMPT.match(head)) else head
    return with_backslashes("\n".join(block)) + "\n"


def _leads(line: str) -> bool:
    """Whether a line belongs to the command below it."""
    return bool(_CONTINUED.search(line) or _ENV_LINE.match(line) or _CONTAINER.match(line))


def _loose_options(sheet: Sheet, i: int) -> int:
    """Last of the lines below that hold nothing but options, as a command broken without backslashes has them."""
    last = i
    while sheet.is_free(last + 1) and re.match(r"\s*--[a-z]", sheet.lines[last + 1]):
        last += 1
    return last


def _cut_from_sentence(sheet: Sheet, i: int) -> str:
    """A command within one line; the words around it go back to the sheet."""
    line = sheet.lines[i]
    program = PROGRAM.search(line)
    if program is None:
        return ""
    if ticked := next((m for m in re.finditer(r"`([^`]+)`", line) if m.start() < program.start() < m.end()), None):
        sheet.lines[i] = f"{line[: ticked.start()]}{line[ticked.end() :]}"
        return f"{ticked[1].strip()}\n"
    start = _start_of_command(line, program.start())
    end = _end_of_command(line, program.end())
    sheet.lines[i] = f"{line[:start]} {line[end:]}".strip()
    return f"{line[start:end].strip()}\n"


def _start_of_command(line: str, program: int) -> int:
    starts = [m.start() for m in _START.finditer(line, 0, program + 20) if m.start() <= program < m.end() + 60]
    prompt = _PROMPT.match(line)
    return min((s for s in starts if s >= (prompt.end() if prompt else 0)), default=program)


def _end_of_command(line: str, after: int) -> int:
    """Where the options end and the sentence goes on: at a word that no option takes, unless more options follow."""
    end = after
    free_values, strays = 1, 0
    for word in re.finditer(rf"(?:{PLACEHOLDER.pattern}|\S)+", line[after:]):
        text = word.group()
        if text.startswith("-"):
            free_values, strays = 0 if "=" in text else 1, 0
        elif re.fullmatch(r"[\d.]+,?", text):
            free_values -= 0 if re.fullmatch(r"\d+", text) else 1
        elif _STOP_WORDS.fullmatch(text) or strays > MOST_STRAYS or _SHELL_END.match(text):
            break
        elif not _VALUE.fullmatch(text) or free_values < 1:
            strays += 1
            continue
        else:
            free_values -= 1
        end = after + word.end()
        if text.endswith((",", ";", ".")) and not text.startswith("-"):
            return end - 1
    return end
