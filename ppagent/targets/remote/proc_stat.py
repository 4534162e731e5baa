"""Lines of /proc/PID/stat and /proc/uptime, as the survey brings them (proc(5))."""

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Stat:
    """What counts of a process or a thread: `ticks` of processor time used, `started` in ticks since the host did."""

    name: str
    parent: int
    ticks: int
    started: int


def stats_of(text: str) -> dict[int, Stat]:
    """Every line by its process id; what is no such line is passed over."""
    return {pid: stat for pid, stat in (stat_of(line) for line in text.splitlines()) if stat is not None}


def stat_of(line: str) -> tuple[int, Stat | None]:
    """(id, line); (0, None) where it is none. A name may hold blanks and brackets."""
    match = re.match(r"(\d+) \((.*)\) \S (.*)", line)
    cells = match[3].split() if match else []
    if match is None or len(cells) < 19 or not all(cells[place].isdecimal() for place in (0, 10, 11, 18)):
        return 0, None
    return int(match[1]), Stat(match[2], int(cells[0]), int(cells[10]) + int(cells[11]), int(cells[18]))


def clock_of(text: str) -> tuple[float, int]:
    """Seconds since the host started, and its ticks per second; zeros where the section is not there."""
    lines = text.splitlines()
    if len(lines) < 2 or not lines[1].strip().isdecimal():
        return 0.0, 0
    return uptime_of(text), int(lines[1])


def started_of(text: str) -> dict[int, float]:
    """When each process was started, in seconds since the host was."""
    _, per_s = clock_of(text)
    return {pid: stat.started / per_s for pid, stat in stats_of(text).items()} if per_s else {}


def uptime_of(text: str) -> float:
    """Seconds since the host started."""
    match = re.match(r"\s*(\d+(?:\.\d+)?)", text)
    return float(match[1]) if match else 0.0


def tasks_of(text: str) -> Iterator[tuple[int, int, Stat]]:
    """(process id, thread id, line) of each thread, below a line of uptime."""
    for line in text.splitlines()[1:]:
        pid, _, rest = line.partition(" ")
        tid, stat = stat_of(rest)
        if stat is not None and pid.isdecimal():
            yield int(pid), tid, stat
