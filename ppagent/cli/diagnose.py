"""ppagent diagnose: one target in, one report out."""

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ppagent.cli.common import BRAIN_HELP, CEILING_HELP, PORT, TARGET_HELP, NumberFrom, note, somebody_there, write_file
from ppagent.errors import ExitStatus, UserError

if TYPE_CHECKING:
    from ppagent.agent.approvals import Approver
    from ppagent.agent.budget import Budget
    from ppagent.agent.choosing import ToolCall
    from ppagent.agent.investigation import Investigation

NAME = "diagnose"
HELP = "Finds out why a server is slow, with the evidence for it, and what to do about it."
FORMATS = ("text", "json", "markdown", "html")
SUFFIXES = {".json": "json", ".md": "markdown", ".html": "html", ".htm": "html"}
GRADES = range(6)
_READS_HOST = 2
"""As `Grade.READ_HOST`, which takes long to import."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("target", metavar="TARGET", help=TARGET_HELP)
    add("--question", default="", metavar="TEXT", help="what you want to know, in your own words")
    add("--brain", choices=("auto", "rules", "llm"), default="auto", help=f"who chooses what to ask next: {BRAIN_HELP}")
    add("--model", default="", metavar="NAME", help="a model, or a profile of the configuration (docs/llm.md)")
    add("--base-url", default="", metavar="URL", help="OpenAI-compatible endpoint that serves it (OPENAI_BASE_URL)")
    add("--format", choices=FORMATS, help="form of the report (by the file's suffix, else text)")
    add("--port", type=PORT, metavar="N", help="the server's HTTP port, where several run")
    add("-o", "--output", type=Path, metavar="FILE", help="write the report there")
    add("--ceiling", type=int, choices=GRADES, default=2, help=CEILING_HELP)
    add("--yes", type=int, choices=GRADES, metavar="GRADE", help="approve tools up to this grade without asking")
    add("--max-steps", type=NumberFrom(1, "steps", whole=True), metavar="N", help="tools asked at the most (60)")
    add("--max-seconds", type=NumberFrom(0, "seconds"), metavar="S", help="time at the most (900)")
    add("--max-cost", type=NumberFrom(0, "USD"), metavar="USD", help="cost of a model at the most (2)")
    add(
        "--max-tokens",
        type=NumberFrom(1, "tokens", whole=True),
        metavar="N",
        help="tokens of a model at the most (200000)",
    )


def run(args: argparse.Namespace) -> int:
    form = args.format or SUFFIXES.get(args.output.suffix if args.output else "", "text")
    found = _investigate(args, form)
    _deliver(found, form, args.output)
    return exit_status(found)


def exit_status(found: "Investigation") -> ExitStatus:
    """The status that says how it ended. What cut the asking short counts before what was found by then."""
    match found.status:
        case "cancelled":
            return ExitStatus.CANCELLED
        case "budget_used_up":
            return ExitStatus.BUDGET_USED_UP
    if found.verdict != "not_enough_evidence":
        return ExitStatus.OK
    return ExitStatus.BLOCKED_BY_POLICY if found.denied and not _lost(found) else ExitStatus.NOT_ENOUGH_EVIDENCE


def _lost(found: "Investigation") -> bool:
    """Whether a connection was lost: then that is what the evidence lacks for, whatever was denied besides."""
    from ppagent.targets.remote.link import speaks_of_loss

    return any(speaks_of_loss(each.why) for each in found.missing)


def _investigate(args: argparse.Namespace, form: str) -> "Investigation":
    from ppagent.sessions import is_session

    if is_session(Path(args.target)):
        from ppagent.replay import replay

        return replay(Path(args.target))
    return _look_into(args, form)


def _look_into(args: argparse.Namespace, form: str) -> "Investigation":
    from ppagent.brains.brain import brain_of
    from ppagent.cli.left_behind import remind
    from ppagent.sessions import SessionFile, new_session, sessions_folder
    from ppagent.targets.open import open_target

    session = new_session()
    record = SessionFile(sessions_folder() / f"{session}.jsonl")
    brain = brain_of(args.brain, model=args.model, base_url=args.base_url, recorder=record)
    target = open_target(args.target, sys.stdin, port=args.port, look=args.ceiling >= _READS_HOST)
    remind(target, args.target)

    from ppagent.agent.investigation import investigate
    from ppagent.changes.plan import make_plan
    from ppagent.plugins import Grade, discover

    found = investigate(
        target,
        discover(),
        brain=brain,
        planner=make_plan,
        ceiling=Grade(args.ceiling),
        budget=_budget(args),
        question=args.question,
        approver=_approver(args.yes, form),
        watch=_watch if target.kind != "recording" and sys.stderr.isatty() else None,
        session=session,
        recorder=record if brain.name == "llm" else None,
    )
    if record.begun:
        note(f"the session is in {record.path}")
    return found


def _budget(args: argparse.Namespace) -> "Budget":
    from ppagent.agent.budget import Budget

    given = {"steps": args.max_steps, "seconds": args.max_seconds, "usd": args.max_cost, "tokens": args.max_tokens}
    return replace(Budget(), **{name: value for name, value in given.items() if value is not None})


def _approver(yes: int | None, form: str) -> "Approver | None":
    """Who answers for a tool above the ceiling: --yes, a person at the terminal, or nobody."""
    from ppagent.agent.approvals import approve_up_to
    from ppagent.cli.approval import ask_person

    person = ask_person if form != "json" and somebody_there() else None
    return person if yes is None else approve_up_to(yes, person)


def _watch(call: "ToolCall") -> None:
    note(f"asking {call.tool}: {call.why}")


def _deliver(found: "Investigation", form: str, output: Path | None) -> None:
    text = _rendered(found, form)
    if output is not None:
        try:
            write_file(output, text)
        except UserError:
            sys.stdout.write(text)  # asking a server may have taken minutes, and is not done again for a full disk
            raise
        note(f"the report is in {output}")
    elif form == "text":
        from ppagent.report.document import document_of
        from ppagent.report.terminal import print_report

        print_report(document_of(found))
    else:
        sys.stdout.write(text)


def _rendered(found: "Investigation", form: str) -> str:
    from ppagent.report.document import document_of
    from ppagent.report.html import as_html
    from ppagent.report.json_report import as_json
    from ppagent.report.markdown import as_markdown
    from ppagent.report.text import as_text

    match form:
        case "json":
            return as_json(found)
        case "markdown":
            return as_markdown(document_of(found))
        case "html":
            return as_html(document_of(found))
        case _:
            return as_text(document_of(found))
