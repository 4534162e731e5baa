"""Judges every proposed launch command against the parser that its SGLang builds itself.

    judge_proposals.py --python PYTHON --trees FOLDER [INCIDENT...]

FOLDER holds a tree a version (FOLDER/0.5.10/sglang); PYTHON is an interpreter that has the dependencies of some SGLang.
Each incident is diagnosed by the rules; PYTHON then imports the tree of the recorded version, as judge_catalogue.py
does, and its parser reads the words of the launch as it was and of every new one. Prints one line a command and what
the parser says of those it refuses; exits 1 where it refuses a proposal, or where ppagent's own check does.
"""

import argparse
import contextlib
import io
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge_catalogue import ATTEMPTS, built

ROOT = Path(__file__).parents[1]
PARSE_SECONDS = 1800
UNTOLD = "1"
"""Stands for a word that the text does not tell ($PORT): whole numbers and texts both take it."""


@dataclass(frozen=True)
class Proposed:
    """One command of one incident."""

    incident: str
    name: str
    version: str
    words: tuple[str, ...]
    own_verdict: str
    """What ppagent's own check refuses; empty where it accepts."""


def refusal(parser: argparse.ArgumentParser, words: list[str]) -> str:
    """What the parser says before it gives up; empty where it takes the words."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            parser.parse_args(words)
    except SystemExit:
        return said.getvalue().strip().splitlines()[-1]
    return ""


def verdicts(tree: Path, python: str, commands: list[list[str]]) -> list[str] | str:
    """What the tree's parser says of each command; else why it could not be built."""
    failure = ""
    for forced in ATTEMPTS:
        argv = [python, __file__, "--parse", str(tree), "--stand-in", forced]
        done = subprocess.run(
            argv, input=json.dumps(commands), capture_output=True, text=True, timeout=PARSE_SECONDS, check=False
        )
        if done.returncode == 0:
            return list(json.loads(done.stdout.strip().splitlines()[-1]))
        failure = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
    return failure


def proposed(incident: Path) -> Iterator[Proposed]:
    """The launch as it was, and every new one that a diagnosis proposes."""
    from ppagent.agent.investigation import investigate
    from ppagent.brains.brain import brain_of
    from ppagent.changes.commands import Installed, refusals
    from ppagent.changes.plan import make_plan
    from ppagent.plugins import discover
    from ppagent.sglang.launch.command import parse_launch
    from ppagent.targets.open import open_target

    found = investigate(open_target(str(incident)), discover(), brain=brain_of("rules"), planner=make_plan)
    installed = Installed.of(found.facts)
    if installed.catalogue is None or installed.launch is None:
        return
    commands = {"as it was": installed.launch.text}
    commands |= {f"{p.id} {p.kind}": p.command for p in found.plan.proposals if p.kind == "relaunch" and p.command}
    for name, text in commands.items():
        launch = parse_launch(text, installed.catalogue)
        refused = "; ".join(problem.says for problem in refusals(launch, installed))
        words = tuple(UNTOLD if word.opaque else word.value for word in launch.site.arguments)
        yield Proposed(incident.name, name, installed.catalogue.version, words, refused)


def judge(version: str, commands: list[Proposed], trees: Path, python: str) -> int:
    """Prints what becomes of the commands of one version; how many proposals are refused."""
    said = verdicts(trees / version, python, [list(command.words) for command in commands])
    if isinstance(said, str):
        print(f"{version}: its parser cannot be built: {said}")
        return len(commands)
    bad = 0
    for command, refused in zip(commands, said, strict=True):
        change = command.name != "as it was"
        wrong = bool(refused or command.own_verdict)
        bad += change and wrong
        verdict = "refused" if wrong else "accepted"
        print(f"{version:14} {command.incident:40} {command.name:14} {verdict}", flush=True)
        for who, words in (("parser", refused), ("check", command.own_verdict)):
            if words:
                print(f"    {who}: {words}")
    return bad


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("incidents", nargs="*", type=Path)
    parser.add_argument("--trees", type=Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--parse", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--stand-in", default="", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.parse is not None:
        real, _ = built(args.parse.resolve(), tuple(filter(None, args.stand_in.split(","))))
        commands: list[list[str]] = json.load(sys.stdin)
        print(json.dumps([refusal(real, words) for words in commands]))
        return 0
    if args.trees is None:
        parser.error("--trees is needed")
    by_version: dict[str, list[Any]] = {}
    for incident in args.incidents or sorted(path.parent for path in (ROOT / "evals/incidents").glob("*/answer.yaml")):
        for command in proposed(incident):
            by_version.setdefault(command.version, []).append(command)
    bad = sum(judge(version, commands, args.trees, args.python) for version, commands in sorted(by_version.items()))
    total = sum(len(commands) for commands in by_version.values())
    print(f"{total} commands of {len(by_version)} versions, {bad} proposals refused")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
