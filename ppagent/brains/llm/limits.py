"""How far a model may go: a share of the investigation's budget, so that the rules can always finish the board."""

from dataclasses import dataclass

from ppagent.agent.choosing import Usage, View
from ppagent.brains.llm.model import Spent
from ppagent.brains.llm.prices import Prices

MOST_CALLS = 40
"""Of the model in one investigation, whatever the budget."""
SECONDS_KEPT = 0.1
"""Share of the time that is kept for the rules."""


@dataclass(frozen=True)
class Allowance:
    """What is left for the model."""

    seconds: float
    tokens: int
    usd: float
    over: str = ""
    """Which limit is reached, in words; empty while there is something left."""
    used_up: bool = False
    """Whether that is a limit of the whole investigation, not only the model's share of it."""

    def too_dear(self, prompt_tokens: int, reply_tokens: int, prices: Prices) -> str:
        """Which limit one more exchange could break, in words; empty for none."""
        if prompt_tokens + reply_tokens > self.tokens:
            return f"{self.tokens} tokens are left, which is less than the next exchange may take"
        dearest = prices.usd(Spent(prompt_tokens, reply_tokens))
        if dearest > self.usd:
            return f"{self.usd:.4f} USD are left, which is less than the next exchange may cost"
        return ""


def allowance(view: View, usage: Usage, calls: int) -> Allowance:
    """What the model may still use of the budget."""
    budget, cost = view.budget, view.cost
    seconds = budget.seconds * (1 - SECONDS_KEPT) - cost.seconds
    tokens, usd = budget.tokens - usage.tokens, budget.usd - usage.usd
    kept = min(sum(offer.grade <= view.ceiling for offer in view.unasked()), budget.steps // 2)
    over, used_up = "", False
    if calls >= MOST_CALLS:
        over = f"it was asked {calls} times"
    elif budget.steps - cost.steps <= kept:
        over = f"the last {kept} of {budget.steps} questions are kept for the rules"
    elif seconds <= 0:
        over = f"its share of {budget.seconds:g} s is used up"
    elif tokens <= 0 or (usage.usd > 0 and usd <= 0):
        over, used_up = "the budget for the model is used up", True
    return Allowance(max(seconds, 0.0), tokens, usd, over, used_up)
