"""ppagent eval: scores brains on recorded incidents, offline."""

import argparse
import json
import os
import sys
from functools import partial
from pathlib import Path

from ppagent.cli.common import NumberFrom, write_file
from ppagent.errors import ExitStatus, UserError
from ppagent.report.filled import filled
from ppagent.report.room import columns
from ppagent_evals.answer import read_answer, unknown_causes
from ppagent_evals.brains import BASELINES, NAMES, VARYING, brain_to_score
from ppagent_evals.calibration_data import first_sight, told_of
from ppagent_evals.calibration_table import calibration_text
from ppagent_evals.check_case import faults_of
from ppagent_evals.peers import peers_line, peers_of
from ppagent_evals.perturb import VariantResult, run_variant, summary, variants_of
from ppagent_evals.results import Summary, as_document, compare, summarise
from ppagent_evals.runner import CaseResult, Diagnose, find_incidents, quiet_pool, run_all
from ppagent_evals.table import WIDEST, as_markdown, as_text, cost_lines, failures, origin_line, reliability_text

NAME = "eval"
HELP = "Scores brains on recorded incidents, offline."

DEFAULT_FOLDER = Path("evals/incidents")
MOST_NAMED = 3
SECONDS, SECONDS_WITH_A_MODEL = 60.0, 900.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("folders", nargs="*", type=Path, metavar="DIR", help="recordings with answers (evals/incidents)")
    add("--brain", action="append", choices=NAMES, help="brain to score; repeatable (rules)")
    add("--baselines", action="store_true", help="score the baselines too, and show the peers' last run")
    add("--model", default="", metavar="NAME", help="model of the llm brain, or a profile's name")
    add("--base-url", default="", metavar="URL", help="its OpenAI-compatible endpoint")
    add(
        "--repeats",
        type=NumberFrom(1, "runs", whole=True),
        default=1,
        metavar="N",
        help="run llm and auto N times, and show the spread (1)",
    )
    add("--format", choices=("text", "json", "markdown"), default="text", help="form of the scores (text)")
    add("--json", type=Path, metavar="FILE", help="save the run there, for --compare")
    add("--compare", type=Path, metavar="BEFORE.json", help="show what got better and worse since a saved run")
    share = NumberFrom(0, "(a share of 1)", most=1)
    add("--min-score", type=share, default=0.0, metavar="SHARE", help="exit 1 when fewer cases pass (0 to 1)")
    add("--perturb", action="store_true", help="also spoil every case and count wrong causes")
    add(
        "--calibration",
        action="store_true",
        help="also compare told confidences with what held, over all cases and in two halves",
    )
    add("--check", action="store_true", help="say what each case lacks, and score nothing")
    add("--workers", type=NumberFrom(1, "workers", whole=True), default=os.cpu_count() or 1, metavar="N",
        help="cases at a time (one a CPU)")  # fmt: skip
    add("--seconds", type=NumberFrom(0.001, "seconds"), metavar="S", help="time-out of a case (60; 900 with a model)")


def run(args: argparse.Namespace) -> int:
    folders = args.folders or [DEFAULT_FOLDER]
    missing = next((folder for folder in folders if not folder.exists()), None)
    if missing is not None:
        raise UserError(f"{missing} does not exist.", "Name the folder of the recorded incidents.")
    if args.compare is not None and not args.compare.is_file():
        raise UserError(f"{args.compare} is no saved run.", "Name a file that --json wrote.")
    if args.check:
        return _check(folders)
    recordings = find_incidents(folders)
    _refuse_unknown_causes(recordings)
    brains = _brains(args)
    results = {name: _run(name, diagnose, recordings, args) for name, diagnose in brains.items()}
    results |= peers_of(recordings) if args.baselines else {}
    summaries = [summarise(name, rows) for name, rows in results.items()]
    spoiled = _spoiled(recordings, next(iter(brains.values())), args.workers) if args.perturb else []
    document = json.dumps(as_document(summaries, results, spoiled), indent=2)
    match args.format:
        case "json":
            print(document)
        case "markdown":
            print("\n\n".join(part for part in _markdown(summaries, args) if part))
        case _:
            parts = _text(args, results, summaries, spoiled)
            parts += [_calibration(recordings, results, spoiled)] if args.calibration else []
            print("\n\n".join(part for part in parts if part))
    if args.json is not None:
        write_file(args.json, document + "\n")
    return ExitStatus.OK if summaries[0].passed >= args.min_score else ExitStatus.FAILURE


def _brains(args: argparse.Namespace) -> dict[str, Diagnose]:
    names = args.brain or ["rules"]
    if args.baselines:
        names = list(dict.fromkeys([*names, *BASELINES]))
    return {name: brain_to_score(name, model=args.model, base_url=args.base_url) for name in names}


def _markdown(summaries: list[Summary], args: argparse.Namespace) -> list[str]:
    peers = peers_line() if args.baselines else ""
    return [as_markdown(summaries), origin_line(summaries[0]), cost_lines(summaries), peers]


def _text(
    args: argparse.Namespace,
    results: dict[str, list[CaseResult]],
    summaries: list[Summary],
    spoiled: list[VariantResult],
) -> list[str]:
    first = next(iter(results.values()))
    parts = [as_text(summaries, columns(WIDEST)), cost_lines(summaries), peers_line() if args.baselines else ""]
    parts += [_filled(origin_line(summaries[0])), _filled(failures(first))]
    if args.calibration:
        parts.append(reliability_text(first))
        parts += [f"Brier score {summaries[0].brier:.3f}"] if summaries[0].brier is not None else []
    if spoiled:
        parts.append(summary(spoiled))
    if args.compare is not None:
        parts.append("\n".join(compare(args.compare, results)) or "no case changed")
    return parts


def _filled(text: str) -> str:
    return "\n".join(row for line in text.splitlines() for row in filled(line, ""))


def _calibration(
    recordings: tuple[Path, ...], results: dict[str, list[CaseResult]], spoiled: list[VariantResult]
) -> str:
    from ppagent.causes.calibration import calibration

    told = told_of(next(iter(results.values())), spoiled, recordings)
    return calibration_text(told, first_sight(recordings), calibration())


def _check(folders: list[Path]) -> int:
    """One line a fault over every folder that looks like a case."""
    cases = [folder for given in folders for folder in _cases_in(given)]
    faults = [f"{case}: {fault}" for case in cases for fault in faults_of(case)]
    print("\n".join(faults) or f"{len(cases)} case{'' if len(cases) == 1 else 's'}, nothing lacks.")
    return ExitStatus.FAILURE if faults else ExitStatus.OK


def _refuse_unknown_causes(recordings: tuple[Path, ...]) -> None:
    """Raises UserError where an answer names a cause that no diagnosis can name: its case could only ever fail, and a
    ban on it could only ever hold."""
    named = [(recording.name, cause) for recording in recordings for cause in unknown_causes(read_answer(recording))]
    if named:
        says = "; ".join(f"{name} names {cause}" for name, cause in named[:MOST_NAMED])
        more = f"; and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
        advice = (
            "Take one of those that `ppagent explain` lists; `ppagent eval --check DIR` tells all that a case lacks."
        )
        raise UserError(f"Answers name causes that are not on the list: {says}{more}.", advice)


def _cases_in(folder: Path) -> list[Path]:
    if (folder / "incident.yaml").is_file() or (folder / "hosts").is_dir():
        return [folder]
    return sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else [folder]


def _spoiled(recordings: tuple[Path, ...], diagnose: Diagnose, workers: int) -> list[VariantResult]:
    """The first brain over every spoiled copy of every recorded folder."""
    jobs = [variant for recording in recordings if recording.is_dir() for variant in variants_of(recording)]
    with quiet_pool(max(1, workers)) as pool:
        return pool.map(partial(run_variant, diagnose=diagnose), jobs, chunksize=8)


def _run(name: str, diagnose: Diagnose, recordings: tuple[Path, ...], args: argparse.Namespace) -> list[CaseResult]:
    """One brain over all incidents, with a count on a terminal's standard error."""
    rows: list[CaseResult] = []
    repeats = args.repeats if name in VARYING else 1
    seconds = args.seconds or (SECONDS_WITH_A_MODEL if name in VARYING else SECONDS)
    for row in run_all(recordings, diagnose, workers=args.workers, seconds=seconds, repeats=repeats):
        rows.append(row)
        if sys.stderr.isatty():
            print(f"\r{name}: {len(rows)} of {len(recordings) * repeats}", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return rows
