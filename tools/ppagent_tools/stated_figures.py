"""Other figures that a user states: requests a stage, layers and stages, CPU use, times, flags, the version."""

import re

from ppagent.evidence.evidence import FactValue
from ppagent.sglang.stated_version import stated_version
from ppagent_tools.reading import tidy
from ppagent_tools.stated_words import BETWEEN, COUNT, FIGURE, figure, range_of

Facts = dict[str, FactValue]

_A_STAGE = r"\s+(?:per|on (?:each|every)|in each|a)\s+(?:PP |pipeline )?stage"
_PER_STAGE = re.compile(
    rf"(?P<low>{COUNT})(?:{BETWEEN}(?P<high>{COUNT}))?\s+running(?: requests?)?{_A_STAGE}"
    rf"|running-req\w*\s*(?:is |of |at |: ?|=)?\s*(?P<low2>{FIGURE})(?:{BETWEEN}(?P<high2>{FIGURE}))?{_A_STAGE}",
    re.IGNORECASE,
)
_LAYERS = re.compile(
    rf"\b(?P<count>{FIGURE})[ -](?:transformer |hidden |decoder )?layers?\b(?!\s*(?:per|each|a stage|on (?:each|the)))",
    re.IGNORECASE,
)
_STAGES = re.compile(
    rf"\b(?P<count>{COUNT})[ -](?:PP |pipeline )?stages?\b|\bPP\s?-?(?P<pp>\d{{1,3}})\b", re.IGNORECASE
)
_STAGE_TIME = re.compile(
    rf"stages?\s+(?:take|need|last)s?\s+(?:about )?(?P<low>{FIGURE})(?:{BETWEEN}(?P<high>{FIGURE}))?\s?ms",
    re.IGNORECASE,
)
_CPU = re.compile(
    r"(?P<who>scheduler|detokenizer|tokenizer|python|CPU|core|process|thread)\w*\b(?:(?!GPU)[^.;%]){0,40}?"
    rf"(?P<percent>{FIGURE})\s?%|(?P<percent2>{FIGURE})\s?%\s*(?:of (?:a|one) )?(?:CPU|core)",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"\b(?P<what>TTFT|TPOT|ITL|time to first token|inter-token latency)\b[^.;\d]{0,20}"
    rf"(?P<value>{FIGURE})\s?(?P<unit>ms|s|seconds?)\b",
    re.IGNORECASE,
)
_FLAG = re.compile(r"(?<![\w-])--[a-z][\w-]*(?:=[^\s,;]*[^\s,;.]| \d[\w.]*\w|\ \d)?")
_TIMES = {
    "ttft": "stated.ttft_ms",
    "time to first token": "stated.ttft_ms",
    "tpot": "stated.tpot_ms",
    "itl": "stated.itl_ms",
    "inter-token latency": "stated.itl_ms",
}


def stated_figures(sentence: str) -> Facts:
    """Facts in one sentence that are neither about load nor about the cards."""
    return _per_stage(sentence) | _shape(sentence) | _cpu(sentence) | _times(sentence) | _setting(sentence)


def _per_stage(sentence: str) -> Facts:
    match = _PER_STAGE.search(sentence)
    if match is None:
        return {}
    return {"stated.running_per_stage": range_of(match["low"] or match["low2"], match["high"] or match["high2"]).fact}


def _shape(sentence: str) -> Facts:
    facts: Facts = {}
    if layers := _LAYERS.search(sentence):
        facts["stated.layers"] = int(figure(layers["count"]))
    stages = _STAGES.search(sentence)
    count = figure(stages["count"] or stages["pp"]) if stages else 0
    if count > 1:
        facts["stated.stages"] = int(count)
    if taken := _STAGE_TIME.search(sentence):
        facts["stated.stage_ms"] = range_of(taken["low"], taken["high"]).fact
    return facts


def _cpu(sentence: str) -> Facts:
    facts: Facts = {}
    if not re.search(r"\bCPU|\bcores?\b|scheduler|tokenizer|\bthread", sentence, re.IGNORECASE):
        return facts
    for match in _CPU.finditer(sentence):
        who = (match["who"] or "").lower()
        named = "tokenizer_" if "tokenizer" in who else "scheduler_" if who == "scheduler" else ""
        facts.setdefault(f"stated.{named}cpu_percent", tidy(figure(match["percent"] or match["percent2"])))
    return facts


def _times(sentence: str) -> Facts:
    facts: Facts = {}
    for match in _TIME.finditer(sentence):
        factor = 1 if match["unit"].lower() == "ms" else 1000
        facts.setdefault(_TIMES[match["what"].lower()], tidy(figure(match["value"]) * factor))
    return facts


def _setting(sentence: str) -> Facts:
    facts: Facts = {}
    flags: list[FactValue] = list(dict.fromkeys(_FLAG.findall(sentence)))
    if flags:
        facts["stated.flags"] = flags
    if version := stated_version(sentence):
        facts |= {"engine.version": version, "engine.source": "stated"}
    return facts
