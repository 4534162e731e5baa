"""The lab by command: `set-up`, `list`, `take`, `measure`."""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from ppagent.errors import UserError
from ppagent_lab.install import BASE, TORCH, VERSIONS, set_up

DEFAULT_PORT = 30900


def main(arguments: list[str] | None = None) -> int:
    """0, or 1 with a sentence of what went wrong."""
    asked = _parser().parse_args(arguments)
    try:
        return int(asked.run(asked) or 0)
    except UserError as error:
        print(error, file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="ppagent_lab", description=__doc__)
    commands = parser.add_subparsers(required=True)
    setting_up = commands.add_parser("set-up", help="a real SGLang without a GPU in FOLDER (3 GB, minutes)")
    setting_up.add_argument("lab", type=Path, metavar="FOLDER")
    setting_up.add_argument("--version", choices=VERSIONS, default=BASE)
    setting_up.add_argument("--torch", default=TORCH, help="what pip installs as torch: a requirement or a wheel")
    setting_up.set_defaults(run=lambda asked: set_up(asked.lab, asked.version, asked.torch))
    listing = commands.add_parser("list", help="the cases")
    listing.set_defaults(run=_list)
    taking = commands.add_parser("take", help="plant, load, record: writes OUT/CASE for each case")
    taking.add_argument("lab", type=Path, metavar="FOLDER")
    taking.add_argument("cases", nargs="+", metavar="CASE", help="names, or `all`")
    taking.add_argument("-o", "--output", type=Path, required=True, metavar="OUT")
    taking.add_argument("--port", type=int, default=DEFAULT_PORT)
    taking.add_argument("--without-alternatives", action="store_true", help="record, but measure no other settings")
    taking.set_defaults(run=_take)
    measuring = commands.add_parser("measure", help="known stages under many loads and limits, to validate the model")
    measuring.add_argument("lab", type=Path, metavar="FOLDER")
    measuring.add_argument("grids", nargs="*", metavar="GRID", help="some of the grids; none: all")
    measuring.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="JSON lines, appended")
    measuring.add_argument("--port", type=int, default=DEFAULT_PORT)
    measuring.set_defaults(run=_measure)
    return parser


def _list(asked: argparse.Namespace) -> None:
    from ppagent_lab.cases import all_cases

    for case in all_cases().values():
        print(f"{case.name:34} {case.version:8} PP{case.pp}  {case.title}")


def _take(asked: argparse.Namespace) -> int:
    from ppagent_lab.cases import all_cases
    from ppagent_lab.take import take

    known = all_cases()
    names = list(known) if asked.cases == ["all"] else asked.cases
    unknown = [name for name in names if name not in known]
    if unknown:
        raise UserError(f"The lab has no case {unknown[0]}.", "`list` names them all.")
    failed = 0
    for name in names:
        try:
            case = replace(known[name], alternatives=()) if asked.without_alternatives else known[name]
            take(case, asked.lab, asked.output / name, asked.port)
            print(f"{name}: recorded", flush=True)
        except UserError as error:
            failed += 1
            print(f"{name}: {error}", file=sys.stderr, flush=True)
    return 1 if failed else 0


def _measure(asked: argparse.Namespace) -> None:
    from ppagent_lab.grid import GRIDS, append, measure

    for grid in GRIDS:
        if not asked.grids or grid.name in asked.grids:
            append(measure(grid, asked.lab, asked.port), asked.output)


if __name__ == "__main__":
    sys.exit(main())
