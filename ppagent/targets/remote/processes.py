"""The processes of SGLang servers out of a survey: what they are called, what they use, where their output goes."""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from ppagent.targets.remote.containers import Contained, contained_in
from ppagent.targets.remote.cpu_use import Thread, cpu_use, threads_use
from ppagent.targets.remote.proc_stat import started_of, stats_of, uptime_of
from ppagent.targets.remote.sections import Sections

_PATH = re.compile(r"/proc/(\d+)/([^:\t ]+)")


@dataclass(frozen=True)
class Process:
    """One process of a server, or the one that started it."""

    pid: int
    ppid: int | None
    cmdline: tuple[str, ...]
    user: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables that matter to a server; those with a secret's name hold no value."""
    env_read: bool = False
    exe: str = ""
    cwd: str = ""
    outputs: Mapping[int, str] = field(default_factory=dict)
    """What its file descriptors 0 to 3 lead to."""
    sockets: frozenset[str] = frozenset()
    groups: str = ""
    addresses: tuple[str, ...] = ()
    """Where its network is reached, loopback aside."""
    namespace: str = ""
    """The Kubernetes namespace of its pod; empty for none, or where that may not be seen."""
    affinity: str = ""
    cpu_percent: float | None = None
    age_s: float | None = None
    started_s: float | None = None
    """When it was started, in seconds since its host was: unlike an age it stays true while time goes by."""
    threads: tuple[Thread, ...] = ()
    contained: Contained = Contained()

    @property
    def title(self) -> str:
        """The title that SGLang gives a worker (`sglang::scheduler_PP0_TP1`); empty for other processes."""
        first = self.cmdline[0] if self.cmdline else ""
        return first if first.startswith("sglang::") else ""


def read_processes(survey: Sections) -> tuple[Process, ...]:
    """Every process that the survey looked into, by process id. What the survey lost is left out of them."""
    words = _words(survey)
    parents = parents_of(survey)
    variables, links = _variables(survey), _links(survey)
    owners = _by_pid(survey, "owners", r"/proc/(\d+)/\. (?:UNKNOWN )?(\S+)")
    groups = _lines_by_pid(survey, "groups")
    addresses, namespaces = _lines_by_pid(survey, "addresses"), _lines_by_pid(survey, "pods")
    affinity = _by_pid(survey, "status", r"/proc/(\d+)/status:Cpus_allowed_list:\s*(\S+)")
    use, ticks = cpu_use(survey), survey.text("ticks1")
    now_s, started = uptime_of(ticks), started_of(ticks)
    threads = threads_use(survey)
    return tuple(
        Process(
            pid=pid,
            ppid=parents.get(pid),
            cmdline=cmdline,
            user=owners.get(pid, ""),
            env=variables.get(pid, {}),
            env_read=pid in variables,
            exe=links.get((pid, "exe"), ""),
            cwd=links.get((pid, "cwd"), ""),
            outputs={number: to for number in range(4) if (to := links.get((pid, f"fd/{number}")))},
            sockets=frozenset(to for (owner, name), to in links.items() if owner == pid and to.startswith("socket:")),
            groups=groups.get(pid, ""),
            addresses=tuple(addresses.get(pid, "").split()),
            namespace=namespaces.get(pid, ""),
            affinity=affinity.get(pid, ""),
            cpu_percent=use.get(pid),
            age_s=now_s - started[pid] if pid in started else None,
            started_s=started.get(pid),
            threads=threads.get(pid, ()),
            contained=contained_in(survey, pid, parents, groups.get(pid, ""), (pid, "within") in links),
        )
        for pid, cmdline in sorted(words.items())
    )


def outputs_of_others(survey: Sections) -> dict[int, dict[int, str]]:
    """What the first file descriptors of every process lead to, as far as that may be seen, by process id."""
    found: dict[int, dict[int, str]] = defaultdict(dict)
    for (pid, name), to in _links(survey).items():
        if name.startswith("fd/") and name[3:].isdecimal() and int(name[3:]) < 4:
            found[pid][int(name[3:])] = to
    return found


def parents_of(survey: Sections) -> dict[int, int]:
    """Every process of the host and its parent."""
    found = {}
    for line in survey.text("tree").splitlines():
        cells = line.split(None, 2)
        if len(cells) == 3 and cells[0].isdecimal() and cells[1].isdecimal():
            found[int(cells[0])] = int(cells[1])
    found.update((pid, stat.parent) for pid, stat in stats_of(survey.text("ticks1")).items())
    return found


def _words(survey: Sections) -> dict[int, tuple[str, ...]]:
    found: dict[int, list[str]] = defaultdict(list)
    for record in survey.text("words").split("\0"):
        path, _, word = record.partition(":")
        if match := _PATH.fullmatch(path):
            found[int(match[1])].append(word)
    return {pid: tuple(_without_padding(words)) for pid, words in found.items()}


def _without_padding(words: list[str]) -> list[str]:
    """A title is written over the arguments, which leaves empty ones behind it."""
    end = len(words)
    while end > 1 and not words[end - 1] and words[0].startswith("sglang::"):
        end -= 1
    return words[:end]


def _variables(survey: Sections) -> dict[int, dict[str, str]]:
    found: dict[int, dict[str, str]] = defaultdict(dict)
    for record in survey.text("variables").split("\0"):
        path, _, assignment = record.partition(":")
        match = _PATH.fullmatch(path)
        name, equals, value = assignment.partition("=")
        if match and equals:
            found[int(match[1])][name] = value
    return found


def _links(survey: Sections) -> dict[tuple[int, str], str]:
    found = {}
    for record in survey.text("links").split("\0"):
        path, _, to = record.partition("\t")
        if match := _PATH.fullmatch(path):
            found[int(match[1]), match[2]] = to
    return found


def _by_pid(survey: Sections, name: str, pattern: str) -> dict[int, str]:
    return {int(pid): value for pid, value in re.findall(pattern, survey.text(name))}


def _lines_by_pid(survey: Sections, name: str) -> dict[int, str]:
    found: dict[int, list[str]] = defaultdict(list)
    for line in survey.text(name).splitlines():
        path, _, rest = line.partition(":")
        if match := _PATH.fullmatch(path):
            found[int(match[1])].append(rest)
    return {pid: "\n".join(lines) for pid, lines in found.items()}
