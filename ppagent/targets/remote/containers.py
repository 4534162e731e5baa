"""Containers as a host's processes and their engines tell of them: which ports of the host lead into one, which engine
keeps it and for whom, what it was started with."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ppagent.targets.remote.sections import Sections

_CONTAINER = re.compile(
    r"(?:docker|libpod|crio|cri-containerd)[-/](?:payload-)?([0-9a-f]{12,64})|/kubepods\S*/([0-9a-f]{64})"
)
"""Below a unit's own group, as Podman puts a container that systemd runs, it is `libpod-payload-ID`."""
_OWNER = re.compile(r"/user-(\d+)\.slice/\S*libpod")
_LEADS = re.compile(r"(?P<host>\S*):(?P<port>\d+)(?:-(?P<last>\d+))?->(?P<inner>\d+)(?:-\d+)?/tcp")
"""A port as `docker ps` and `podman ps` write it: `0.0.0.0:31001->30000/tcp`, and for a row `8000-8002->8000-8002`."""
_ANYWHERE = ("0.0.0.0", "::", "[::]", "")


@dataclass(frozen=True)
class Lead:
    """A port of the host that leads into a container. `container` is its id, or the address it has in its network."""

    container: str
    inner: int
    port: int
    host: str = ""
    """The host's address that it is open at; empty for all."""


@dataclass(frozen=True)
class Contained:
    """What is known of a process in a container beside its control groups."""

    name: str = ""
    leads: tuple[Lead, ...] = ()
    """The ports of the host that lead into its container."""
    apart: bool = False
    """Whether its network is none of the host's."""
    entered: bool = False
    """Whether it was started in a container that ran already, as by `docker exec`."""
    first: int | None = None
    """The process that its container was started with, where it descends from that one."""
    within: bool = False
    """Whether its container was asked for what may not be read of it: its paths are those of the container then."""
    looked_by: int | None = None
    """The number of the account that looks; None where it is not known."""


def contained_in(survey: Sections, pid: int, parents: Mapping[int, int], groups: str, within: bool) -> Contained:
    """What a survey tells of a process and its container; what it lacks is left out."""
    container, addresses = container_of(groups), _addresses(survey, str(pid))
    named = re.search(rf"^{container} (\S+)", survey.text("ports"), re.MULTILINE) if container else None
    keys = {container, *addresses} - {""}
    first, nested = _first(survey, pid, parents), _nested(survey, pid)
    uid = survey.text("uid").strip()
    return Contained(
        name=named[1].partition(",")[0] if named else "",
        leads=tuple(lead for lead in _all_leads(survey) if lead.container in keys),
        apart=bool(addresses) and not addresses & _addresses(survey, "self"),
        entered=nested and first is None,
        first=first,
        within=within,
        looked_by=int(uid) if uid.isdecimal() else None,
    )


def ended_in(survey: Sections) -> str:
    """What is known of containers that ran a server and do not any more, as a sentence; empty for nothing."""
    rows = [row.split("\t") for row in survey.text("ended").splitlines()]
    told = [(caller.split(), how) for caller, how, *_ in (row for row in rows if len(row) > 2) if " " in caller]
    found = ", ".join(f"container {name} {how[:1].lower()}{how[1:]}" for (_, name), how in told)
    first = next((f"{engine} logs {name}" for (engine, name), _ in told), "")
    return f"{found} (its last lines: `{first} 2>&1 | tail -n 200`, which ppagent diagnose - reads)" if found else ""


def container_of(groups: str) -> str:
    """The id of the container of a process, out of its control groups; empty for none."""
    match = _CONTAINER.search(groups)
    return (match[1] or match[2]) if match else ""


def engine_of(groups: str) -> str:
    """Who keeps that container: docker, podman, or empty for neither."""
    keeper = re.search(r"docker|libpod", groups) if container_of(groups) else None
    return {"docker": "docker", "libpod": "podman"}[keeper[0]] if keeper else ""


def owner_of(groups: str) -> int:
    """The number of the account whose podman keeps that container; 0, the system's own, for every other container."""
    match = _OWNER.search(groups)
    return int(match[1]) if match else 0


def _first(survey: Sections, pid: int, parents: Mapping[int, int]) -> int | None:
    """The first process of a namespace of its own that a process descends from, or is."""
    firsts = {int(each) for each in re.findall(r"/proc/(\d+)/status", survey.text("firsts"))}
    seen: set[int] = set()
    while pid and pid not in seen:
        if pid in firsts:
            return pid
        seen.add(pid)
        pid = parents.get(pid, 0)
    return None


def _nested(survey: Sections, pid: int) -> bool:
    """Whether its processes have numbers of their own."""
    return re.search(rf"^/proc/{pid}/status:NSpid:\s*\d+\s+\d", survey.text("status"), re.MULTILINE) is not None


def _addresses(survey: Sections, pid: str) -> frozenset[str]:
    return frozenset(re.findall(rf"^/proc/{pid}/net:(\S+)", survey.text("addresses"), re.MULTILINE))


def _all_leads(survey: Sections) -> tuple[Lead, ...]:
    found: list[Lead] = []
    for line in survey.text("ports").splitlines():
        if (forwarder := _forwarder(line)) is not None:
            found.append(forwarder)
        elif match := re.match(r"[0-9a-f]{64}\b", line):
            found += _leads(match[0], line)
    return tuple(dict.fromkeys(found))


def _leads(container: str, line: str) -> list[Lead]:
    found = []
    for match in _LEADS.finditer(line):
        first, inner = int(match["port"]), int(match["inner"])
        host = "" if match["host"] in _ANYWHERE else match["host"].strip("[]")
        for step in range(min(int(match["last"] or first) - first, 65535) + 1):
            found.append(Lead(container, inner + step, first + step, host))
    return found


def _forwarder(line: str) -> Lead | None:
    """One that docker runs for a port (`docker-proxy`, unless its daemon was told `--userland-proxy=false`)."""
    words = line.split()
    if not words or not words[0].endswith("docker-proxy"):
        return None
    told = dict(zip(words[1::2], words[2::2], strict=False))
    ports = told.get("-container-port", ""), told.get("-host-port", "")
    if told.get("-proto") != "tcp" or not all(port.isdecimal() for port in ports):
        return None
    host = told.get("-host-ip", "")
    return Lead(told.get("-container-ip", ""), int(ports[0]), int(ports[1]), "" if host in _ANYWHERE else host)
