"""Which causes a person means who names none: the words people use, and the causes of the list they stand for."""

import re
from dataclasses import dataclass

from ppagent.agent.board import Board, Hypothesis

_CAUSE_ID = re.compile(r"\b[A-Za-z]{2}\d{3}\b")
_HYPOTHESIS_ID = re.compile(r"\b[Hh]\d{1,3}\b")


@dataclass(frozen=True)
class Topic:
    """A subject that people ask about."""

    name: str
    pattern: re.Pattern[str]
    causes: tuple[str, ...]


def _topic(name: str, causes: str, pattern: str) -> Topic:
    return Topic(name, re.compile(rf"\b(?:{pattern})", re.IGNORECASE), tuple(causes.split()))


NETWORK = "the network"
TOPICS = (
    _topic(
        "the pipeline's slots", "PP001 PP003 PP002", r"pipelin|micro-?\s?batch|bubble|slots?\b|stages? (?:wait|idle)"
    ),
    _topic(
        "uneven stages",
        "PP004",
        r"uneven|imbalanced? (?:stage|layer)|layer (?:split|partition)|slow(?:est|er|) stage|lm.?head"
        r"|stage \d+ (?:is |so |much )*slow|(?:last|first) stage|one stage",
    ),
    _topic("hanging stages", "PP008", r"hang(?:s|ing)?\b|hung\b|dead.?lock|stuck"),
    _topic("the parallel shape", "PP009 IC001", r"wrong (?:axis|shape)|tp (?:instead|rather)|tensor parallel"),
    _topic("CUDA graphs", "CG001 CG002 CG003 CG005", r"(?:cuda.?)?graphs?\b|launch overhead|kernel launch"),
    _topic("the KV pool", "KV001 KV002 KV003", r"kv\b|kv.?cache|memory pool|retract"),
    _topic("the cards' memory", "LA003 KV001 KV003", r"memory(?! pool)|vram|oom\b|model (?:is )?too (?:big|large)"),
    _topic("the prefix cache", "KV004", r"prefix|radix|cache hit"),
    _topic("links between the cards", "IC001 IC002 IC004 IC006", r"pcie|nvlink|all.?reduce|nccl|interconnect|p2p\b"),
    _topic(
        "the cards' power or heat",
        "HW001 HW002",
        r"power (?:cap|limit)|throttl|thermal|overheat|temperatures?\b|hot\b|clocks?\b",
    ),
    _topic("a bad or unequal card", "HW004 HW003", r"(?:bad|broken|faulty|failing|unequal) (?:gpu|card)|xid|ecc"),
    _topic("the hardware", "HW001 HW002 HW003 HW004 IC004", r"hardware|hw\b"),
    _topic(
        NETWORK,
        "IC005 PD001",
        r"network|nics?\b|mellanox|connect-?x|infiniband|ethernet|rdma|roce\b|ib\b|between (?:the )?(?:nodes|hosts)",
    ),
    _topic("the host", "CP001 CP003", r"cpu|host.?bound|gil\b|python overhead|numa"),
    _topic("the tokenizer", "CP002", r"(?:de)?tokeni[sz]er"),
    _topic("structured output", "CP004", r"grammar|structured output|json schema|guided"),
    _topic(
        "the load",
        "LB001 PP002",
        r"clients?\b|few requests|load too low|not enough (?:load|requests|traffic)|offered load",
    ),
    _topic("balance between ranks", "LB002 LB003", r"dp rank|data.?parallel|balanc|expert"),
    _topic("prefill", "PR001 PP005 PP006", r"prefill|long prompts?|ttft|chunked"),
    _topic("the attention backend", "KR001", r"attention (?:backend|kernel)|flash.?infer|fa[34]\b|flash.?attention"),
    _topic("the kernels of the experts", "KR002", r"moe\b|experts? kernels?|fused.?moe|untuned"),
    _topic("the quantised kernels", "KR003", r"quanti[sz]|fp8|(?:nv)?fp4|awq|gptq|int[48]\b"),
    _topic("the kernels", "KR001 KR002 KR003", r"kernels?\b"),
    _topic("speculation", "SP001 SP002 SP003", r"speculat|draft|eagle|mtp\b|accept"),
    _topic("disaggregation", "PD001", r"disaggregat|kv transfer|mooncake"),
    _topic("a misread figure", "ME001", r"misread|wrong(?:ly)? measured|measur\w+ (?:wrong|error)"),
)


def topics_in(text: str) -> tuple[Topic, ...]:
    """The subjects that `text` speaks of."""
    return tuple(topic for topic in TOPICS if topic.pattern.search(text))


def hypotheses_named(text: str, board: Board) -> tuple[Hypothesis, ...]:
    """Hypotheses that `text` names by id, or by (most of) the words of their name."""
    ids = {match.upper() for match in (*_CAUSE_ID.findall(text), *_HYPOTHESIS_ID.findall(text))}
    by_id = tuple(h for h in board.hypotheses if h.cause_id in ids or h.id in ids)
    if by_id:
        return by_id
    words = _stems(text)
    named = [(len(stems), h) for h in board.hypotheses if (stems := _stems(h.judgement.cause.name)) <= words]
    most = max((count for count, _ in named), default=0)
    return tuple(h for count, h in named if count == most and count > 1)


def telling(topic: Topic, board: Board) -> Hypothesis | None:
    """The hypothesis that tells most about a subject: a supported one, else one that is not ruled out, else the first
    of its causes."""
    known = all_of(topic, board)
    supported = [h for h in known if h.state == "supported"]
    undecided = [h for h in known if h.state != "refuted"]
    return next(iter(supported or undecided or known), None)


def all_of(topic: Topic, board: Board) -> tuple[Hypothesis, ...]:
    """Every hypothesis that a subject stands for."""
    return tuple(h for cause in topic.causes if (h := board.of(cause)) is not None)


def _stems(text: str) -> frozenset[str]:
    """Words without their endings, short and empty ones left out."""
    words = re.findall(r"[a-z0-9]+", text.lower())
    return frozenset(word[:6] for word in words if len(word) > 2 and word not in ("the", "too", "off", "and", "not"))
