"""What a request costs: tokens as the server counts them, else estimated, and money by the prices of the profile."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ppagent.brains.llm.model import Reply, Spent

CHARACTERS_PER_TOKEN = 3.5
"""English and JSON with figures, rounded to the side of more tokens. Servers that send no usage are counted so."""


@dataclass(frozen=True)
class Prices:
    """USD per million tokens; 0 where a model costs nothing or its price is not known."""

    usd_per_million_input: float = 0.0
    usd_per_million_output: float = 0.0

    def usd(self, spent: Spent) -> float:
        whole = spent.prompt_tokens * self.usd_per_million_input + spent.completion_tokens * self.usd_per_million_output
        return whole / 1_000_000


def tokens_in(text: str) -> int:
    """About how many tokens `text` is."""
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)


def estimated(body: Mapping[str, Any], reply: Reply) -> Spent:
    """Tokens of a request and its reply, by their length as JSON."""
    asked = json.dumps([body.get("messages"), body.get("tools"), body.get("response_format")], ensure_ascii=False)
    answered = reply.text + reply.reasoning + "".join(f"{c.name} {c.arguments}" for c in reply.calls)
    return Spent(tokens_in(asked), tokens_in(answered), estimated=True)
