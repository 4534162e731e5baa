"""The arguments of bench_serving for one level: those that every version from 0.4.7 to 0.5.23 takes.

Read in `bench_serving.py`, from 0.5.15 on `benchmark/serving.py`. The dataset `random-ids` is made from the tokenizer
alone; `random` would fetch a file of conversations. Its prompts are sent as token ids (`--tokenize-prompt`): as text,
64 of them came to 62-192 tokens at a server, which prefilled nearly twice of what the row says was sent.
"""

from ppagent.bench.endpoint import Endpoint
from ppagent.bench.shape import Shape
from ppagent.errors import ToolError


def serving_words(base_url: str, shape: Shape, requests: int) -> list[str]:
    """All but the output file and the tokenizer. Raises ToolError for a load that it cannot make."""
    if shape.think_s:
        raise ToolError("bench_serving knows no think time: leave --think-time at 0 with it")
    words = ["--backend", "sglang", "--base-url", base_url, "--tokenize-prompt"]
    words += ["--dataset-name", "random-ids", "--random-range-ratio", _ratio(shape)]
    words += ["--random-input-len", str(shape.input_tokens.high)]
    words += ["--random-output-len", str(shape.output_tokens.high)]
    words += ["--num-prompts", str(requests), "--seed", str(shape.seed)]
    words += ["--warmup-requests", str(shape.concurrency or 1), "--output-details"]
    words += ["--max-concurrency", str(shape.concurrency)] if shape.concurrency is not None else []
    return words + (["--request-rate", f"{shape.rate:g}"] if shape.rate is not None else [])


def time_limit_s(shape: Shape) -> float:
    """How long one level may take: imports and the tokenizer take their time as well."""
    return 120 + 20 * shape.seconds


def key_of(endpoint: Endpoint) -> str:
    """The key, for OPENAI_API_KEY, where bench_serving looks for it; empty for none."""
    return endpoint.headers.get("Authorization", "").removeprefix("Bearer ")


def _ratio(shape: Shape) -> str:
    """It draws lengths uniformly between ratio x length and length."""
    low, high = shape.output_tokens.low, shape.output_tokens.high
    return f"{low / high:.3g}"
