"""Commands that do something to a live server: load it, try a change, record it."""

import argparse
import json
import shlex
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from ppagent.causes.situation import stages
from ppagent.changes.proposal import Proposal
from ppagent.chat import outside
from ppagent.chat.answers.trial import comparison_of, trial_lines
from ppagent.chat.commands.command import Command
from ppagent.chat.consent import Deed
from ppagent.chat.home import private_folder, state_home
from ppagent.chat.looking import at_work, know
from ppagent.chat.overlay import Overlay
from ppagent.chat.session import Session
from ppagent.chat.taking import take_in
from ppagent.chat.wording import id_ranges
from ppagent.errors import UserError
from ppagent.evidence.evidence import Finding
from ppagent.plugins import Grade, ToolContext
from ppagent.report.json_report import as_json
from ppagent.report.lines import Line
from ppagent.targets.target import Shared

LIVE_KEYS = ("--pp-max-micro-batch-size", "--max-micro-batch-size")
TRIAL, LEVELS = "trial", "bench.results"


def bench(session: Session, words: str) -> None:
    """Loads the server and measures; the levels become evidence."""
    _live(session, "/bench")
    results = private_folder(state_home() / "results") / f"{session.id}.bench.jsonl"
    argv = [session.target_text, *_port(session), *shlex.split(words)]
    args = outside.parse("bench", [*argv, "-o", str(results)])
    deed = Deed(
        name="/bench",
        arguments={"options": words},
        grade=int(Grade.LOAD),
        where=session.desk.context.target.name,
        why="you asked for it",
        runs=outside.command_line("bench", argv),
        seconds=_bench_seconds(session, args),
        effect="requests of its own compete with those of the users; nothing is changed",
    )
    if not outside.allowed(session, deed):
        session.say([Line("  nothing was run")])
        return
    with at_work(session):
        ended = outside.run("bench", [*argv, "-o", str(results)])
    session.say([Line(f"  {line}") for line in ended.output.splitlines()])
    _take_in_levels(session, results)


def try_change(session: Session, words: str) -> None:
    """Tries a proposal or a setting: before and after, and back."""
    _live(session, "/try")
    know(session)
    proposal = _proposal(session, words)
    grade = int(Grade.RESTART if proposal is not None and proposal.kind == "relaunch" else Grade.PERTURB)
    with TemporaryDirectory() as folder:
        argv = [session.target_text, *_port(session), *_what(session, words, proposal, Path(folder))]
        plan = outside.run("try", argv, quietly=True)
        deed = Deed(
            name="/try",
            arguments={"what": words},
            grade=grade,
            where=session.desk.context.target.name,
            why="it was proposed" if proposal is not None else "you asked for it",
            runs=f"{outside.command_line('try', argv)}\n{plan.remarks.strip()}",
            effect="as the plan says",
        )
        if not outside.allowed(session, deed):
            session.say([Line("  nothing was changed")])
            return
        with at_work(session):
            ended = outside.run("try", [*argv, "--yes", str(grade), "--format", "json"])
    _take_in_trial(session, ended)


def record(session: Session, words: str) -> None:
    """Writes a recording of the live target."""
    _live(session, "/record")
    if not words:
        raise UserError("/record needs a folder.", "Write /record DIR.")
    argv = [session.target_text, *_port(session), "-o", words]
    with at_work(session), session.screen.working(f"recording {session.target_text}"):
        ended = outside.run("record", argv)
    session.say([Line(f"  {line}") for line in ended.output.splitlines()] or [Line(f"  the recording is in {words}")])


def _live(session: Session, name: str) -> None:
    if session.desk.context.target.kind == "recording":
        raise UserError(f"{name} needs a live server, and this is a recording.", "Name one: ppagent chat ssh://HOST.")


def _port(session: Session) -> list[str]:
    return ["--port", str(session.port)] if session.port is not None else []


def _bench_seconds(session: Session, args: argparse.Namespace) -> float:
    """How long the levels take: each of its own time and about half as much again for warming up."""
    ring = stages(session.desk.facts())
    depth = int(ring.value) if ring is not None else 1
    counts = args.concurrency.split(",") if args.concurrency else sorted({"1", str(max(1, depth // 2)), str(depth)})
    thinks = len(args.think_time.split(","))
    levels = sum(thinks if count != "1" else 1 for count in counts)
    return float(args.max_seconds or 1.5 * levels * args.seconds)


def _take_in_levels(session: Session, results: Path) -> None:
    """The measured levels as evidence, read as a recording's are."""
    if not results.is_file():
        return
    offer = session.desk.toolbox.find(LEVELS)
    if offer is None:
        return
    measured = {Shared.BENCH: results.read_text(encoding="utf-8")}
    context = ToolContext(Overlay(session.desk.context.target, measured))
    findings = [_newer(session, finding) for finding in offer.tool.run(context, offer.tool.arguments())]
    added = take_in(session, LEVELS, findings, "it was measured just now")
    if added:
        ids = id_ranges(tuple(item.id for item in added))
        session.say([Line(f"  taken in as {ids}; ask again why it is slow, or what to change")])


def _newer(session: Session, finding: Finding) -> Finding:
    """The finding, so that it counts before an earlier one of the same facts."""
    known = session.desk.facts()
    earlier = [fact.authority for name in finding.facts if (fact := known.get(name)) is not None]
    return replace(finding, authority=max(earlier, default=0) + 1)


def _proposal(session: Session, words: str) -> Proposal | None:
    """The proposal that is named; None where a setting is."""
    if "=" in words:
        return None
    proposals = session.found().plan.proposals
    live = [proposal for proposal in proposals if proposal.kind == "live"]
    chosen = [p for p in proposals if p.id == words.upper()] if words else live[:1]
    if not chosen:
        ids = " ".join(proposal.id for proposal in proposals) or "none"
        raise UserError(f"There is no proposal {words or 'to try live'}.", f"There is {ids}; or /try NAME=VALUE.")
    return chosen[0]


def _what(session: Session, words: str, proposal: Proposal | None, folder: Path) -> list[str]:
    """What is to be tried, as `ppagent try` takes it."""
    if proposal is None:
        return ["--set", words]
    live = [value for flag, value in proposal.change.set.items() if flag in LIVE_KEYS]
    if proposal.kind == "live" and live:
        return ["--set", f"pp_max_micro_batch_size={live[0]}"]
    report = folder / "report.json"
    report.write_text(as_json(session.found()), encoding="utf-8")
    return ["--proposal", proposal.id, "--report", str(report)]


def _take_in_trial(session: Session, ended: outside.Ended) -> None:
    """What the trial measured, shown and as evidence."""
    try:
        result = json.loads(ended.output)
    except ValueError:
        session.say([Line(f"  {line}") for line in ended.output.splitlines()] or [Line("  the trial gave no result")])
        return
    earlier = session.desk.facts().items("trial.comparisons")
    finding = Finding(TRIAL, {"trial.comparisons": [*earlier, comparison_of(result)]})
    (evidence,) = take_in(session, TRIAL, [_newer(session, finding)], "it was tried")
    session.say(trial_lines(result, evidence.id, session.screen.width))


COMMANDS = (
    Command("bench", "[OPTIONS]", "Loads the live server, measures, and takes the levels in as evidence.", bench),
    Command(
        "try", "[P1|NAME=VALUE]", "Tries a change on the live server, before and after, and puts it back.", try_change,
        "proposals",
    ),
    Command("record", "DIR", "Writes a recording of the live server.", record),
)  # fmt: skip
