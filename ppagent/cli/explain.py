"""ppagent explain: the page of a cause, or the history of a launch flag."""

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ppagent.errors import UserError

if TYPE_CHECKING:
    from ppagent.sglang.flags.flag import Catalogue

NAME = "explain"
HELP = "A cause's page, or a launch flag's history over SGLang versions; without a name the list of causes."

_CAUSE_ID = re.compile(r"[A-Za-z]{2}\d{3}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "%(prog)s [-h] [--version X] [--tree DIR] [--target TARGET]\n                       [CAUSE|FLAG]"
    parser.add_argument("names", nargs="*", metavar="CAUSE|FLAG", help="PP001, or --pp-max-micro-batch-size")
    parser.add_argument("--version", metavar="X", help="the SGLang version that a flag is meant for (the newest)")
    parser.add_argument("--tree", metavar="DIR", type=Path, help="a folder with the sglang package it is meant for")
    parser.add_argument("--target", metavar="TARGET", help="a server, or a recording of one, that it is meant for")
    parser.set_defaults(unknown=[])


def run(args: argparse.Namespace) -> int:
    """A flag to explain is an option that the parser does not know."""
    match [*args.unknown, *args.names]:
        case []:
            _no_version("Without a flag", args)
            sys.stdout.write(_list())
        case [str(name)] if _CAUSE_ID.fullmatch(name):
            _no_version(f"{name.upper()} is a cause, and", args)
            sys.stdout.write(_page(name))
        case [str(flag)]:
            sys.stdout.write(_flag(flag, args.version, args.tree, args.target))
        case words:
            raise UserError(f"{' '.join(words)} is more than one name.", "Explain one cause or flag at a time.")
    return 0


def _no_version(why: str, args: argparse.Namespace) -> None:
    """Raises UserError where a version is named and no flag, which alone differs from version to version."""
    named = [
        name
        for name, value in (("--version", args.version), ("--tree", args.tree), ("--target", args.target))
        if value is not None
    ]
    if named:
        wrong = f"{why} {' and '.join(named)} change{'s' * (len(named) == 1)} nothing."
        raise UserError(wrong, "Name a flag too, such as --pp-size, or list a version's with `ppagent flags`.")


def _list() -> str:
    from ppagent.causes.catalog import all_causes
    from ppagent.report.cause_page import listed

    return "".join(f"{line}\n" for cause in all_causes() for line in listed(cause))


def _page(cause_id: str) -> str:
    from ppagent.causes.catalog import cause_of
    from ppagent.report.cause_page import page_text

    return f"{page_text(cause_of(cause_id))}\n"


def _flag(name: str, version: str | None, tree: Path | None, target: str | None) -> str:
    from ppagent.report.flag_page import explain_flag, is_flag, nearest_flags

    if not is_flag(name):
        listed = "`ppagent explain` without a name lists the causes."
        raise UserError(f"{name} is neither a cause nor a flag.", f"{nearest_flags(name)} {listed}".strip())
    if target is None:
        return f"{explain_flag(name, version, tree)}\n"
    if version is not None or tree is not None:
        raise UserError("--target and --version or --tree name the version twice.", "Give one of them.")
    return f"{explain_flag(name, installed=_installed(target))}\n"


def _installed(target: str) -> "Catalogue":
    """The flags of a target's installation; what is odd about them goes beside the page."""
    from ppagent.cli.common import note
    from ppagent.cli.flags import chosen_catalogue

    catalogue, remarks = chosen_catalogue(target, None, None)
    for sentence in remarks:
        note(sentence)
    return catalogue
