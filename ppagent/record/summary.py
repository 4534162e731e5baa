"""What a recording came to, for the person at the terminal: what there is, what is not and why, and what would give
it."""

from collections.abc import Iterator, Sequence

from ppagent.evidence.quoting import without_controls
from ppagent.record.commands import ON_THE_HOST
from ppagent.record.outcome import Got, Lack, Outcome
from ppagent.report.lines import wrapped
from ppagent.report.room import columns

_MANY = 5
"""So many things that a host lacks for one reason, and has nothing of, are said in one sentence."""
_TOLD = ("` would give it", "` would tell", "; start it with `")
"""A reason that ends so says itself what would help."""
BY_HAND = "By hand, on the server's host; what a command prints is the content of its file:"


def summary(outcome: Outcome) -> str:
    """The text, with a line's end: a line for each thing got, a paragraph for each that was not and for a host of which
    there is nothing, then the commands to copy, whole."""
    apart = tuple(lack for lack in outcome.lacks if not _all_at_once(lack, outcome))
    told: list[Got | Lack] = [*outcome.got, *apart]
    width = max((len(_what(each)) for each in told), default=0)
    lines = [f"got      {_what(got):<{width}}  {_size(got)}" for got in outcome.got]
    for host, why in dict.fromkeys((lack.host, lack.why) for lack in outcome.lacks if lack not in apart):
        names = ", ".join(lack.name for lack in outcome.lacks if (lack.host, lack.why) == (host, why))
        lines += _filled(f"{why.strip().removesuffix('.')}. So there is no {names}", f"lacking  {host}: ")
    for lack in apart:
        lines += _filled(_why(lack), f"lacking  {_what(lack):<{width}}  ")
    lines += _filled(", ".join(outcome.absent), "not there: ") if outcome.absent else []
    lines += _commands(outcome.lacks, apart)
    return without_controls("".join(f"{line.rstrip()}\n" for line in lines))


def _filled(text: str, first: str) -> list[str]:
    return [line.text for line in wrapped(text, columns(), first)]


def _what(each: Got | Lack) -> str:
    return f"{each.host} {each.name}" if each.host else each.name


def _size(got: Got) -> str:
    """About how much was written, and what is to be said of it."""
    units = ((1 << 20, "MiB", 1), (1 << 10, "KiB", 1), (1, "B", 0))
    scale, unit, digits = next(each for each in units if got.size_bytes >= each[0] or each[0] == 1)
    return f"{f'{got.size_bytes / scale:.{digits}f} {unit}':<9}  {got.remark}"


def _why(lack: Lack) -> str:
    return " ".join(lack.why.split()).removesuffix(".")


def _all_at_once(lack: Lack, outcome: Outcome) -> bool:
    """Whether one reason keeps everything of a host away, as that it cannot be reached."""
    alike = sum((each.host, each.why) == (lack.host, lack.why) for each in outcome.lacks)
    return lack.host in outcome.silent and alike >= _MANY


def _commands(lacks: Sequence[Lack], apart: Sequence[Lack]) -> Iterator[str]:
    """What gives by hand that which no reason tells itself; a command that is too long beside its file stands below.
    Only what is lacking of hosts of which there is something (`apart`) has a command each."""
    open_ones = [lack for lack in lacks if lack.command and not _told(lack)]
    to_copy = [(_file(lack), lack.command) for lack in open_ones if lack.command != ON_THE_HOST and lack in apart]
    if to_copy:
        yield from ("", *_filled(BY_HAND, ""))
    width = max((len(file) for file, _ in to_copy), default=0)
    for file, command in to_copy:
        line = f"  {file:<{width}}  {command}"
        yield from [line] if len(line) <= columns() else [f"  {file}", f"    {command}"]
    if len(to_copy) < len(open_ones):
        yield from ("", *_filled(f"All of it, on the host itself: {ON_THE_HOST}", ""))


def _told(lack: Lack) -> bool:
    """Whether the reason says itself what would help, or that the very program of the command is not there."""
    why, program = _why(lack), lack.command.split()[0]
    return any(mark in why for mark in _TOLD) or f"{program}’: No such file" in why


def _file(lack: Lack) -> str:
    return f"hosts/{lack.host}/{'metrics/1.prom' if lack.name == 'metrics' else lack.name}"
