"""The command line's frame: finds the command, loads its module and nothing else, and turns errors into words.

A command's module has `NAME`, `HELP`, `add_arguments(parser)` and `run(args) -> int`.
"""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from ppagent import __version__
from ppagent.cli.ending import told_to_end
from ppagent.cli.streams import NO_ROOM, believe_no_odd_size, have_all_streams, never_fail_to_encode, write_no_more
from ppagent.cli.surroundings import have_a_home
from ppagent.errors import ExitStatus, PpagentError, UserError

COMMANDS: dict[str, tuple[str, str]] = {
    "diagnose": ("ppagent.cli.diagnose", "find out why a server is slow, with evidence, and what to do about it"),
    "chat": ("ppagent.cli.chat", "a session in the terminal: ask, look, try"),
    "record": ("ppagent.cli.record", "write down all of a server, secrets masked, to diagnose or send"),
    "explain": ("ppagent.cli.explain", "a cause's page, or a launch flag's history over SGLang versions"),
    "flags": ("ppagent.cli.flags", "the launch flags of an SGLang version"),
    "check": ("ppagent.cli.check", "whether an SGLang version would accept a launch command"),
    "predict": ("ppagent.cli.predict", "what a setting would give, by the pipeline model alone"),
    "bench": ("ppagent.cli.bench", "load a server and measure what its clients get"),
    "try": ("ppagent.cli.try_", "a before/after experiment on a live server, put back whatever happens"),
    "eval": ("ppagent_evals.command", "score brains on recorded incidents, offline"),
    "tools": ("ppagent.cli.tools", "the tools found, with origin, grade and state"),
}
"""Name to module and one line of help. A module is imported when its command is used, so that help is instant."""

USAGE = "usage: ppagent COMMAND ... | ppagent --help | ppagent --version"


WORDS = (
    "`ppagent COMMAND --help` tells a command's options. TARGET is a recording's folder, a log file, - for pasted "
    "text, local, ssh://[user@]host[:port] or a Host of ~/.ssh/config."
)
STATUSES = (
    "0 diagnosed or healthy",
    "1 failure",
    "2 wrong usage",
    "3 not enough evidence",
    "4 blocked by policy",
    "5 budget used up",
    "130 cancelled",
)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command line and returns its exit status (`ppagent.errors.ExitStatus`)."""
    words = list(sys.argv[1:] if argv is None else argv)
    have_all_streams()
    never_fail_to_encode()
    believe_no_odd_size()
    have_a_home()
    if words[:1] == ["chat"]:
        return _guarded(words)  # its prompt takes an interrupt for a new line; it is kept step by step
    with told_to_end() as told:
        status = _guarded(words)
    return 128 + told[-1] if told else status


def _guarded(words: list[str]) -> int:
    """Runs the command, with every error as a sentence and a status."""
    try:
        status = _run(words)
        sys.stdout.flush()
    except UserError as error:
        return _say(f"{error.wrong} {error.advice}", error.status)
    except PpagentError as error:
        return _say(str(error), ExitStatus.FAILURE)
    except BrokenPipeError:
        write_no_more()
        return ExitStatus.FAILURE
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        write_no_more()
        return _say(f"The output cannot be written: {error.strerror}.", ExitStatus.FAILURE)
    except KeyboardInterrupt:
        return _say("cancelled.", ExitStatus.CANCELLED)
    return status


class _Parser(argparse.ArgumentParser):
    """Repeats what was typed without what could steer the terminal."""

    def error(self, message: str) -> NoReturn:
        super().error(_shown(message))


def _run(words: list[str]) -> int:
    if not words:
        sys.stderr.write(_help())
        return ExitStatus.USAGE
    first, rest = words[0], words[1:]
    match first:
        case "-h" | "--help":
            sys.stdout.write(_help())
            return ExitStatus.OK
        case "help":
            return _run([rest[0], "--help"] if rest else ["--help"])
        case "-V" | "--version":
            sys.stdout.write(f"ppagent {__version__}\n")
            return ExitStatus.OK
    if first not in COMMANDS:
        raise UserError(f"There is no command {first}.", _suggestion(first))
    return _run_command(first, rest)


def _run_command(name: str, words: list[str]) -> int:
    module = import_module(COMMANDS[name][0])
    parser = _Parser(
        prog=f"ppagent {name}",
        description=_reflowed(module.HELP),
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.add_arguments(parser)
    args, unknown = parser.parse_known_args(words)
    if unknown and "unknown" not in vars(args):
        parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    args.unknown = unknown
    return int(module.run(args))


def _reflowed(text: str) -> str:
    """Paragraphs as wide as the terminal; one with indented lines is laid out already."""
    from ppagent.report.lines import wrapped
    from ppagent.report.room import columns

    paragraphs = text.split("\n\n")
    return "\n\n".join(
        part if part.startswith(" ") else "\n".join(row.text for row in wrapped(part, columns())) for part in paragraphs
    )


def _help() -> str:
    from ppagent.report.lines import wrapped
    from ppagent.report.room import columns

    width = max(len(name) for name in COMMANDS)
    blocks = [
        [(USAGE, "")],
        [("Finds out why a pipeline-parallel SGLang server is slow, proves it, and says what to relaunch with.", "")],
        [("commands:", ""), *((line, f"  {name:<{width}}  ") for name, (_, line) in COMMANDS.items())],
        [(WORDS, "")],
        [("exit status:", ""), *((status, "  ") for status in STATUSES)],
    ]
    shown = (
        "\n".join(row.text for text, first in block for row in wrapped(text, columns(), first)) for block in blocks
    )
    return "\n\n".join(shown) + "\n"


def _suggestion(word: str) -> str:
    """What was probably meant: a command with a typing error, or a target without its command."""
    from difflib import get_close_matches

    close = get_close_matches(word, COMMANDS, n=1)
    if close:
        return f"Did you mean `ppagent {close[0]}`?"
    if word == "-" or "/" in word or Path(word).exists():
        return f"Did you mean `ppagent diagnose {word}`?"
    return "`ppagent --help` lists them."


def _say(sentence: str, status: ExitStatus) -> int:
    sys.stderr.write(f"ppagent: {_shown(sentence)}\n")
    return status


def _shown(text: str) -> str:
    """What repeats the user's or another's words, without what steers a terminal and without secrets: it is logged."""
    from ppagent.evidence.masking import mask
    from ppagent.report.plain import plain

    return plain(mask(text))


if __name__ == "__main__":
    sys.exit(main())
