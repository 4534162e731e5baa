"""What of GPU 3? One card as it was sampled, beside the others, and what it serves."""

import re
from statistics import median

from ppagent.agent.investigation import Investigation
from ppagent.chat.answers.cause import cause_and_state
from ppagent.chat.wording import tagged
from ppagent.evidence.facts import Facts
from ppagent.report.lines import Line, wrapped

CARD = re.compile(r"\b(?:gpu|card|cuda|device)\s?[#:]?\s?(\d{1,2})\b(?!\s*(?:%|gpus|gib|gb))", re.I)
FIGURES = (
    ("gpu.utilization", "{:.0f} % utilisation"),
    ("gpu.power_w", "{:.0f} W"),
    ("gpu.sm_clock_mhz", "{:.0f} MHz"),
    ("gpu.temperature_c", "{:.0f} C"),
)
ABOUT_CARDS = ("HW001", "HW002", "HW003", "HW004", "PP004")
UTILISATION = (
    "Utilisation alone tells little: a kernel that waits for another stage or card counts as work. Power tells more "
    "(why does nvidia-smi show 100 %?)."
)


def card_lines(found: Investigation, text: str, width: int) -> list[Line]:
    """The card that is named: its figures, the others' median, and what was found about cards."""
    match = CARD.search(text)
    card = match[1] if match is not None else ""
    facts = found.facts
    figures = [(name, form) for name, form in FIGURES if card in facts.numbers(name)]
    if not figures:
        lines = wrapped(_not_sampled(facts, card), width, tone="verdict")
    else:
        mine = ", ".join(form.format(facts.numbers(name)[card]) for name, form in figures)
        others = ", ".join(form.format(_median(facts.numbers(name), card)) for name, form in figures)
        rank = facts.table("gpu.ranks").get(card)
        holds = f" ({rank})" if rank else ""
        cites = facts.cite(*(name for name, _ in figures))
        says = f"GPU {card}{holds} as it was sampled, on average: {mine}; the median of the others: {others}"
        lines = wrapped(tagged(says, cites) + ".", width, tone="verdict")
        lines += wrapped(UTILISATION, width, "  ")
    for cause_id in ABOUT_CARDS:
        hypothesis = found.board.of(cause_id)
        if hypothesis is not None and hypothesis.state == "supported":
            lines += wrapped(f"{cause_and_state(hypothesis)}.", width, "  ")
    return [*lines, *wrapped(f"Found here: {found.summary}", width, "  ")]


def _not_sampled(facts: Facts, card: str) -> str:
    sampled = list(facts.numbers("gpu.utilization"))
    if sampled:
        return f"No GPU {card} was sampled: there are {', '.join(sampled)}."
    return f"No card was sampled here, so nothing is known of GPU {card}: nvidia-smi dmon -s pucvt -c 30 would show it."


def _median(by_card: dict[str, float], without: str) -> float:
    others = [value for card, value in by_card.items() if card != without]
    return median(others or by_card.values())
