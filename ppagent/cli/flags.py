"""`ppagent flags`: the launch flags of one SGLang version."""

import argparse
import json
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ppagent.cli.recorded import open_recorded, recorded_version
from ppagent.errors import ExitStatus, NotRecorded, UserError
from ppagent.report.filled import filled
from ppagent.sglang.flags.catalogue import read_catalogue
from ppagent.sglang.flags.describe import described
from ppagent.sglang.flags.flag import Catalogue, Flag
from ppagent.sglang.flags.history import catalogue_of, departures
from ppagent.sglang.flags.source import SERVER_ARGS
from ppagent.sglang.flags.successors import matching, nearest
from ppagent.targets.recording import Recording

NAME = "flags"
HELP = "list the launch flags of one SGLang version, whether installed, recorded or published"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds this command's arguments."""
    parser.add_argument("target", metavar="TARGET", nargs="?", help="a recording's folder (left out with the next two)")
    parser.add_argument("pattern", metavar="PATTERN", nargs="?", help="only flags whose name contains it, or a glob")
    parser.add_argument("--version", metavar="X", help="a published version, such as 0.5.10")
    parser.add_argument("--tree", metavar="DIR", type=Path, help="a folder with the sglang package; it is not imported")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.set_defaults(unknown=[])


def run(args: argparse.Namespace) -> int:
    """Prints the flags; what could not be read is said on standard error."""
    target, pattern = target_and_pattern(args)
    catalogue = chosen_catalogue(target, args.version, args.tree)
    flags = matching(pattern, catalogue) if pattern else catalogue.flags
    for sentence in catalogue.unread:
        print(f"ppagent: {sentence}", file=sys.stderr)
    if args.format == "json":
        print(json.dumps([as_json(flag) for flag in flags], indent=1))
        return ExitStatus.OK
    print(as_text(catalogue, flags) if flags else nothing_like(pattern or "", catalogue))
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


def chosen_catalogue(target: str | None, version: str | None, tree: Path | None) -> Catalogue:
    """The catalogue that the command line names. Raises UserError unless it names exactly one."""
    named = [
        name for name, value in (("TARGET", target), ("--version", version), ("--tree", tree)) if value is not None
    ]
    if len(named) != 1:
        wrong = f"{' and '.join(named)} name the version twice." if named else "No version is named."
        raise UserError(wrong, "Give one of TARGET, --version X and --tree DIR.")
    if version is not None:
        return catalogue_of(version)
    return read_catalogue(tree) if tree is not None else catalogue_of_target(str(target))


def catalogue_of_target(text: str) -> Catalogue:
    """The flags of the SGLang that a recording is of: from its copy of the source, else by its version.

    Raises UserError where the folder names no version, or its hosts name several.
    """
    recording = open_recorded(text, "Name a recording's folder, or give --version X or --tree DIR.")
    folder = recording.root
    if any((folder / below / SERVER_ARGS).is_file() for below in ("", "sglang", "python/sglang")):
        return read_catalogue(folder)
    versions = {version for host in recording.hosts if (version := recorded_version(recording, host))}
    if len(versions) > 1:
        raise UserError(f"The hosts run different versions: {', '.join(sorted(versions))}.", "Choose with --version X.")
    version = next(iter(versions), "")
    for host in recording.hosts:
        source = _source(recording, host)
        if source is not None:
            return _with_version(read_catalogue(source), version)
    if not version:
        raise UserError(f"{folder} does not say which SGLang it is of.", "Give --version X or --tree DIR.")
    return catalogue_of(version)


def _source(recording: Recording, host: str) -> Path | None:
    """The folder of a host's recorded source, where that declares the flags."""
    try:
        source = recording.source(host)
    except NotRecorded:
        return None
    return source.root if f"sglang/{SERVER_ARGS}" in source.files() else None


def _with_version(catalogue: Catalogue, version: str) -> Catalogue:
    """`catalogue` under the recorded version, where a partial copy of the source does not name its own."""
    if catalogue.version or not version:
        return catalogue
    named = replace(catalogue, version=version)
    kept = tuple(sentence for sentence in catalogue.unread if "does not say which version" not in sentence)
    return replace(named, unread=(*kept, *departures(named)))


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


def as_text(catalogue: Catalogue, flags: Iterable[Flag]) -> str:
    """The flags as lines of at most 80 columns where their names allow it."""
    shown = list(flags)
    head = f"SGLang {catalogue.version or 'of unknown version'}: {len(shown)} flag{'s' * (len(shown) != 1)}"
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
