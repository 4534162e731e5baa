"""What a user says of the cards: how many of which, what they draw, how busy they look."""

import re

from ppagent.evidence.evidence import FactValue
from ppagent_tools.reading import tidy
from ppagent_tools.stated_words import BETWEEN, COUNT, FIGURE, Span, figure, range_of, ranges

Facts = dict[str, FactValue]

GPU = (
    r"(?:NVIDIA |GeForce |AMD )?(?:"
    r"RTX (?:PRO \d{4}|\d{4} PRO)(?: Blackwell)?(?: (?:Max-Q|Server|Workstation)(?: Edition)?)?"
    r"|RTX A?\d{4}(?: Ada| Ti)?"
    r"|[HBL]\d{2,3}S?(?: (?:SXM\d?|PCIe|NVL))?|GB\d{3}|A100(?:[ -]\d+ ?GB?)?|A40|A10G?|A6000|V100|T4|MI\d{3}X?"
    r"|\b[345]0[89]0(?: Ti)?)"
)
_HOSTS = r"(?:GPU\s+)?(?:nodes|hosts|boxes|machines|servers)\b"
_CARDS = re.compile(rf"\b(?P<count>{COUNT})\s*(?:x|×|\s)\s*(?P<model>{GPU})s?\b(?P<hosts>\s+{_HOSTS})?", re.IGNORECASE)
"""`2 H100 machines` counts the machines and not their cards."""
_NODES = re.compile(
    rf"\b(?P<nodes>{COUNT})\s*(?:nodes?|hosts?|boxes)?\s*(?:x|×|of|with)\s*(?P<cards>{COUNT})\s*(?:x|×|\s)\s*{GPU}",
    re.IGNORECASE,
)
_PLAIN = re.compile(rf"\b(?P<count>{COUNT})\s*(?:x\s*)?(?:GPUs|cards)\b", re.IGNORECASE)
_WATT = r"W(?:atts?)?\b"
_OUT_OF = re.compile(
    rf"(?P<low>{FIGURE})(?:{BETWEEN}(?P<high>{FIGURE}))?\s*(?P<unit>{_WATT})?\s*(?:out )?of\s*(?P<limit>{FIGURE})"
    rf"\s*(?P<unit2>{_WATT})?(?!\s*(?:%|GB|GiB|MiB|GPU|req|tok|lay|card))",
    re.IGNORECASE,
)
_LIMIT = re.compile(
    rf"(?:cap(?:ped)?|limit(?:ed)?|max(?:imum)?|TDP)\s*(?:is |of |at |to |: ?|= ?)?(?P<after>{FIGURE})\s*{_WATT}"
    rf"|(?P<before>{FIGURE})\s*{_WATT}\s*(?:max\b|limit|cap\b|TDP)",
    re.IGNORECASE,
)
_DEFAULT_LIMIT = re.compile(rf"default\s*(?:is |of |: ?)?(?P<watts>{FIGURE})\s*(?:W\b|\))", re.IGNORECASE)
_AT_REST = re.compile(r"\bidle\b|snapshot|at rest|nothing running|without load|\b0 ?% ?(?:gpu )?util", re.IGNORECASE)
_USE = r"%\s*(?:GPU |SM |of )?(?:util\w*|usage|busy)"
_USE_AFTER = re.compile(
    r"(?<!CPU )\b(?:GPU |SM )?util(?:i[sz]ation)?\b\s*(?:is |of |at |on |: ?|= ?|stays? at |around |about |only )*~?"
    rf"(?P<low>{FIGURE})\s*%?(?:{BETWEEN}(?P<high>{FIGURE}))?\s*%",
    re.IGNORECASE,
)
_OTHER_USE = re.compile(r"(?:token|KV|cache|CPU|memory)\s+(?:\w+\s+)?$", re.IGNORECASE)
LEAST_LIMIT_W, MOST_LIMIT_W = 150, 1500


def cards(text: str) -> tuple[int | None, str]:
    """Number and model of GPUs in words such as `8x NVIDIA RTX PRO 6000 Blackwell` or `2 nodes x 8 H100`."""
    match, several = _CARDS.search(text), _NODES.search(text)
    if match is not None and match["hosts"] and not several:
        return None, _named(match["model"])
    if match is not None:
        count = figure(several["nodes"]) * figure(several["cards"]) if several else figure(match["count"])
        return int(count), _named(match["model"])
    plain, alone = _PLAIN.search(text), re.search(rf"\b{GPU}", text, re.IGNORECASE)
    return int(figure(plain["count"])) if plain else None, _named(alone.group()) if alone else ""


def _named(model: str) -> str:
    """A model by its own name: RTX 6000 PRO, as many write it, is the RTX PRO 6000, and no RTX 6000."""
    return re.sub(r"RTX (\d{4}) PRO\b", r"RTX PRO \1", model.strip(), flags=re.IGNORECASE)


def stated_gpus(sentence: str) -> Facts:
    """Facts about the cards in one sentence."""
    return _cards(sentence) | _power(sentence) | _utilization(sentence)


def _cards(sentence: str) -> Facts:
    count, model = cards(sentence)
    facts: Facts = {} if count is None else {"stated.gpu_count": count}
    if model and (count is not None or re.match(r"NVIDIA|RTX|GeForce|AMD", model, re.IGNORECASE)):
        facts["stated.gpu_model"] = model
    return facts


def _power(sentence: str) -> Facts:
    facts: Facts = {}
    drawn, limit = _watts_of(sentence)
    if limit is None and (limited := _LIMIT.search(sentence)):
        limit = figure(limited["after"] or limited["before"])
    if limit is not None:
        facts["stated.power_limit_w"] = tidy(limit)
    if default := _DEFAULT_LIMIT.search(sentence):
        facts["stated.power_default_limit_w"] = tidy(figure(default["watts"]))
    limits = set(facts.values())
    drawn = drawn or next((span for span in ranges(sentence, _WATT) if tidy(span.high) not in limits), None)
    if drawn is None:
        return facts
    if _AT_REST.search(sentence):
        return facts | {"stated.idle_power_w": tidy(drawn.middle)}
    return facts | {"stated.power_w": drawn.fact}


def _watts_of(sentence: str) -> tuple[Span | None, float | None]:
    """`150-200 W of 600 W`. Without a unit only where the words are those of power and the last figure could be a
    card's limit, which no share in percent is."""
    for match in _OUT_OF.finditer(sentence):
        limit = figure(match["limit"])
        drawn = range_of(match["low"], match["high"], match.start(), match.end())
        possible = LEAST_LIMIT_W <= limit <= MOST_LIMIT_W and drawn.high < limit
        spoken = possible and re.search(r"gpu|card|power|draw", sentence, re.IGNORECASE)
        if match["unit"] or match["unit2"] or spoken:
            return drawn, limit
    return None, None


def _utilization(sentence: str) -> Facts:
    before = [span for span in ranges(sentence, _USE) if not _OTHER_USE.search(sentence[: span.start])]
    if before:
        return {"stated.utilization": before[0].fact}
    after = _USE_AFTER.search(sentence)
    return {"stated.utilization": range_of(after["low"], after["high"]).fact} if after else {}
