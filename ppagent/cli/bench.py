"""`ppagent bench`: load a server, level by level, and measure what its clients get."""

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from ppagent.cli.common import NumberFrom, note, somebody_there
from ppagent.cli.load_options import LIVE_HELP, add_load_arguments, default_concurrencies, numbers, prompt_source
from ppagent.errors import ExitStatus, UserError

if TYPE_CHECKING:
    from ppagent.bench.reach import Reached
    from ppagent.bench.result import LevelResult
    from ppagent.bench.serving import Client
    from ppagent.bench.session import PromptSource
    from ppagent.bench.shape import Shape

NAME = "bench"
HELP = """Puts load on a server, level by level, and measures what its clients get (grade 4).

Every level starts from a barrier after a warm-up of its own size, is boxed in time, and is
measured with and without think time, since a client that answers at once hides how requests
clump in a pipeline's slots. One line of JSON a level, in bench_serving's field names.

At a terminal nothing is sent before you have seen what will be and said yes, or allowed it with
--yes 4. Where nobody can be asked, the command itself is the wish, unless --yes allows less."""
THINK_TIMES = "0,0.1"
GRADES = range(6)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("target", metavar="TARGET", help=LIVE_HELP)
    add("--concurrency", metavar="N,N,...", help="requests in flight, one level each (1, stages / 2, stages)")
    add("--rate", metavar="R,R,...", help="requests a second at random times instead; with one --concurrency as a cap")
    add(
        "--think-time",
        default=THINK_TIMES,
        metavar="S,S,...",
        help=f"pauses of a client before its next request, each measured ({THINK_TIMES})",
    )
    add_load_arguments(parser)
    add("--seconds", type=NumberFrom(0.5, "seconds"), default=30.0, metavar="S", help="how long each level takes (30)")
    add("--requests", type=NumberFrom(1, "requests", whole=True), metavar="N", help="at most so many requests a level")
    add("--max-seconds", type=NumberFrom(0, "seconds"), metavar="S", help="begin no level after that time")
    add(
        "--with",
        dest="tool",
        choices=("ppagent", "bench_serving"),
        default="ppagent",
        help="whose client sends the load (ppagent)",
    )
    add(
        "--python",
        default="",
        metavar="FILE",
        help="a Python here that has sglang, for --with bench_serving (the server's own, on its host)",
    )
    add("--tokenizer", default="", metavar="PATH", help="tokenizer, for --with bench_serving (the server's)")
    add(
        "--yes",
        type=int,
        choices=GRADES,
        metavar="GRADE",
        help="allow up to this grade without asking; 4 allows the load",
    )
    add("--format", choices=("text", "json"), default="text", help="form of the results on standard output (text)")
    add("-o", "--output", type=Path, metavar="FILE", help="append the levels there, one line of JSON each")


@dataclass
class Results:
    """Rows as they come in; what is done by the time of a Ctrl-C is not lost."""

    args: argparse.Namespace
    head: str
    rows: list[dict[str, object]] = field(default_factory=list)
    stopped: str = ""

    def add(self, row: dict[str, object]) -> None:
        self.rows.append(row)
        if self.args.output is not None:
            _append(self.args.output, row)


def run(args: argparse.Namespace) -> int:
    from ppagent.bench.prompts import read_prompts
    from ppagent.cli.left_behind import offer_restore
    from ppagent.cli.reaching import reached_server

    _shapes(args, lambda: (1,))  # what is asked for wrongly is said before anybody is asked
    if args.prompts is not None:
        read_prompts(args.prompts)
    reached = reached_server(args)
    try:
        offer_restore(reached, args.target)
        return _run(args, reached)
    finally:
        reached.close()


def _run(args: argparse.Namespace, reached: "Reached") -> int:
    from ppagent.cli.bench_plan import GRADE, MEANS, load_plan
    from ppagent.cli.try_ import agreed

    client = _client(args, reached)
    results = Results(args, _head(reached, client))
    shapes = _shapes(args, lambda: default_concurrencies(reached.control))
    allowed = args.yes if args.yes is not None else 0 if somebody_there() else GRADE
    if not agreed(load_plan(_server(reached), shapes, args), GRADE, allowed):
        note(f"nothing was sent: it {MEANS}, which needs a yes, or --yes {GRADE}.")
        return ExitStatus.BLOCKED_BY_POLICY
    status = ExitStatus.OK
    try:
        _measure(args, reached, client, shapes, results)
    except KeyboardInterrupt:
        results.stopped, status = "cancelled", ExitStatus.CANCELLED
    if results.stopped and status is ExitStatus.OK:
        status = ExitStatus.BUDGET_USED_UP
    _show(results)
    return status


def _head(reached: "Reached", client: "Client | None") -> str:
    """The server and where it is measured from; what bends the figures is said beside."""
    from ppagent.bench.surroundings import governor_of, look_around

    if client is not None and client.beside:
        governor = governor_of(reached.host) if reached.host is not None else ""
        return f"{_server(reached)} · {client.route}" + (f" · governor {governor}" if governor else "")
    around = look_around(reached.endpoint, reached.host)
    head = f"{_server(reached)} · {around.route} · connect {around.connect_ms:.2g} ms"
    for remark in around.remarks:
        note(remark)
    return head + (f" · {around.governors}" if around.governors else "")


def _server(reached: "Reached") -> str:
    info = reached.control.server_info()
    return f"{reached.name} · SGLang {info.version or 'unknown'} · PP{info.effective('pp_size') or 1}"


def _measure(
    args: argparse.Namespace, reached: "Reached", client: "Client | None", shapes: "list[Shape]", results: Results
) -> None:
    source = prompt_source(args, reached.control) if client is None else None
    began = monotonic()
    for shape in shapes:
        if args.max_seconds is not None and monotonic() - began >= args.max_seconds:
            results.stopped = (
                f"the time of {args.max_seconds:g} s is used up: {len(results.rows)} of {len(shapes)} levels"
            )
            return
        if client is not None:
            results.add(_by_bench_serving(args, client, shape))
        elif source is not None:
            _own(reached, shape, source, results)


def _own(reached: "Reached", shape: "Shape", source: "PromptSource", results: Results) -> None:
    from ppagent.bench.progress import bar
    from ppagent.bench.session import run_session

    def done(result: "LevelResult") -> None:
        results.add({**result.row(), "route": reached.endpoint.route})

    with _said(shape.label), bar(sys.stderr.isatty()) as show:
        run_session(reached.endpoint, (shape,), source, progress=show, done=done)


def _client(args: argparse.Namespace, reached: "Reached") -> "Client | None":
    """Whose bench_serving measures; None where ppagent does it itself."""
    if args.tool == "ppagent":
        return None
    from ppagent.bench.serving import find_client

    return find_client(reached, args.python, args.tokenizer, os.environ)


def _by_bench_serving(args: argparse.Namespace, client: "Client", shape: "Shape") -> dict[str, object]:
    from ppagent.bench.progress import bar

    requests = args.requests or 5 * (shape.concurrency or 8)
    with _said(f"{shape.label}, {requests} requests by bench_serving {client.route}"), bar(sys.stderr.isatty()) as show:
        return client.run(shape, requests, note, show)


def _shapes(args: argparse.Namespace, by_default: Callable[[], Sequence[int]]) -> "list[Shape]":
    """Every level: each concurrency (or rate) with each think time; a pause means nothing to a single client. Raises
    UserError for what is no load."""
    from ppagent.bench.shape import Shape

    counts = numbers(args.concurrency, int, "whole numbers") if args.concurrency else ()
    common = {"input_tokens": args.input_len, "output_tokens": args.output_len, "seconds": args.seconds}
    common |= {"requests": args.requests, "seed": args.seed}
    try:
        if args.rate:
            if len(counts) > 1:
                raise UserError("--rate takes one --concurrency as a cap.", "Give one number or none.")
            rates = numbers(args.rate, float, "rates")
            return [Shape(concurrency=counts[0] if counts else None, rate=rate, **common) for rate in rates]
        thinks = numbers(args.think_time, float, "seconds") if args.tool == "ppagent" else (0.0,)
        return [
            Shape(concurrency=count, think_s=think, **{**common, "seed": args.seed + 1000 * n + round(100 * think)})
            for n, count in enumerate(counts or by_default())
            for think in (thinks if count > 1 else thinks[:1])
        ]
    except ValueError as error:
        raise UserError(f"This is no load: {error}.", "Correct --concurrency, --rate or --think-time.") from error


def _show(results: Results) -> None:
    from ppagent.bench.table import table_of

    if results.args.format == "json":
        document = {"schema_version": 1, "server": results.head, "stopped": results.stopped, "levels": results.rows}
        sys.stdout.write(json.dumps(document, indent=2) + "\n")
    elif results.rows:
        sys.stdout.write(f"{results.head}\n\n{table_of(results.rows)}\n")
    if results.stopped:
        note(f"{results.stopped}.")


@contextmanager
def _said(what: str) -> Iterator[None]:
    """Says what is measured where no bar shows it."""
    if not sys.stderr.isatty():
        note(f"measuring {what}")
    yield


def _append(path: Path, row: dict[str, object]) -> None:
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
    except OSError as error:
        raise UserError(
            f"{path} cannot be written: {error.strerror or error}.", "Name a file that is yours."
        ) from error
