"""What a person means, as far as rules can tell: a few kinds of question, told apart by the words they use."""

import re
from typing import Literal

from ppagent.chat.answers.setting import read_setting
from ppagent.chat.answers.topics import topics_in

Answer = Literal["yes", "no", "go_on", "greeting"]
Question = Literal["what_if", "flag", "compare", "cause", "change", "evidence", "why", "told", "cannot"]
Kind = Answer | Question

_YES = re.compile(r"(?:y|yes|yep|sure|ok(?:ay)?|please do|do it|go ahead)[.! ]*", re.I)
_NO = re.compile(r"(?:n|no|nope|not now|don'?t)[.! ]*", re.I)
_GREETING = re.compile(r"(?:hi|hello|hey|thanks?|thank you|thx)\b.{0,20}", re.I)
_GO_ON = re.compile(r"(?:go on|continue|carry on|keep (?:going|looking)|look (?:again|further))\b.{0,20}", re.I)
_SHORT: dict[Answer, re.Pattern[str]] = {"yes": _YES, "no": _NO, "go_on": _GO_ON, "greeting": _GREETING}
_WHAT_IF = re.compile(
    r"\bwhat (?:if|would|happens|about)|\bpredict|\bforecast|\bwould (?:it|that|this|setting|--)"
    r"|\b(?:if|when) (?:i|we|you) (?:set|use|raise|lower|turn|switch|drop|remove|add|had|have)"
    r"|\bhow (?:much|fast)\b.*\b(?:with|if|at)\b|\b(?:does|would|will)\b.*\b(?:help|gain|be faster)\b",
    re.I,
)
_EXPLAINS = re.compile(
    r"\bwhat(?:'?s| is| does| do| are)\b|\bexplain|\bmean|\bdescribe|\bhelp\b|^--[\w-]+\s*\??$", re.I
)
_COMPARE = re.compile(
    r"\bcompare|\b(?:than|with|since|to) (?:before|last|then|yesterday|earlier|previous)|\bwhat (?:has )?changed\b"
    r"|\blast (?:time|session)|\bany better\b|\bprevious session",
    re.I,
)
_CHANGE = re.compile(
    r"\bwhat (?:should|can|could|shall|do|must|to) (?:i|we)?\s?(?:change|do|set|try|run|relaunch)"
    r"|\bhow (?:do|can|to|should)\b"
    r"|\bfix\b|\brecommend|\bsuggest|\bpropos|\brelaunch|\bremed|\bcures?\b|\bwhat now\b|\bnext step",
    re.I,
)
_ASKS_CAUSE = re.compile(
    r"^(?:so |and |but )?(?:is|are|was|were|could|can|might|may|do|does|isn'?t|aren'?t)\b|\bcauses?d?\b|\bbecause of\b"
    r"|\bblame|\bis it\b|\bwhy not\b|\bwhat about\b|\bfault\b|\bto do with\b|\bculprit\b",
    re.I,
)
_CAUSE_ID = re.compile(r"\b(?:[A-Za-z]{2}\d{3}|H\d{1,3})\b")
_EVIDENCE = re.compile(r"\bE\d{1,3}\b")
_WHY = re.compile(
    r"\bwhy\b|\bslow|\butil|\bbottleneck|\blimit(?:s|ed|ing)\b|\bwhat(?:'?s| is) (?:wrong|going on|happening)"
    r"|\bdiagnos|\binvestigat|\blook (?:into|at)\b|\bidle\b|\bno sense\b|\bthroughput|\blatency|\bfaster\b|\btok/?s"
    r"|\bstuck\b|\bhang|\bcrash|\bwrong\b|\bproblem|\bnot properly\b|\bexpect",
    re.I,
)


def meaning(text: str, *, looked: bool) -> Kind:
    """The kind of question that `text` is. `looked`: whether an investigation has been made, before which nearly
    everything is a reason to make one."""
    short = next((kind for kind, pattern in _SHORT.items() if pattern.fullmatch(text.strip())), None)
    if short is not None:
        return short
    return _about_settings(text) or _about_causes(text) or _other(text, looked)


def _about_settings(text: str) -> Kind | None:
    setting = read_setting(text)
    if not setting.empty and (_WHAT_IF.search(text) or "?" in text):
        return "what_if"
    if setting.named and (_EXPLAINS.search(text) or _WHAT_IF.search(text) or "?" in text):
        return "flag"
    if _WHAT_IF.search(text) and setting.concurrency is not None:
        return "what_if"
    return None


def _about_causes(text: str) -> Kind | None:
    if _COMPARE.search(text):
        return "compare"
    if _CAUSE_ID.search(text):
        return "cause"
    if _CHANGE.search(text):
        return "change"
    if _EVIDENCE.search(text):
        return "evidence"
    if topics_in(text) and _ASKS_CAUSE.search(text):
        return "cause"
    return None


def _other(text: str, looked: bool) -> Kind:
    if re.search(r"\bwhat if\b", text, re.I):
        return "what_if"
    if _WHY.search(text):
        return "why"
    if not looked and len(text.split()) > 1:
        return "why"
    if topics_in(text) and "?" in text:
        return "cause"
    if re.search(r"\d", text):
        return "told"
    return "cannot"
