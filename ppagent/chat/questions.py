"""What a person means, as far as rules can tell: a few kinds of question, told apart by the words they use."""

import re
from typing import Literal

from ppagent.chat import phrases as said
from ppagent.chat import phrases_on_call as on_call
from ppagent.chat.answers.card import CARD
from ppagent.chat.answers.launches import LAUNCH
from ppagent.chat.answers.levers import levers_in
from ppagent.chat.answers.setting import read_setting
from ppagent.chat.answers.shape import names_shape, shape_in
from ppagent.chat.answers.topics import NETWORK, topics_in
from ppagent.chat.answers.unheard import IS_IT, is_foreign
from ppagent.chat.answers.values import figure_in
from ppagent.chat.spelling import as_meant
from ppagent.errors import UserError
from ppagent.sglang.launch.find import find_launch
from ppagent.targets.pasted import read_pasted
from ppagent.targets.target import Artifact

Answer = Literal["yes", "no", "again", "go_on", "greeting"]
Aside = Literal["done", "safe", "sure", "means", "needs", "gain", "crowd", "now", "beyond", "restart", "self", "busy"]
"""Questions about what was said and done, and what lies beyond it."""
OnCall = Literal[
    "ran", "then", "watch", "nothing", "how_long", "card", "network", "log", "happened", "foretold", "keep",
    "restart_helps", "brief", "trouble", "cards", "value", "launch", "else",
]  # fmt: skip
"""Questions around the diagnosis, and what is pasted."""
Kind = (
    Answer
    | Aside
    | OnCall
    | Literal["what_if", "flag", "advice", "shape", "compare", "cause", "change", "proposal", "try", "evidence", "why"]
    | Literal["command", "unheard", "foreign", "told", "cannot"]
)

LONGEST = 4_000
"""Characters in which a question shows what it is; what comes behind them is pasted."""

SHORT = 3
"""Words in which a subject with a question mark asks whether that is it, and complains of nothing."""
LOG_LINES = 2
"""So many lines of a log are something pasted, and no question."""
LAUNCH_FLAGS, BARE_FLAGS = 2, 3
"""So many flags are pasted and not named: behind a launch, and by themselves."""
FLAG = re.compile(r"(?<!\S)--[a-z][\w-]+", re.I)
NO_PASTE = frozenset((Artifact.LAUNCH,))
"""What people write in a question as well as paste."""

_SHORT: dict[Answer, re.Pattern[str]] = {
    "yes": said.YES,
    "no": said.NO,
    "again": said.AGAIN,
    "go_on": said.GO_ON,
    "greeting": said.GREETING,
}
_ASIDES: dict[Aside | OnCall, re.Pattern[str]] = {
    "ran": on_call.RAN,
    "happened": on_call.HAPPENED,
    "foretold": on_call.FORETOLD,
    "keep": on_call.KEEP,
    "restart_helps": on_call.RESTART_HELPS,
    "brief": on_call.BRIEF,
    "trouble": on_call.TROUBLE,
    "cards": on_call.CARDS,
    "then": on_call.THEN,
    "watch": on_call.WATCH,
    "nothing": on_call.NOTHING,
    "how_long": on_call.HOW_LONG,
    "card": CARD,
    "restart": said.RESTART,
    "self": said.SELF,
    "busy": said.BUSY,
    "done": said.DONE,
    "safe": said.SAFE,
    "sure": said.SURE,
    "means": said.MEANS,
    "needs": said.NEEDS,
    "gain": said.GAIN,
    "crowd": said.CROWD,
    "now": said.NOW,
    "beyond": said.BEYOND,
}


def meaning(text: str, *, looked: bool) -> Kind:
    """The kind of question that `text` is. `looked`: whether an investigation has been made, before which nearly
    everything is a reason to make one."""
    meant = as_meant(text.strip()[:LONGEST])
    short = next((kind for kind, pattern in _SHORT.items() if pattern.fullmatch(meant)), None)
    if short is not None:
        return short
    if on_call.ELSE.fullmatch(meant):
        return "else"
    if is_launch(text):
        return "launch"
    if is_paste(text):
        return "log"
    if figure_in(meant) is not None:
        return "value"
    return _about_settings(meant) or _about_us(meant) or _about_causes(meant) or _other(meant, looked)


def is_paste(text: str) -> bool:
    """Whether lines of a log, of /metrics, of nvidia-smi and the like are pasted."""
    if len(said.LOG_LINE.findall(text)) >= LOG_LINES:
        return True
    pasted = read_pasted(text)
    return bool(set(pasted.artifacts) - NO_PASTE or pasted.metrics or pasted.bench)


def is_launch(text: str) -> bool:
    """Whether a launch command is pasted, or its flags alone, and no question that names some."""
    flags = len(FLAG.findall(text))
    if not LAUNCH.search(text):
        return flags >= BARE_FLAGS and not said.WHAT_IF.search(text) and not said.ADVICE.search(text)
    if flags < LAUNCH_FLAGS:
        return False
    try:
        find_launch(text)
    except UserError:
        return False
    return True


def _about_settings(text: str) -> Kind | None:
    setting, asking = read_setting(text), bool(said.ASKING.search(text))
    supposes, advice = bool(said.WHAT_IF.search(text)), bool(said.ADVICE.search(text))
    bare = setting.modelled and bool(on_call.BARE_SETTING.fullmatch(text))
    if bare or ((setting.modelled or (setting.others and not advice)) and (supposes or asking)):
        return "what_if"
    named = bool(setting.named or setting.others)
    called = bool(levers_in(text))
    if said.EXPLAINS.search(text) and not advice and (named or (called and said.WHAT_IS.fullmatch(text))):
        return "flag"
    if called and advice and not said.CAUSE_ID.search(text):
        return "advice"
    if setting.named and (supposes or asking):
        return "flag"
    shaped = bool(shape_in(text)) or (names_shape(text) and not said.WHY.search(text))
    if shaped and (asking or supposes or advice) and not said.COMPARE.search(text):
        return "shape"
    return "crowd" if supposes and setting.concurrency is not None else None


def _about_us(text: str) -> Kind | None:
    """Questions about what was said and done here."""
    if said.CAUSE_ID.search(text) and not said.EXPLAINS.search(text):
        return None
    if said.COMMAND.search(text) and not said.SAFE.search(text):
        return "command"
    if said.WHAT_IS_A.fullmatch(text) and (topics_in(text) or said.CAUSE_ID.search(text)):
        return "means"
    return next((kind for kind, pattern in _ASIDES.items() if pattern.search(text)), None)


def _about_causes(text: str) -> Kind | None:
    if said.TRY.search(text):
        return "try"
    if said.COMPARE.search(text):
        return "compare"
    if said.CAUSE_ID.search(text):
        return "cause"
    if said.PROPOSAL_ID.search(text):
        return "proposal"
    if said.CHANGE.search(text):
        return "change"
    if said.EVIDENCE_ID.search(text) or said.LOOKED_AT.search(text):
        return "evidence"
    topics = topics_in(text)
    asks = bool(said.ASKS_CAUSE.search(text))
    if asks and any(topic.name == NETWORK for topic in topics) and len(topics) == 1:
        return "network"
    heard = bool(on_call.HEARSAY.search(text)) and not re.search(r"\d", text)
    return "cause" if topics and (asks or heard) else None


def _other(text: str, looked: bool) -> Kind:
    if re.search(r"\bwhat if\b", text, re.I):
        return "what_if"
    if said.WHY.search(text):
        return "why"
    asking = bool(said.ASKING.search(text))
    if topics_in(text) and asking and (looked or len(text.split()) <= SHORT):
        return "cause"
    if is_foreign(text):
        return "foreign"
    if IS_IT.fullmatch(text):
        return "unheard"
    if not looked and len(text.split()) > 1:
        return "why"
    return "told" if re.search(r"\d", text) and not asking else "cannot"
