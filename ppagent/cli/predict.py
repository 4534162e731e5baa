"""`ppagent predict`: the pipeline model by itself. What would another setting give?"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ppagent.cli.predict_view import Answer, describe
from ppagent.errors import ExitStatus, UserError
from ppagent.model.ring import Ring, Stage
from ppagent.model.whatif import Server, Settings, what_if, what_if_ring

NAME = "predict"
HELP = "what a pipeline setting would give, by the model alone: tokens a second, and which stage works when"

_SETTABLE = (
    "pp_max_micro_batch_size, pp_async_batch_depth, disable_cuda_graph (true or false) and SGLANG_PP_LAYER_PARTITION"
)
_FLAGS = ("--pp-max-micro-batch-size", "--pp-async-batch-depth", "--disable-cuda-graph")


class _AppendFlag(argparse.Action):
    """Appends `flag=value` to the settings."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: object, option: str | None = None
    ) -> None:
        namespace.settings = [*namespace.settings, f"{option}={values}"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("target", nargs="?", metavar="TARGET", help="a recording's folder")
    ring = parser.add_argument_group("a ring by its numbers, instead of a TARGET")
    ring.add_argument("--stages", type=int, metavar="P", help="pipeline stages")
    ring.add_argument("--stage-ms", metavar="MS[,MS...]", default="40", help="device time of a step; one value or P")
    ring.add_argument("--per-request-ms", metavar="MS[,MS...]", default="0", help="device time each request adds")
    ring.add_argument("--host-ms", type=float, default=0.0, metavar="MS", help="launch time of a step on a stage's CPU")
    ring.add_argument("--hop-ms", type=float, default=0.1, metavar="MS", help="hand-off between stages")
    known = f"known: {_SETTABLE}"
    parser.add_argument(
        "--set", action="append", nargs="?", default=[], metavar="FLAG=VALUE", dest="settings", help=known
    )
    for flag in _FLAGS:
        # argparse takes `--set --flag=value` for two options; this one hands the second to the first.
        parser.add_argument(flag, action=_AppendFlag, dest="settings", help=argparse.SUPPRESS)
    parser.add_argument("--at-concurrency", type=int, metavar="N", help="requests in flight (the highest measured)")
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    """Answer the question in `args`; returns an exit status. Raises UserError where it cannot be answered."""
    if (args.target is None) == (args.stages is None):
        raise UserError("Give either a TARGET or --stages.", "Try: ppagent predict --stages 8 --stage-ms 40.")
    if args.at_concurrency is not None and args.at_concurrency < 1:
        raise UserError("--at-concurrency must be 1 or more.", "Give the requests in flight.")
    args.settings = [assignment for assignment in args.settings if assignment is not None]
    document = _from_numbers(args) if args.target is None else _from_target(args)
    text = json.dumps(document.as_json(), indent=2) if args.format == "json" else document.as_text()
    sys.stdout.write(text + "\n")
    return ExitStatus.OK


def _from_numbers(args: argparse.Namespace) -> Answer:
    if args.stages < 1:
        raise UserError("--stages must be 1 or more.", "Give the pipeline size.")
    base_ms = _times(args.stage_ms, args.stages, "--stage-ms")
    extra_ms = _times(args.per_request_ms, args.stages, "--per-request-ms")
    stages = tuple(Stage(base, extra, args.host_ms) for base, extra in zip(base_ms, extra_ms, strict=True))
    ring = Ring(stages, args.hop_ms)
    now = Settings()
    then = _settings(args.settings, now, args.stages)
    if then.split is not None or not then.graph:
        raise UserError("Stage times are given, so layers and graphs cannot be set.", "Change --stage-ms or --host-ms.")
    at = args.at_concurrency or args.stages
    if then.slot_limit is None and not args.settings:
        then = replace(then, slot_limit=-(-at // ring.best_fill(at)))
    forecast = what_if_ring(ring, now, then, at)
    changed = replace(ring, slots=args.stages + then.async_depth)
    title = f"ring of {args.stages} stages, {describe(then)}"
    return Answer(title, forecast, (ring, changed), (now, then))


def _from_target(args: argparse.Namespace) -> Answer:
    from ppagent.cli.predict_target import read_server

    server = read_server(Path(args.target))
    at = args.at_concurrency or max(level.concurrency for level in server.levels)
    then = _settings(args.settings, server.now, server.stages)
    if not args.settings:
        from ppagent.model.spread import best_limit

        then = replace(then, slot_limit=best_limit(server.deployment(at), at).limit)
    _check_split(then, server)
    try:
        forecast = what_if(server, then, at)
    except ValueError as error:
        raise UserError(f"The model cannot answer this: {error}.", "Record the model's config and the GPUs.") from error
    title = f"{args.target}: PP{server.stages}, {describe(then)}"
    now_ring = server.ring(at)
    then_ring = replace(server.ring(at, then.split), slots=server.stages + then.async_depth)
    return Answer(title, forecast, (now_ring, then_ring), (server.now, then))


def _check_split(then: Settings, server: Server) -> None:
    if then.split is None:
        return
    layers = None if server.roofline is None else len(server.roofline.architecture.layers)
    if len(then.split) != server.stages or (layers is not None and sum(then.split) != layers):
        raise UserError(
            f"A partition of {len(then.split)} stages and {sum(then.split)} layers does not fit this server.",
            f"Give {server.stages} numbers" + (f" that add up to {layers}." if layers else "."),
        )


def _settings(assignments: Sequence[str], now: Settings, stages: int) -> Settings:
    then = now
    for assignment in assignments:
        flag, equals, value = assignment.partition("=")
        name = flag.lstrip("-").replace("-", "_").lower()
        if not equals:
            raise UserError(f"--set {assignment} has no value.", "Write --set FLAG=VALUE.")
        match name:
            case "pp_max_micro_batch_size" | "max_micro_batch_size":
                then = replace(then, slot_limit=_whole(value, flag, 1))
            case "pp_async_batch_depth":
                then = replace(then, async_depth=_whole(value, flag, 0))
            case "disable_cuda_graph" | "disable_decode_cuda_graph":
                then = replace(then, graph=not _truth(value, flag))
            case "sglang_pp_layer_partition":
                then = replace(then, split=tuple(_whole(part, flag, 1) for part in value.split(",")))
            case _:
                raise UserError(f"The pipeline model says nothing about {flag}.", f"It knows {_SETTABLE}.")
    if then.split is not None and len(then.split) != stages:
        raise UserError(f"A partition needs {stages} numbers, one a stage.", "Give one number a stage.")
    return then


def _whole(text: str, flag: str, least: int) -> int:
    if not text.strip().isdigit() or int(text) < least:
        raise UserError(f"{flag} takes a whole number of {least} or more, not {text!r}.", "Correct the value.")
    return int(text)


def _truth(text: str, flag: str) -> bool:
    match text.lower():
        case "true" | "1" | "yes":
            return True
        case "false" | "0" | "no":
            return False
    raise UserError(f"{flag} takes true or false, not {text!r}.", "Correct the value.")


def _times(text: str, stages: int, flag: str) -> tuple[float, ...]:
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError as error:
        raise UserError(f"{flag} takes milliseconds, not {text!r}.", "Write one number, or one a stage.") from error
    if len(values) not in (1, stages) or min(values) < 0:
        raise UserError(f"{flag} takes one value or {stages}, none below 0.", "Write one number, or one a stage.")
    return values * stages if len(values) == 1 else values
