"""Questions that reach beyond one server's settings: another engine, another version, a bug."""

import re

from ppagent.agent.investigation import Investigation
from ppagent.report.lines import Line, wrapped

_ENGINE = re.compile(r"vllm|trt|tensorrt|lmdeploy|llama|ollama|\btgi\b|dynamo", re.I)
_HARDWARE = re.compile(r"\b(?:gpus?|cards?|hardware|machines?|nodes?)\b", re.I)
_BUG = re.compile(r"\bbug\b|fault|issue|broken", re.I)

ENGINE = "I know SGLang and no other engine: whether another one would be faster here I cannot tell."
MEND_FIRST = " Mend first what was found: other cards would meet it as well."
HARDWARE = "What more or other cards would give here I cannot tell: that is another launch, to be measured."
BUG = (
    "Whether it is a bug of SGLang I cannot tell. I hold what the server does against what the installed version is "
    "known to do."
)
VERSION = (
    "Whether another version would be faster here I cannot tell. What became of a flag over the versions: what does "
    "--pp-async-batch-depth do?"
)


def _other(found: Investigation, question: str) -> str:
    if _BUG.search(question):
        return BUG
    if _HARDWARE.search(question):
        return HARDWARE + MEND_FIRST * (found.verdict == "diagnosed")
    return VERSION


def beyond_lines(found: Investigation, question: str, width: int) -> list[Line]:
    """What cannot be told, and what was found here."""
    says = ENGINE if _ENGINE.search(question) else _other(found, question)
    return [*wrapped(says, width), *wrapped(f"Found here: {found.summary}", width, "  ")]
