"""ppagent record: a live server, or what was saved of one, as a folder that can be diagnosed anywhere."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ppagent.cli.common import PORT, NumberFrom, note
from ppagent.errors import ExitStatus, ToolError, UserError

if TYPE_CHECKING:
    from ppagent.record.outcome import Outcome
    from ppagent.targets.live_host import Windows
    from ppagent.targets.target import Target

NAME = "record"
HELP = "Writes down all that can be read of a server, secrets masked: a folder to diagnose, to send, to score."
MOST_SECONDS = 3600
SCRAPE_EVERY_S = 5.0
MOST_SCRAPES = 12


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("target", metavar="TARGET", help="local, ssh://[user@]host[:port], several by commas; a recording, a log, -")
    add("-o", "--output", type=Path, required=True, metavar="DIR", help="the folder to write; new or empty")
    add("--question", default="", metavar="TEXT", help="what you want to know, in your own words")
    add("--title", default="", metavar="TEXT", help="what it is, in a line")
    add("--stated", action="append", default=[], metavar="TEXT", help="a fact that no artifact holds; repeatable")
    add("--seconds", type=NumberFrom(1, "seconds"), default=10.0, metavar="S", help="watch load and cards so long (10)")
    add("--port", type=PORT, metavar="N", help="the server's HTTP port, where several run")
    add("--force", action="store_true", help="take the place of an earlier recording in DIR; its answer.yaml stays")
    add("--pack", action="store_true", help="also make DIR.tar.gz, one file to send; `ppagent diagnose` reads it")


def run(args: argparse.Namespace) -> int:
    from ppagent.record.apart import must_lie_apart
    from ppagent.record.folder import prepare
    from ppagent.record.incident import Words
    from ppagent.record.pack import packed_name, refuse_taken
    from ppagent.record.recorder import Recorder
    from ppagent.targets.open import open_target

    archive = packed_name(args.output) if args.pack else None
    if archive is not None:
        refuse_taken(archive, force=args.force)
    target = open_target(args.target, sys.stdin, port=args.port, windows=_windows(args.seconds))
    _first_look(target)
    must_lie_apart(target, args.output)
    folder = prepare(args.output, force=args.force)
    words = Words(args.question, args.title, tuple(args.stated))
    watch = note if target.kind != "recording" and sys.stderr.isatty() else _quiet
    recorder = Recorder(target, folder, words, window_s=args.seconds, watch=watch, port=args.port)
    outcome = recorder.record()
    return _close(outcome, args.output, archive)


def _windows(seconds: float) -> "Windows":
    """At least two scrapes, the last one at the end of the time."""
    from ppagent.targets.live_host import Windows

    if seconds > MOST_SECONDS:
        raise UserError(f"{seconds:g} s is longer than an hour.", "Record twice, or for a shorter time.")
    scrapes = max(2, min(MOST_SCRAPES, round(seconds / SCRAPE_EVERY_S) + 1))
    return Windows(gpu_s=seconds, scrapes=scrapes, scrape_gap_s=seconds / (scrapes - 1))


def _first_look(target: "Target") -> None:
    """Finds the servers, so that whatever only the user can put right is said before anything is written."""
    from ppagent.targets.target import Artifact

    for host in target.hosts:
        try:
            target.text(host, Artifact.LAUNCH)
        except ToolError:  # said in its place when it is asked for again
            continue


def _close(outcome: "Outcome", root: Path, archive: Path | None) -> int:
    """Says what there is and what is not, and what to do with it."""
    from ppagent.record.outcome import End
    from ppagent.record.summary import summary

    sys.stdout.write(summary(outcome))
    match outcome.end:
        case End.CANCELLED:
            rest = f"what is in {root} is whole, and can be diagnosed" if outcome.got else "nothing was recorded"
            note(f"cancelled; {rest}.")
            return ExitStatus.CANCELLED
        case End.UNWRITTEN | End.LOST:
            rest = f"What is in {root} is whole, and can be diagnosed." if outcome.got else "Nothing was recorded."
            note(f"{outcome.why.removesuffix('.')}. {rest}")
            return ExitStatus.FAILURE
    if not outcome.saw_server:
        note(f"nothing of an SGLang server could be read; {root} holds the rest.")
        return ExitStatus.NOT_ENOUGH_EVIDENCE
    if archive is not None:
        from ppagent.record.pack import pack

        size = pack(root, archive)
        note(f"{archive} ({size / (1 << 20):.1f} MiB) is all of it in one file.")
    note(f"`ppagent diagnose {root}` reads it. Look through it before you send it: a log can hold your users' prompts.")
    if outcome.silent:
        note(f"nothing of {', '.join(outcome.silent)} was recorded.")
        return ExitStatus.FAILURE
    return ExitStatus.OK


def _quiet(sentence: str) -> None:
    """Nobody watches."""
