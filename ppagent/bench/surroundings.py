"""What around a measurement bends the figures: the way to the server, and how the CPUs of both ends are clocked."""

import json
import re
import socket
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

from ppagent.bench.endpoint import Endpoint
from ppagent.errors import PpagentError, ToolError
from ppagent.targets.target import Artifact

if TYPE_CHECKING:
    from ppagent.targets.live_host import LiveHost

GOVERNOR = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
SLOW_GOVERNORS = frozenset({"powersave", "schedutil", "conservative", "ondemand"})
FAR_MS = 2.0
CONNECTS = 5


@dataclass(frozen=True)
class Surroundings:
    """Where a measurement was taken from."""

    route: str
    connect_ms: float
    """Median time to connect: about one round trip."""
    governor: str
    """CPU frequency governor of the client's machine; empty where it has none to tell."""
    server_governor: str = ""
    """Of the server's, where that is another machine that can be looked at; empty otherwise."""

    @property
    def governors(self) -> str:
        """The governors in words; empty where none is known."""
        if not self.server_governor:
            return f"governor {self.governor}" if self.governor else ""
        here = f"{self.governor} here, " if self.governor else ""
        return f"governor {here}{self.server_governor} on the server's host"

    @property
    def remarks(self) -> tuple[str, ...]:
        """What of it to keep in mind."""
        found: list[str] = []
        if _slow(self.governor):
            found.append(f"the client's CPU governor is {self.governor}: it can double the time to first token")
        if _slow(self.server_governor):
            found.append(
                f"the CPU governor of the server's host is {self.server_governor}: its schedulers start every step "
                "from a CPU that may be clocked down"
            )
        if self.connect_ms > FAR_MS:
            found.append(
                f"a round trip takes {self.connect_ms:.1f} ms ({self.route}) and is part of every latency: "
                "compare only with figures taken the same way"
            )
        return tuple(found)


def look_around(endpoint: Endpoint, host: "LiveHost | None" = None) -> Surroundings:
    """Measures the way and reads the governors; `host` is the server's, where it can be looked at. Raises ToolError
    where the server cannot be reached."""
    theirs = governor_of(host) if host is not None and host.link.kind != "local" else ""
    return Surroundings(endpoint.route, _connect_ms(endpoint), _governor(), theirs)


def governor_of(host: "LiveHost") -> str:
    """The governor of a host's CPUs, several with how many CPUs have each; empty where it is not told."""
    try:
        told = json.loads(host.text(Artifact.HOST))
    except PpagentError:  # said beside a measurement, which goes on without it
        return ""
    return str(told.get("governor") or "")


def _slow(governor: str) -> bool:
    return not SLOW_GOVERNORS.isdisjoint(re.findall(r"[a-z]+", governor))


def _connect_ms(endpoint: Endpoint) -> float:
    times: list[float] = []
    for _ in range(CONNECTS):
        begin = perf_counter()
        try:
            socket.create_connection((endpoint.host, endpoint.port), timeout=10).close()
        except OSError as error:
            raise ToolError(f"{endpoint.base_url} cannot be reached: {error.strerror or error}") from error
        times.append(1000 * (perf_counter() - begin))
    return median(times)


def _governor() -> str:
    try:
        return GOVERNOR.read_text().strip()
    except OSError:
        return ""
