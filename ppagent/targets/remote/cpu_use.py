"""What processes and their threads use of the processor, out of the two looks of a survey."""

from collections import defaultdict
from dataclasses import dataclass

from ppagent.targets.remote.proc_stat import clock_of, stats_of, tasks_of, uptime_of
from ppagent.targets.remote.sections import Sections

BUSY_THREAD_PERCENT = 5.0
MOST_THREADS = 8


@dataclass(frozen=True)
class Thread:
    """A thread that used the processor while the host was looked at. One full core is 100 %."""

    tid: int
    name: str
    cpu_percent: float


def cpu_use(survey: Sections) -> dict[int, float]:
    """Processor use between the two looks, percent of one core."""
    first, second = survey.text("ticks1"), survey.text("ticks2")
    (began, per_s), (ended, _) = clock_of(first), clock_of(second)
    if not per_s or ended <= began:
        return {}
    before, after = stats_of(first), stats_of(second)
    share = 100.0 / per_s / (ended - began)
    return {pid: round((after[pid].ticks - before[pid].ticks) * share, 1) for pid in before.keys() & after.keys()}


def threads_use(survey: Sections) -> dict[int, tuple[Thread, ...]]:
    """The busiest threads of each process."""
    per_s = clock_of(survey.text("ticks1"))[1]
    first, second = survey.text("tasks1"), survey.text("tasks2")
    window_s = uptime_of(second) - uptime_of(first)
    if not per_s or window_s <= 0:
        return {}
    before = {tid: stat for _, tid, stat in tasks_of(first)}
    found: dict[int, list[Thread]] = defaultdict(list)
    for pid, tid, stat in tasks_of(second):
        if tid in before:
            percent = round((stat.ticks - before[tid].ticks) * 100.0 / per_s / window_s, 1)
            if percent >= BUSY_THREAD_PERCENT:
                found[pid].append(Thread(tid, stat.name, percent))
    return {pid: tuple(sorted(each, key=lambda t: -t.cpu_percent)[:MOST_THREADS]) for pid, each in found.items()}
