"""A server's log: lines at times, written in order."""

import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from ppagent_evals.writing.server import Rank, Server


@dataclass
class Log:
    """Lines of one host. `at` is the present, in seconds after `start`."""

    server: Server
    start: datetime
    rng: random.Random
    at: float = 0.0
    lines: list[tuple[float, str]] = field(default_factory=list)
    init_s: float = 0.0
    """When the ranks had met."""

    def line(self, text: str, rank: Rank | None = None, at: float | None = None) -> None:
        """A line with SGLang's prefix; without `rank` it is the launcher's."""
        when = self.at if at is None else at
        tags = self.server.tags(rank) if rank is not None else ""
        self.raw(f"[{self.stamp(when)}{tags}] {text}", when)

    def raw(self, text: str, at: float | None = None) -> None:
        """A line as it is."""
        self.lines.append((self.at if at is None else at, text))

    def stamp(self, at: float | None = None) -> str:
        moment = self.start + timedelta(seconds=self.at if at is None else at)
        return moment.strftime("%Y-%m-%d %H:%M:%S")

    def iso(self, at: float | None = None) -> str:
        return self.stamp(at).replace(" ", "T")

    def text(self, until_s: float = float("inf"), without: tuple[float, float] = (0.0, 0.0)) -> str:
        """The log up to a time, in order of time; `without` is a stretch that the excerpt leaves out."""
        kept = [pair for pair in self.lines if pair[0] <= until_s and not without[0] < pair[0] < without[1]]
        return "".join(line + "\n" for _, line in sorted(kept, key=lambda pair: pair[0]))
