"""What a recording came to, for the person at the terminal: a line for each thing got, and for each that was not."""

from ppagent.evidence.quoting import without_controls
from ppagent.record.commands import ON_THE_HOST
from ppagent.record.outcome import Got, Lack, Outcome

_TOLD = ("` would give it", "` would tell", "; start it with `")
"""A reason that ends so says itself what would help."""


def summary(outcome: Outcome) -> str:
    """The text, with a line's end."""
    told: list[Got | Lack] = [*outcome.got, *outcome.lacks]
    width = max((len(_what(each)) for each in told), default=0)
    lines = [f"got      {_what(got):<{width}}  {_size(got)}" for got in outcome.got]
    lines += [f"lacking  {_what(lack):<{width}}  {_why(lack)}" for lack in outcome.lacks]
    lines += [f"not there: {', '.join(outcome.absent)}"] if outcome.absent else []
    return without_controls("".join(f"{line.rstrip()}\n" for line in lines))


def _what(each: Got | Lack) -> str:
    return f"{each.host} {each.name}" if each.host else each.name


def _size(got: Got) -> str:
    """About how much was written, and what is to be said of it."""
    units = ((1 << 20, "MiB", 1), (1 << 10, "KiB", 1), (1, "B", 0))
    scale, unit, digits = next(each for each in units if got.size_bytes >= each[0] or each[0] == 1)
    return f"{f'{got.size_bytes / scale:.{digits}f} {unit}':<9}  {got.remark}"


def _why(lack: Lack) -> str:
    """The reason in a line, and the command that would give it."""
    why = " ".join(lack.why.split()).removesuffix(".")
    if not lack.command or any(mark in why for mark in _TOLD):
        return why
    if lack.command == ON_THE_HOST:
        return f"{why}; try `{lack.command}` on the host itself"
    name = "metrics/1.prom" if lack.name == "metrics" else lack.name
    return f"{why}; on the host: `{lack.command}`, into hosts/{lack.host}/{name}"
