"""What `ppagent bench` will put on a server, told before anything is sent."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ppagent.agent.approvals import GRADE_MEANS
from ppagent.report.lines import wrapped
from ppagent.report.room import columns

if TYPE_CHECKING:
    from ppagent.bench.shape import Shape

GRADE = 4
MEANS = GRADE_MEANS[GRADE]


def load_plan(where: str, shapes: "Sequence[Shape]", args: argparse.Namespace) -> str:
    """The load in words, `where` naming the server: its levels, how long they take and what they do to others."""
    rows = [
        ("levels", "; ".join(shape.label for shape in shapes)),
        ("requests", _requests(args)),
        ("takes", _takes(shapes, args)),
        ("effect", "its requests compete with those of the server's users while it runs; nothing is changed"),
    ]
    lines = [line.text for name, text in rows for line in wrapped(text, columns(), f"  {name:<10} ")]
    head = wrapped(f"A load on {where} (grade {GRADE}: {MEANS})", columns())
    return "\n".join([*(line.text for line in head), *lines])


def _requests(args: argparse.Namespace) -> str:
    prompts = "random words" if args.prompts is None else f"prompts of {args.prompts.name}"
    return f"{args.input_len} tokens in, {args.output_len} out, {prompts}"


def _takes(shapes: "Sequence[Shape]", args: argparse.Namespace) -> str:
    if args.tool != "ppagent":
        return "as long as bench_serving needs for its requests"
    boxed_s = sum(shape.seconds for shape in shapes)
    if args.max_seconds is None or args.max_seconds >= boxed_s:
        return f"about {boxed_s:.0f} s, and a warm-up and the last answers of each level"
    return f"at most {boxed_s:.0f} s and a warm-up of each level; none begins after {args.max_seconds:g} s"
