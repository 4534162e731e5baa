"""ppagent eval: scores brains on recorded incidents."""

import argparse
import json
import multiprocessing
import os
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from ppagent.errors import ExitStatus, UserError
from ppagent_evals.baselines import always_graphs, chance, first_rule
from ppagent_evals.check_case import faults_of
from ppagent_evals.perturb import run_variant, summary, variants_of
from ppagent_evals.results import Summary, as_document, compare, summarise
from ppagent_evals.runner import CaseResult, Diagnose, auto_brain, find_incidents, rules_brain, run_all
from ppagent_evals.table import as_markdown, as_text, failures, origin_line, reliability_text

NAME = "eval"
HELP = "Scores brains on recorded incidents, offline."

BRAINS: Mapping[str, Diagnose] = {
    "rules": rules_brain,
    "auto": auto_brain,
    "chance": chance,
    "always-graphs": always_graphs,
    "first-rule": first_rule,
}
DEFAULT_FOLDER = Path("evals/incidents")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("folders", nargs="*", type=Path, metavar="DIR", help="recordings with answers (evals/incidents)")
    add("--brain", action="append", choices=tuple(BRAINS), help="brain to score; repeatable (rules)")
    add("--baselines", action="store_true", help="score the baselines too")
    add("--format", choices=("text", "json", "markdown"), default="text")
    add("--json", type=Path, metavar="FILE", help="save the run there, for --compare")
    add("--compare", type=Path, metavar="BEFORE.json", help="show what got better and worse since a saved run")
    add("--min-score", type=float, default=0.0, metavar="SHARE", help="exit 1 when fewer cases pass (0 to 1)")
    add("--perturb", action="store_true", help="also spoil every case and count wrong causes")
    add("--check", action="store_true", help="say what each case lacks, and score nothing")
    add("--workers", type=int, default=os.cpu_count() or 1, metavar="N", help="cases at a time")
    add("--seconds", type=float, default=60.0, metavar="S", help="time-out of a case")


def run(args: argparse.Namespace) -> int:
    folders = args.folders or [DEFAULT_FOLDER]
    missing = next((folder for folder in folders if not folder.exists()), None)
    if missing is not None:
        raise UserError(f"{missing} does not exist.", "Name the folder of the recorded incidents.")
    if args.check:
        return _check(folders)
    recordings = find_incidents(folders)
    names = args.brain or ["rules"]
    if args.baselines:
        names = list(dict.fromkeys([*names, "first-rule", "always-graphs", "chance"]))
    results = {name: _run(name, recordings, args) for name in names}
    summaries = [summarise(name, rows) for name, rows in results.items()]
    document = json.dumps(as_document(summaries, results), indent=2)
    if args.json is not None:
        args.json.write_text(document + "\n", encoding="utf-8")
    match args.format:
        case "json":
            print(document)
        case "markdown":
            print(f"{as_markdown(summaries)}\n\n{origin_line(summaries[0])}")
        case _:
            _print_text(args, results, summaries)
    return ExitStatus.OK if summaries[0].passed >= args.min_score else ExitStatus.FAILURE


def _print_text(args: argparse.Namespace, results: dict[str, list[CaseResult]], summaries: list[Summary]) -> None:
    first = next(iter(results.values()))
    parts = [as_text(summaries), origin_line(summaries[0]), failures(first), reliability_text(first)]
    if summaries[0].brier is not None:
        parts.append(f"Brier score {summaries[0].brier:.3f}")
    if args.perturb:
        parts.append(_perturbed(args, next(iter(results))))
    if args.compare is not None:
        parts.append("\n".join(compare(args.compare, results)) or "no case changed")
    print("\n\n".join(part for part in parts if part))


def _check(folders: list[Path]) -> int:
    """One line a fault over every folder that looks like a case."""
    cases = [folder for given in folders for folder in _cases_in(given)]
    faults = [f"{case}: {fault}" for case in cases for fault in faults_of(case)]
    print("\n".join(faults) or f"{len(cases)} case{'' if len(cases) == 1 else 's'}, nothing lacks.")
    return ExitStatus.FAILURE if faults else ExitStatus.OK


def _cases_in(folder: Path) -> list[Path]:
    if (folder / "incident.yaml").is_file() or (folder / "hosts").is_dir():
        return [folder]
    return sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else [folder]


def _perturbed(args: argparse.Namespace, brain: str) -> str:
    recordings = [path for path in find_incidents(args.folders or [DEFAULT_FOLDER]) if path.is_dir()]
    jobs = [variant for recording in recordings for variant in variants_of(recording)]
    with multiprocessing.get_context("fork").Pool(max(1, args.workers)) as pool:
        return summary(pool.map(partial(run_variant, diagnose=BRAINS[brain]), jobs, chunksize=8))


def _run(name: str, recordings: tuple[Path, ...], args: argparse.Namespace) -> list[CaseResult]:
    """One brain over all incidents, with a count on a terminal's standard error."""
    rows: list[CaseResult] = []
    for row in run_all(recordings, BRAINS[name], workers=args.workers, seconds=args.seconds):
        rows.append(row)
        if sys.stderr.isatty():
            print(f"\r{name}: {len(rows)} of {len(recordings)}", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return rows
