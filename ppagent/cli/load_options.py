"""The options of a load, the same for `bench` and `try`."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from ppagent.bench.control import Control
from ppagent.bench.prompts import Span, parse_span, read_prompts
from ppagent.bench.session import PromptSource, measure_words
from ppagent.bench.shape import DEFAULT_INPUT, DEFAULT_OUTPUT, Shape
from ppagent.cli.common import PORT, NumberFrom
from ppagent.errors import UserError
from ppagent.sglang.server_info import whole

T = TypeVar("T")
LIVE_HELP = "a live server: http://HOST:PORT, local, or ssh://[user@]host"


def add_load_arguments(parser: argparse.ArgumentParser) -> None:
    """Lengths, prompts and seed."""
    add = parser.add_argument
    add("--port", type=PORT, metavar="N", help="the server's HTTP port on its host")
    add("--input-len", type=_span, default=DEFAULT_INPUT, metavar="N|LOW-HIGH", help=f"tokens in ({DEFAULT_INPUT})")
    add("--output-len", type=_span, default=DEFAULT_OUTPUT, metavar="N|LOW-HIGH", help=f"tokens out ({DEFAULT_OUTPUT})")
    add("--prompts", type=Path, metavar="FILE", help="your own prompts, one a line, in place of random words")
    add(
        "--seed",
        type=NumberFrom(0, "seeds", whole=True),
        default=1,
        metavar="N",
        help="the same number gives the same lengths and words (1)",
    )


def trial_shape(args: argparse.Namespace, concurrency: int) -> Shape:
    """The load of a trial at so many requests in flight."""
    return Shape(
        concurrency=concurrency,
        think_s=args.think_time,
        input_tokens=args.input_len,
        output_tokens=args.output_len,
        seed=args.seed,
        seconds=args.seconds,
    )


def prompt_source(args: argparse.Namespace, control: Control) -> PromptSource:
    """Where prompts come from; words are measured in the server's own tokens first."""
    if args.prompts is not None:
        return PromptSource(read_prompts(args.prompts), args.prompts.name)
    return PromptSource(tokens_per_word=measure_words(control))


def default_concurrencies(control: Control) -> tuple[int, ...]:
    """1, half the stages, all the stages: enough to see how the ring's turn grows."""
    stages = whole(control.server_info().effective("pp_size")) or 1
    return tuple(sorted({1, max(1, stages // 2), stages})) if stages > 1 else (1, 4, 8)


def numbers(text: str, read: Callable[[str], T], what: str) -> tuple[T, ...]:
    """`1,4,8`. Raises UserError."""
    try:
        return tuple(read(part) for part in text.split(","))
    except ValueError as error:
        raise UserError(f"{text!r} is no list of {what}.", "Separate numbers by commas.") from error


def _span(text: str) -> Span:
    try:
        return parse_span(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no length: write 64 or 20-60") from error
