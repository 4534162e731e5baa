"""`ppagent predict`: the pipeline model by itself. What would another setting give?"""

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ppagent.cli.common import note, write_file
from ppagent.cli.predict_settings import SETTABLE, changed, times_ms
from ppagent.errors import ExitStatus, ToolError, UserError

if TYPE_CHECKING:
    from ppagent.cli.predict_answer import Answer
    from ppagent.evidence.facts import Facts
    from ppagent.model.whatif import Server, Settings

NAME = "predict"
HELP = "What a pipeline setting would give, by the model alone: tokens a second, and which stage works when."
FORMATS = ("text", "json", "html")
SUFFIXES = {".json": "json", ".html": "html", ".htm": "html"}

MOST_STAGES, MOST_REQUESTS, LONGEST_MS = 512, 100_000, 1_000_000.0
"""Nobody runs more; the models work through every stage and request, so that more would only take for ever."""
STAGE_MS = "40"
"""Taken where nobody gives the time of a stage, and said to be."""
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
    ring.add_argument("--stage-ms", metavar="MS[,MS...]", help=f"device time of a step, one or P ({STAGE_MS})")
    ring.add_argument("--per-request-ms", metavar="MS[,MS...]", default="0", help="device time each request adds (0)")
    ring.add_argument("--host-ms", type=float, default=0.0, metavar="MS", help="a step's launch time on its CPU (0)")
    ring.add_argument("--hop-ms", type=float, default=0.1, metavar="MS", help="hand-off between stages (0.1)")
    known = f"known: {SETTABLE}"
    parser.add_argument(
        "--set", action="append", nargs="?", default=[], metavar="FLAG=VALUE", dest="settings", help=known
    )
    for flag in _FLAGS:
        # argparse takes `--set --flag=value` for two options; this one hands the second to the first.
        parser.add_argument(flag, action=_AppendFlag, dest="settings", help=argparse.SUPPRESS)
    parser.add_argument("--at-concurrency", type=int, metavar="N", help="requests in flight (the highest measured)")
    parser.add_argument("--format", choices=FORMATS, help="form of the answer (by the file's suffix, else text)")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write the answer there")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="write the chart and the timelines there as SVG")


def run(args: argparse.Namespace) -> int:
    """Answer the question in `args`; returns an exit status. Raises UserError where it cannot be answered."""
    if (args.target is None) == (args.stages is None):
        raise UserError("Give either a TARGET or --stages.", "Try: ppagent predict --stages 8 --stage-ms 40.")
    if args.at_concurrency is not None and not 1 <= args.at_concurrency <= MOST_REQUESTS:
        raise UserError(f"--at-concurrency must be 1 to {MOST_REQUESTS}.", "Give the requests in flight.")
    args.settings = [assignment for assignment in args.settings if assignment is not None]
    answer = _from_numbers(args) if args.target is None else _from_target(args)
    _deliver(replace(answer, record=_record()), args)
    return ExitStatus.OK


def _record() -> str:
    """How forecasts so far fared, or why that cannot be told."""
    from ppagent.ledger import track_record

    try:
        return track_record().says
    except ToolError as error:
        return str(error)


def _deliver(answer: "Answer", args: argparse.Namespace) -> None:
    form = args.format or SUFFIXES.get(args.output.suffix if args.output else "", "text")
    if args.svg is not None:
        from ppagent.cli.predict_page import as_svg

        write_file(args.svg, as_svg(answer))
        note(f"the pictures are in {args.svg}")
    text = _rendered(answer, form)
    if args.output is None:
        sys.stdout.write(text)
        return
    write_file(args.output, text)
    note(f"the answer is in {args.output}")


def _rendered(answer: "Answer", form: str) -> str:
    match form:
        case "json":
            import json

            from ppagent.cli.predict_view import as_json

            return json.dumps(as_json(answer), indent=2) + "\n"
        case "html":
            from ppagent.cli.predict_page import as_page

            return as_page(answer)
        case _:
            from ppagent.cli.predict_view import as_text

            return as_text(answer)


def _from_numbers(args: argparse.Namespace) -> "Answer":
    from ppagent.cli.predict_answer import answer_for_ring
    from ppagent.cli.predict_view import describe
    from ppagent.model.ring import Ring, Stage
    from ppagent.model.whatif import Settings, what_if_ring

    if not 1 <= args.stages <= MOST_STAGES:
        raise UserError(f"--stages must be 1 to {MOST_STAGES}.", "Give the pipeline size.")
    base_ms = times_ms(args.stage_ms or STAGE_MS, args.stages, "--stage-ms")
    extra_ms = times_ms(args.per_request_ms, args.stages, "--per-request-ms")
    stages = tuple(Stage(base, extra, args.host_ms) for base, extra in zip(base_ms, extra_ms, strict=True))
    ring = Ring(stages, args.hop_ms)
    now = Settings()
    then = changed(args.settings, now, args.stages)
    if then.split is not None or not then.graph:
        raise UserError("Stage times are given, so layers and graphs cannot be set.", "Change --stage-ms or --host-ms.")
    at = args.at_concurrency or args.stages
    _check_times(ring.turn_ms(1, at), args)
    if then.slot_limit is None and not args.settings:
        then = replace(then, slot_limit=-(-at // ring.best_fill(at)))
    origin = _origin(args)
    forecast = what_if_ring(ring, now, then, at, origin)
    deeper = replace(ring, slots=args.stages + then.async_depth)
    title = f"ring of {args.stages} stage{'s' * (args.stages > 1)}, {describe(then)}"
    return answer_for_ring(title, forecast, deeper, then, at, origin)


def _origin(args: argparse.Namespace) -> str:
    """Where the stages' times are from: a default that nobody gave is no statement about anybody's server."""
    if args.stage_ms is not None:
        return "stage times as given, nothing measured"
    return (
        f"{STAGE_MS} ms a stage, the default and nobody's measurement: give your own with --stage-ms, or a recording "
        "with load levels"
    )


def _check_times(turn_ms: float, args: argparse.Namespace) -> None:
    if not 0 < turn_ms < LONGEST_MS or min(args.host_ms, args.hop_ms) < 0:
        advice = f"Give times in ms, none below 0, not all of them 0, and a turn below {LONGEST_MS:g} ms."
        raise UserError("These times make no ring that turns.", advice)


def _from_target(args: argparse.Namespace) -> "Answer":
    from ppagent.cli.predict_facts import all_facts, found_facts
    from ppagent.cli.recorded import open_recorded

    open_recorded(args.target, "Give a folder, or --stages for a ring by numbers.")
    try:
        return _answered(args, found_facts(args.target))
    except (ValueError, UserError):
        # An investigation reads what a diagnosis needs; the question may need more of what was recorded.
        facts, broken = all_facts(args.target)
    try:
        return _answered(args, facts, broken)
    except ValueError as error:
        raise UserError(f"The model cannot answer this: {error}.", "Record the model's config and the GPUs.") from error


def _answered(args: argparse.Namespace, facts: "Facts", broken: tuple[str, ...] = ()) -> "Answer":
    """The answer from `facts`. Raises ValueError where the model lacks something, UserError where the question does."""
    from ppagent.changes.shapes import shapes_of
    from ppagent.cli.predict_answer import answer_for_server
    from ppagent.cli.predict_facts import server_in
    from ppagent.cli.predict_view import describe
    from ppagent.report.pictures.figures import came_about, fill_said

    server = server_in(facts, broken)
    at = args.at_concurrency or max(level.concurrency for level in server.levels)
    then = changed(args.settings, server.now, server.stages)
    if not args.settings:
        from ppagent.model.spread import best_limit

        then = replace(then, slot_limit=best_limit(server.deployment(at), at).limit)
    _check_split(then, server)
    title = f"{args.target}: PP{server.stages}, {describe(then)}"
    answer = answer_for_server(title, server, then, at, came_about(facts), fill_said(facts))
    return replace(answer, shapes=shapes_of(facts, at))


def _check_split(then: "Settings", server: "Server") -> None:
    if then.split is None:
        return
    layers = None if server.roofline is None else len(server.roofline.architecture.layers)
    if len(then.split) != server.stages or (layers is not None and sum(then.split) != layers):
        raise UserError(
            f"A partition of {len(then.split)} stages and {sum(then.split)} layers does not fit this server.",
            f"Give {server.stages} numbers" + (f" that add up to {layers}." if layers else "."),
        )
