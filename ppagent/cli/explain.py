"""ppagent explain: the page of a cause, or the history of a launch flag."""

import argparse
import re
import sys

NAME = "explain"
HELP = "A cause's page, or a launch flag's history over SGLang versions; without a name the list of causes."


_CAUSE_ID = re.compile(r"[A-Za-z]{2}\d{3}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="*", metavar="CAUSE|FLAG", help="PP001, or --pp-max-micro-batch-size")
    parser.set_defaults(unknown=[])


def run(args: argparse.Namespace) -> int:
    """A flag begins with dashes, which no parser takes for a name, so the words are read as they were typed."""
    match args.words:
        case []:
            sys.stdout.write(_list())
        case [str(name)] if _CAUSE_ID.fullmatch(name):
            sys.stdout.write(_page(name))
        case [str(flag), *options]:
            return _explain_flag(flag, options)
    return 0


def _list() -> str:
    from ppagent.causes.catalog import all_causes

    return "".join(f"{cause.id}  {cause.name}\n" for cause in all_causes())


def _page(cause_id: str) -> str:
    from ppagent.causes.catalog import cause_of, page

    return f"{page(cause_of(cause_id))}\n"


def _explain_flag(flag: str, options: list[str]) -> int:
    from ppagent.cli import explain_flag

    parser = argparse.ArgumentParser(prog="ppagent explain", description=explain_flag.HELP, allow_abbrev=False)
    explain_flag.add_arguments(parser)
    return explain_flag.run(parser.parse_args([*options, "--", flag]))
