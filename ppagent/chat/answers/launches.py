"""Would this launch command start? The one that runs now under another version, or one that is pasted."""

import re

from ppagent.agent.investigation import Investigation
from ppagent.changes.commands import Installed
from ppagent.chat.wording import tagged
from ppagent.evidence.masking import mask
from ppagent.report.lines import Line, wrapped
from ppagent.report.plain import plain
from ppagent.sglang.flags.installed import flags_of_version
from ppagent.sglang.launch.command import LaunchCommand, parse_launch
from ppagent.sglang.legality.check import check, is_accepted
from ppagent.sglang.legality.problem import Problem

VERSION = re.compile(r"(?<![\d.])v?(0\.[3-9]\.\d{1,2}(?:\.?(?:post|rc)\d+)?)(?![\d.])")
LAUNCH = re.compile(r"\bsglang(?:\.launch_server|\s+serve)\b|\blaunch_server\b")
_TALK = re.compile(
    r"\s+(?:is|are|does|do|will|would|ok|okay|good|fine|right|correct|any|this|that|these|it|looks?|and|but|or|what|why|how|please"
    r"|thoughts)\b(?!\s*=)[^-]*$",
    re.I,
)
"""What is said behind the last flag and its value."""
ANY_MODEL = "MODEL"
"""Stands where flags are pasted without the model's name."""
STARTS = "python -m sglang.launch_server"
MOST = 8
FASTER = "Whether it would be faster I cannot tell: that is to be measured."
NO_COMMAND = "The launch command is not known here, so what another version would say to it cannot be told."
DIFFERS = "Beside the launch that runs here:"


def flags_in(text: str) -> str:
    """The flags of a text with their values, as one launch command; empty where there are none."""
    match = re.search(r"(?<!\S)--[a-z].*", text, re.S | re.I)
    words = _TALK.sub("", match.group()) if match is not None else ""
    model = "" if re.search(r"--model\b|--model-path\b", words) else f" --model-path {ANY_MODEL}"
    return f"{STARTS} {words}{model}" if words else ""


def version_in(text: str) -> str:
    """The SGLang version that is named; empty where none is."""
    match = VERSION.search(text)
    return match[1] if match is not None else ""


def version_lines(found: Investigation, version: str, width: int) -> list[Line]:
    """What that version would say to the launch command of now. Raises UserError for a version that is not known."""
    fact = found.facts.get("launch.command")
    now = Installed.of(found.facts).words
    if fact is None or not isinstance(fact.value, str):
        return [*wrapped(NO_COMMAND, width, tone="verdict"), *wrapped(FASTER, width, "  ")]
    installed = Installed.of(found.facts).version
    known = _problems(found, fact.value, installed) if installed else ()
    problems = tuple(problem for problem in _problems(found, fact.value, version) if problem not in known)
    takes = "would accept" if is_accepted(problems) else "would refuse"
    says = tagged(f"SGLang {version} {takes} the launch command seen here, which is of {now}", (fact.evidence,))
    return [*wrapped(f"{says}.", width, tone="verdict"), *_told(problems, width), *wrapped(FASTER, width, "  ")]


def pasted_lines(found: Investigation, text: str, width: int) -> list[Line]:
    """What the installed version would say to a pasted command, and how it differs from the one that runs. Raises
    UserError where no version is known."""
    version = version_in(text) or Installed.of(found.facts).version
    if not version:
        return wrapped("Which version of SGLang is it for? ppagent check 'COMMAND' --version X", width, tone="verdict")
    problems = _problems(found, text, version)
    takes = "accepts" if is_accepted(problems) else "refuses"
    lines = wrapped(f"SGLang {version} {takes} that command.", width, tone="verdict")
    return [*lines, *_told(problems, width), *_differences(found, text, version, width)]


def _problems(found: Investigation, command: str, version: str) -> tuple[Problem, ...]:
    installed = Installed.of(found.facts)
    same = version == installed.version and installed.catalogue is not None
    catalogue = installed.catalogue if same else flags_of_version(version).catalogue
    launch = parse_launch(command, catalogue)
    return check(launch, version, catalogue, None, installed.architectures, installed.layers, installed.gpu)


def _told(problems: tuple[Problem, ...], width: int) -> list[Line]:
    lines: list[Line] = []
    for problem in problems[:MOST]:
        instead = f" Write {problem.write_instead}." if problem.write_instead else ""
        lines += wrapped(mask(plain(f"{problem.says}{instead}")), width, f"  {problem.kind:<9} ")
    return lines


def _differences(found: Investigation, text: str, version: str, width: int) -> list[Line]:
    """Settings of the pasted command that the running launch has not, and the other way round."""
    fact = found.facts.get("launch.command")
    if fact is None or not isinstance(fact.value, str):
        return []
    catalogue = flags_of_version(version).catalogue
    there, here = (_settings(parse_launch(words, catalogue)) for words in (text, fact.value))
    whole = f"--model-path {ANY_MODEL}" not in there
    lines = [f"  + {words}" for words in sorted(there - here) if ANY_MODEL not in words.split()]
    lines += [f"  - {words}" for words in sorted(here - there)] if whole else []
    if not lines:
        same = "It is the launch that runs here" if whole else "The launch that runs here has all of them"
        return wrapped(tagged(same, (fact.evidence,)) + ".", width, "  ")
    head = wrapped(tagged(DIFFERS, (fact.evidence,)), width, "  ")
    return [*head, *(Line(f"  {line}", "good" if line.startswith("  +") else "bad") for line in lines)]


def _settings(launch: LaunchCommand) -> set[str]:
    """Each option with its value, and each variable, as text to be compared."""
    options = {f"--{name.replace('_', '-')} {value}" for name, value in launch.args.items()}
    return {mask(plain(words)) for words in (*options, *(f"{name}={value}" for name, value in launch.env.items()))}
