"""How much an investigation may cost, and what it has cost."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ppagent.evidence.counts import agreeing


@dataclass(frozen=True)
class Cost:
    """What was spent."""

    seconds: float = 0.0
    steps: int = 0
    """Questions chosen, denied ones included."""
    tool_calls: Mapping[str, int] = field(default_factory=dict)
    """By grade, questions asked."""
    tokens: int = 0
    usd: float = 0.0


@dataclass(frozen=True)
class Budget:
    """Limits of one investigation."""

    steps: int = 60
    seconds: float = 900.0
    usd: float = 2.0
    tokens: int = 200_000
    """Of a model, its prompts and its replies."""

    def used_up(self, cost: Cost) -> str:
        """Which limit is reached, in words; empty while there is something left."""
        if cost.steps >= self.steps:
            return agreeing(f"the budget of {self.steps} steps is used up")
        if cost.seconds >= self.seconds:
            return f"the budget of {self.seconds:g} s is used up"
        if cost.usd > 0 and cost.usd >= self.usd:
            return f"the budget of {self.usd:g} USD is used up"
        if cost.tokens >= self.tokens:
            return f"the budget of {self.tokens} tokens is used up"
        return ""
