"""Several levels one after the other on one server."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from ppagent.bench.control import Control
from ppagent.bench.endpoint import Endpoint
from ppagent.bench.level import Progress, run_level
from ppagent.bench.prompts import PROBE_WORDS, FilePrompts, Prompts, WordPrompts, words_text
from ppagent.bench.result import LevelResult, sum_up
from ppagent.bench.server_view import ServerWatch
from ppagent.bench.shape import Shape
from ppagent.errors import ToolError
from ppagent.sglang.server_info import whole

PROBE_TIMEOUT_S = 120.0
LevelDone = Callable[[LevelResult], None]
Watch = Callable[[Progress], None]


@dataclass(frozen=True)
class PromptSource:
    """Where prompts come from: the user's texts, or words of a measured length."""

    texts: tuple[str, ...] = ()
    name: str = ""
    tokens_per_word: float = 1.0

    def prompts(self, shape: Shape) -> Prompts:
        """Prompts for one level; another seed gives others, so that no level finds its prompts in the cache."""
        if self.texts:
            return FilePrompts(self.texts, self.name, shape.output_tokens, shape.seed)
        return WordPrompts(shape.input_tokens, shape.output_tokens, shape.seed, self.tokens_per_word)


def measure_words(control: Control, seed: int = 0) -> float:
    """Tokens that one of our words takes in this model's tokenizer, from one short answer. Raises ToolError."""
    sampling = {"temperature": 0.0, "max_new_tokens": 1, "ignore_eos": True}
    body: dict[str, object] = {"text": words_text(Random(seed), PROBE_WORDS), "sampling_params": sampling}
    answer = control.generate(body, PROBE_TIMEOUT_S)
    meta = answer.get("meta_info")
    tokens = whole(meta.get("prompt_tokens")) if isinstance(meta, dict) else None
    if not tokens:
        raise ToolError("/generate does not say how many tokens a prompt has")
    return tokens / PROBE_WORDS


def run_session(
    endpoint: Endpoint,
    shapes: Sequence[Shape],
    source: PromptSource,
    *,
    progress: Watch | None = None,
    done: LevelDone | None = None,
    drain_s: float | None = None,
) -> tuple[LevelResult, ...]:
    """Runs the levels in order. Raises ToolError where one cannot be run at all.

    Ctrl-C ends it with KeyboardInterrupt; levels that were done by then have been handed to `done`.
    """
    results: list[LevelResult] = []
    for shape in shapes:
        watch = ServerWatch(Control(endpoint))
        level = run_level(
            endpoint,
            shape,
            source.prompts(shape),
            watch_server=watch,
            progress=progress,
            drain_s=drain_s,
        )
        results.append(sum_up(asyncio.run(level)))
        if done is not None:
            done(results[-1])
    return tuple(results)
