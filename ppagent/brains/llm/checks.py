"""What a sentence of the model is held against before it may stand in a report: its evidence, its figures, its flags,
and that it tells no one to run or reach anything."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from ppagent.agent.board import Board
from ppagent.brains.llm.figures import made_up
from ppagent.evidence.evidence import Evidence
from ppagent.evidence.masking import mask
from ppagent.evidence.quoting import quotable

LONGEST = 400
"""Characters of one statement."""
MOST_CITED = 12

_FLAG = re.compile(r"(?<![\w-])--[A-Za-z][\w-]*")
_CAUSE = re.compile(r"\b[A-Z]{2}\d{3}\b")
_EVIDENCE = re.compile(r"\bE\d+\b")
_ADDRESS = re.compile(
    r"\w+://|\bwww\.|\b\d{1,3}(?:\.\d{1,3}){3}\b|(?<![\w.])(?:[0-9a-f]{0,4}:){3,}[0-9a-f]{0,4}|\S+@\S+\.\w"
    r"|\b[\w-]+(?:\.[\w-]+)*\.(?:com|net|org|io|ai|dev|sh|xyz|cn|ru|example|test|local|internal|invalid|onion)\b",
    re.IGNORECASE,
)
_COMMAND = re.compile(
    r"\b(?:curl|wget|sudo|ssh|scp|rsync|ncat|chmod|chown|mkfs|systemctl|kubectl|docker|pip3?|conda|apt|yum|eval|exec"
    r"|source|export|kill|pkill|killall|reboot|shutdown|nvidia-smi|python3?|bash|powershell)\s+[-\w/.]"
    r"|\brm\s+-|\bdd\s+if=|[|;&]\s*(?:sh|bash)\b|\$\(|`|&&|(?:^|\s)~?/(?:[\w.-]+/)*[\w.-]+",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Statement:
    """A sentence and the ids that it cites, as the model wrote them."""

    says: str
    cites: tuple[str, ...]


@dataclass(frozen=True)
class Grounds:
    """What statements are held against."""

    evidence: Sequence[Evidence]
    flags: Collection[str]
    """Every spelling that the installed version knows; empty where the version is not known."""
    causes: Collection[str]

    def cited(self, ids: Iterable[str]) -> list[Evidence]:
        wanted = set(ids)
        return [item for item in self.evidence if item.id in wanted]


def tidied(says: str) -> str:
    """The sentence on one line, without control characters, with secrets masked."""
    return quotable(mask(" ".join(quotable(says, 4 * LONGEST).split())), LONGEST + 1).rstrip(".")


def problems(statement: Statement, grounds: Grounds, also: Iterable[float] = ()) -> list[str]:
    """What is wrong with a statement, in sentences for the model; empty where nothing is.

    `also` are figures that it may name without evidence: those of the change that it proposes.
    """
    if not statement.says:
        return ["it says nothing"]
    if len(statement.says) > LONGEST:
        return [f"it is longer than {LONGEST} characters"]
    return [
        *_wrong_cites(statement, grounds),
        *_wrong_words(statement, grounds),
        *_wrong_figures(statement, grounds, also),
    ]


def _wrong_cites(statement: Statement, grounds: Grounds) -> list[str]:
    known = {item.id: item for item in grounds.evidence}
    unknown = [cite for cite in statement.cites if cite not in known]
    unquoted = [cite for cite in statement.cites if cite in known and not known[cite].excerpt]
    uncited = sorted(set(_EVIDENCE.findall(statement.says)) - set(statement.cites))
    wrong = [] if statement.cites else ["it cites no evidence"]
    wrong += [f"it cites more than {MOST_CITED} pieces of evidence"] if len(statement.cites) > MOST_CITED else []
    wrong += [f"there is no evidence {', '.join(unknown)}"] if unknown else []
    wrong += [f"{', '.join(unquoted)} holds no quote to stand on"] if unquoted else []
    return wrong + ([f"it names {', '.join(uncited)} without citing it"] if uncited else [])


def _wrong_words(statement: Statement, grounds: Grounds) -> list[str]:
    wrong = [f"this version has no flag {flag}" for flag in _FLAG.findall(statement.says) if flag not in grounds.flags]
    wrong += [f"there is no cause {cause}" for cause in _CAUSE.findall(statement.says) if cause not in grounds.causes]
    if says_to_act(statement.says):
        wrong.append("it holds a command, a path or an address; changes are proposed with propose")
    return wrong


def says_to_act(says: str) -> bool:
    """Whether a sentence holds something to run or to reach."""
    return _ADDRESS.search(says) is not None or _COMMAND.search(says) is not None


def _wrong_figures(statement: Statement, grounds: Grounds, also: Iterable[float]) -> list[str]:
    wrong = made_up(statement.says, grounds.cited(statement.cites), also)
    if not wrong:
        return []
    return [f"the evidence it cites does not hold {', '.join(dict.fromkeys(wrong))}"]


def named_causes(says: str, board: Board, allowed: Collection[str] = ()) -> list[str]:
    """Causes that a sentence names, by id or by all words of their name, besides the allowed and the supported ones."""
    words = set(re.findall(r"[a-z0-9]+", says.lower()))
    return [
        h.cause_id
        for h in board.hypotheses
        if h.state != "supported"
        and h.cause_id not in allowed
        and (h.cause_id in says or set(re.findall(r"[a-z0-9]+", h.judgement.cause.name.lower())) <= words)
    ]
