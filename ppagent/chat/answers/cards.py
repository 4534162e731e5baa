"""Which card is the odd one? All cards side by side, and what was found about cards."""

from ppagent.agent.investigation import Investigation
from ppagent.chat.answers.card import ABOUT_CARDS, FIGURES, UTILISATION
from ppagent.chat.answers.cause import cause_in_short
from ppagent.chat.wording import tagged
from ppagent.evidence.facts import Facts
from ppagent.report.lines import Line, wrapped

MOST = 16
NOT_SAMPLED = "No card was sampled here, so they cannot be told apart: nvidia-smi dmon -s pucvt -c 30 would show them."


def cards_lines(found: Investigation, width: int) -> list[Line]:
    """A row for each card, then the causes that are about cards, the unlikely ones left out."""
    lines = _table(found.facts, width) or wrapped(NOT_SAMPLED, width, tone="verdict")
    known = [h for cause_id in ABOUT_CARDS if (h := found.board.of(cause_id)) is not None]
    for hypothesis in sorted(known, key=lambda h: h.state != "supported"):
        lines += wrapped(f"{cause_in_short(hypothesis)}.", width, "  ")
    return lines


def _table(facts: Facts, width: int) -> list[Line]:
    by_name = {name: facts.numbers(name) for name, _ in FIGURES}
    cards = list(dict.fromkeys(card for values in by_name.values() for card in values))
    if not cards:
        return []
    head = tagged("The cards as they were sampled, on average", facts.cite(*(n for n, v in by_name.items() if v)))
    lines = wrapped(f"{head}:", width, tone="verdict")
    for card in cards[:MOST]:
        figures = [form.format(by_name[name][card]) for name, form in FIGURES if card in by_name[name]]
        lines += wrapped(", ".join(figures), width, f"  GPU {card:<3} ")
    if len(cards) > MOST:
        lines.append(Line(f"  and {len(cards) - MOST} more", "dim"))
    return [*lines, *wrapped(UTILISATION, width, "  ")]
