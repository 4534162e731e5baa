"""Whose processes are on the cards: what the host calls them, in whichever way the driver numbers them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ppagent.targets.remote.forms import titles
from ppagent.targets.remote.sections import Sections
from ppagent.targets.remote.servers import Server

HEADER = "index,pid,name,used_memory_mib"
UNKNOWN = "[Not Found]"
"""How nvidia-smi calls a process that the host does not show, such as one of another container."""

_NUMBERED = re.compile(r"/proc/(\d+)/status:NSpid:\s*([\d\s]*\d)")


@dataclass(frozen=True)
class Owners:
    """Names of processes by id: the server's titles, and the programs of all others."""

    titles: Mapping[int, str] = field(default_factory=dict)
    others: Mapping[int, str] = field(default_factory=dict)
    inside: Mapping[int, int] = field(default_factory=dict)
    """The server's processes as its container numbers them, and their ids on the host."""

    def table(self, rows: str, *, within: bool) -> str:
        """gpu_processes.csv out of rows of index, id and MiB; empty where no card gave a list.

        `within`: whether they were read in the server's container. There drivers before 550 or so number processes as
        the host does, newer ones as the container does, and then tell no memory: what is 0 MiB is not known.
        """
        cells = [[cell.strip() for cell in row.split(",")] for row in rows.splitlines()]
        listed = [row for row in cells if len(row) == 3 and row[0] and row[1].isdecimal()]
        if not listed and any(len(row) == 3 and row[0] for row in cells):
            return ""
        ids = self._ids([int(pid) for _, pid, _ in listed], within=within)
        lines = [
            f"{index},{pid},{name},{held if held.isdecimal() and int(held) else ''}"
            for (index, _, held), (pid, name) in zip(listed, ids, strict=True)
        ]
        return "\n".join((HEADER, *lines, ""))

    def _ids(self, given: list[int], *, within: bool) -> list[tuple[int, str]]:
        """As the host numbers them, with their names; what only the container can tell keeps its own number."""
        of_host, of_container = (sum(pid in known for pid in given) for known in (self.titles, self.inside))
        if not within or of_host >= of_container:
            return [(pid, self._name(pid)) for pid in given]
        return [(self.inside.get(pid, pid), self._name(self.inside.get(pid, 0))) for pid in given]

    def _name(self, pid: int) -> str:
        return self.titles.get(pid) or self.others.get(pid) or UNKNOWN


def owners_of(server: Server | None, survey: Sections) -> Owners:
    """Names out of the survey; the titles of the server's processes where there is one."""
    others = {}
    for line in _said(survey, "tree").splitlines():
        cells = line.split(None, 2)
        if len(cells) == 3 and cells[0].isdecimal():
            others[int(cells[0])] = cells[2].strip().replace(",", " ")
    named = titles(server) if server is not None else {}
    numbered = {int(pid): int(ids.split()[-1]) for pid, ids in _NUMBERED.findall(_said(survey, "status"))}
    return Owners(named, others, {own: pid for pid, own in numbered.items() if pid in named})


def _said(survey: Sections, name: str) -> str:
    return survey[name].text if name in survey else ""
