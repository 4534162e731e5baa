"""Whether a change leaves answers as they were: the same prompts, greedy, before and after.

Greedy answers of one server can differ from run to run by themselves, since the numbers of a batch depend on who shares
it. So the old setting answers twice, and only where those two agree does a difference say anything.
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from random import Random
from typing import Literal

from ppagent.bench.control import Control
from ppagent.bench.prompts import words_text

Sameness = Literal["identical", "changed", "cannot tell"]
PROMPTS = 4
PROMPT_WORDS = 24
TOKENS = 16
SEED = 20_011
TIMEOUT_S = 300.0


@dataclass
class OutputCheck:
    """Answers to fixed prompts, by the phase they were given in."""

    control: Control
    tokens: int = TOKENS
    answers: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def ask(self, phase: str) -> None:
        """Asks all prompts at once. Raises ToolError where one is not answered."""
        prompts = [words_text(Random(SEED + n), PROMPT_WORDS) for n in range(PROMPTS)]
        with ThreadPoolExecutor(PROMPTS) as pool:
            self.answers[phase] = tuple(pool.map(self._answer, prompts))

    def _answer(self, prompt: str) -> str:
        sampling = {"temperature": 0.0, "max_new_tokens": self.tokens, "ignore_eos": True}
        body: Mapping[str, object] = {"text": prompt, "sampling_params": sampling}
        return str(self.control.generate(body, TIMEOUT_S).get("text"))


def sameness(before: tuple[str, ...], again: tuple[str, ...], after: tuple[str, ...]) -> tuple[Sameness, str]:
    """`before` and `again` are the old setting's answers, `after` the new one's."""
    if not before or len(before) != len(after) or len(before) != len(again):
        return "cannot tell", "not every prompt was answered under both settings"
    if before != again:
        varied = sum(1 for one, two in zip(before, again, strict=True) if one != two)
        return "cannot tell", f"{varied} of {len(before)} greedy answers vary under one setting already"
    differing = sum(1 for one, two in zip(before, after, strict=True) if one != two)
    if differing:
        return "changed", f"{differing} of {len(before)} greedy answers differ under the new setting"
    return "identical", f"{len(before)} greedy answers are the same under both settings"
