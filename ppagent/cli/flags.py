"""`ppagent flags`: the launch flags of one SGLang version."""

import argparse
import json
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ppagent.cli.common import PORT, TARGET_HELP, note
from ppagent.errors import ExitStatus, UserError
from ppagent.report.filled import filled
from ppagent.sglang.flags.catalogue import read_catalogue
from ppagent.sglang.flags.describe import described
from ppagent.sglang.flags.flag import Catalogue, Flag
from ppagent.sglang.flags.history import catalogue_of
from ppagent.sglang.flags.installed import InstalledFlags
from ppagent.sglang.flags.source import SERVER_ARGS
from ppagent.sglang.flags.successors import matching, nearest
from ppagent.targets.open import named_path

NAME = "flags"
HELP = "The launch flags of one SGLang version, whether installed, recorded or published."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds this command's arguments."""
    what = f"{TARGET_HELP} (left out with --version and --tree)"
    parser.add_argument("target", metavar="TARGET", nargs="?", help=what)
    parser.add_argument("pattern", metavar="PATTERN", nargs="?", help="only flags whose name contains it, or a glob")
    parser.add_argument("--version", metavar="X", help="a published version, such as 0.5.10")
    parser.add_argument("--tree", metavar="DIR", type=Path, help="a folder with the sglang package; it is not imported")
    parser.add_argument("--port", type=PORT, metavar="N", help="the server's HTTP port, where several run")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="form of the list (text)")
    parser.set_defaults(unknown=[])


def run(args: argparse.Namespace) -> int:
    """Prints the flags; what could not be read is said on standard error."""
    target, pattern = target_and_pattern(args)
    catalogue, remarks = chosen_catalogue(target, args.version, args.tree, args.port)
    flags = matching(pattern, catalogue) if pattern else catalogue.flags
    for sentence in (*remarks, *catalogue.unread):
        note(sentence)
    if args.format == "json":
        text = json.dumps([as_json(flag) for flag in flags], indent=1)
    else:
        text = as_text(catalogue, flags, pattern or "") if flags else nothing_like(pattern or "", catalogue)
    sys.stdout.write(f"{text}\n")
    return ExitStatus.OK


def target_and_pattern(args: argparse.Namespace) -> tuple[str | None, str | None]:
    """What the bare words mean. A pattern may be written as a flag, which the parser does not know as its own."""
    words = [word for word in (args.target, args.pattern) if word is not None]
    patterns = [*words[1:], *args.unknown]
    if len(words) == 1 and not patterns and (args.version or args.tree):
        return None, words[0]
    if len(patterns) > 1:
        raise UserError(f"{' '.join(patterns)} is more than one pattern.", "Give one part of a name, or a glob.")
    return (words[0] if words else None), (patterns[0] if patterns else None)


def chosen_catalogue(
    target: str | None, version: str | None, tree: Path | None, port: int | None = None
) -> tuple[Catalogue, tuple[str, ...]]:
    """The catalogue that the command line names, and remarks on where it comes from. Raises UserError unless it names
    exactly one."""
    named = [
        name for name, value in (("TARGET", target), ("--version", version), ("--tree", tree)) if value is not None
    ]
    if len(named) != 1:
        wrong = f"{' and '.join(named)} name the version twice." if named else "No version is named."
        raise UserError(wrong, "Give one of TARGET, --version X and --tree DIR.")
    if version is not None:
        return catalogue_of(version), ()
    if tree is not None or _is_tree(str(target)):
        return read_catalogue(tree or named_path(str(target))), ()
    from ppagent.cli.installation import source_of_flags

    flags, remarks = flags_of_target(str(target), port)
    used = f"The flags of SGLang {flags.version or 'of unknown version'}, {source_of_flags(flags)}."
    return replace(flags.catalogue, unread=()), (used, *remarks, *flags.remarks)


def _is_tree(text: str) -> bool:
    """Whether a target is a folder of SGLang itself."""
    try:
        return any((named_path(text) / below / SERVER_ARGS).is_file() for below in ("", "sglang", "python/sglang"))
    except OSError:
        return False  # whoever opens it as a target says why it cannot be read


def flags_of_target(text: str, port: int | None = None) -> tuple[InstalledFlags, tuple[str, ...]]:
    """The flags of the SGLang that a target runs, from its source where that is at hand, else by its version; and what
    is odd about its hosts. Raises UserError where it tells no version, or its hosts run several."""
    from ppagent.cli.installation import flags_by_host, one_for_all, open_briefly, versions_of

    target = open_briefly(text, port)
    found = flags_by_host(target, versions_of(target))
    if not found:
        raise UserError(f"{target.name} does not say which SGLang it is of.", "Give --version X or --tree DIR.")
    return one_for_all(found)


def as_json(flag: Flag) -> dict[str, Any]:
    """One entry of `--format json`."""
    return {
        "name": flag.name,
        "aliases": list(flag.aliases),
        "type": flag.type,
        "default": flag.default,
        "choices": None if flag.choices is None else list(flag.choices),
        "nargs": flag.nargs,
        "deprecated": flag.deprecated,
        "replaced_by": flag.replaced_by,
    }


def as_text(catalogue: Catalogue, flags: Iterable[Flag], pattern: str = "") -> str:
    """The flags, those that match `pattern`, as lines of at most 80 columns where their names allow it."""
    shown = list(flags)
    which = f" that match{'es' * (len(shown) == 1)} {pattern}" if pattern else ""
    head = f"SGLang {catalogue.version or 'of unknown version'}: {len(shown)} flag{'s' * (len(shown) != 1)}{which}"
    return "\n".join([head, *("\n".join(["", *lines_of(flag)]) for flag in shown)])


def lines_of(flag: Flag) -> list[str]:
    """Name and value, then what else matters, indented."""
    body = [described(flag)]
    if flag.choices:
        body.append("one of " + ", ".join(str(choice) for choice in flag.choices))
    if flag.deprecated:
        body.append(f"deprecated; use {flag.replaced_by}" if flag.replaced_by else "deprecated")
    if flag.help:
        body.append(flag.help)
    return [*filled(", ".join(flag.spellings), ""), *(line for part in body for line in filled(part, "    "))]


def nothing_like(pattern: str, catalogue: Catalogue) -> str:
    """The sentence for a pattern that no flag matches."""
    close = nearest(pattern, catalogue)
    hint = f" Nearest: {', '.join(close)}." if close else ""
    return f"No flag of SGLang {catalogue.version} matches {pattern}.{hint}"
