"""What around the client bends the figures: the way to the server, and how the client's own CPU is clocked."""

import socket
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

from ppagent.bench.endpoint import Endpoint
from ppagent.errors import ToolError

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

    @property
    def remarks(self) -> tuple[str, ...]:
        """What of it to keep in mind."""
        found: list[str] = []
        if self.governor in SLOW_GOVERNORS:
            found.append(f"the client's CPU governor is {self.governor}: it can double the time to first token")
        if self.connect_ms > FAR_MS:
            found.append(
                f"a round trip takes {self.connect_ms:.1f} ms ({self.route}) and is part of every latency: "
                "compare only with figures taken the same way"
            )
        return tuple(found)


def look_around(endpoint: Endpoint) -> Surroundings:
    """Measures the way and reads the governor. Raises ToolError where the server cannot be reached."""
    return Surroundings(endpoint.route, _connect_ms(endpoint), _governor())


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
