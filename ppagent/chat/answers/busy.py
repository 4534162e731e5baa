"""Why does nvidia-smi show so much (or so little)? What that figure is, and what tells work from waiting."""

from ppagent.agent.investigation import Investigation
from ppagent.chat.wording import tagged
from ppagent.report.lines import Line, wrapped

MEANS = (
    "The utilisation that nvidia-smi shows is the share of time in which some kernel ran on the card, and one that "
    "waits for another stage or card counts as well. Power tells work from waiting."
)


def busy_lines(found: Investigation, width: int) -> list[Line]:
    """The figure's meaning, each card's utilisation and power where they were sampled, and what was found."""
    facts = found.facts
    used, power, limit = (facts.table(name) for name in ("gpu.utilization", "gpu.power_w", "gpu.power_limit_w"))
    most = {card: f" of {_number(watts)} W" for card, watts in limit.items()}
    cards = [
        f"GPU {card} {_number(used[card])} %, {_number(power[card])} W{most.get(card, '')}"
        for card in used
        if card in power
    ]
    lines = wrapped(MEANS, width)
    if cards:
        cites = facts.cite("gpu.utilization", "gpu.power_w")
        lines += wrapped(tagged("; ".join(cards), cites) + ".", width, "  ")
    else:
        lines += wrapped("No card's power was sampled here under load.", width, "  ")
    return [*lines, *wrapped(f"Found here: {found.summary}", width, "  ")]


def _number(value: object) -> str:
    return f"{value:.0f}" if isinstance(value, int | float) else "?"
