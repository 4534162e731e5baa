"""Whether a change leaves answers as they were: the same prompts, greedy, before and after.

Greedy answers of one server can differ from run to run by themselves, since the numbers of a batch depend on who shares
it. So the old setting answers twice, and only where those two agree does a difference say anything.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from threading import Thread
from typing import Literal

from ppagent.bench.control import Control
from ppagent.bench.prompts import words_text
from ppagent.errors import ToolError

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
        """Asks all prompts at once. Raises ToolError where one is not answered. An interrupt waits for none of them: a
        setting is to be put back, and a server that hangs would hold that up for as long as it may take."""
        asked = [_Asked(self.control, words_text(Random(SEED + n), PROMPT_WORDS), self.tokens) for n in range(PROMPTS)]
        for each in asked:
            each.start()
        for each in asked:
            each.join()
        self.answers[phase] = tuple(each.text() for each in asked)


class _Asked(Thread):
    """One prompt on its way; a daemon, so that the program can end without its answer."""

    def __init__(self, control: Control, prompt: str, tokens: int) -> None:
        super().__init__(name="answer", daemon=True)
        self._control, self._prompt, self._tokens = control, prompt, tokens
        self._answer: Mapping[str, object] | ToolError = {}

    def run(self) -> None:
        sampling = {"temperature": 0.0, "max_new_tokens": self._tokens, "ignore_eos": True}
        body: Mapping[str, object] = {"text": self._prompt, "sampling_params": sampling}
        try:
            self._answer = self._control.generate(body, TIMEOUT_S)
        except ToolError as error:
            self._answer = error

    def text(self) -> str:
        """The answer. Raises ToolError where there is none."""
        if isinstance(self._answer, ToolError):
            raise self._answer
        return str(self._answer.get("text"))


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
