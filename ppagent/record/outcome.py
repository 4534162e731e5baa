"""What a recording came to: what is in it, what is not and why, and what somebody who reads it should know."""

from dataclasses import dataclass, field
from enum import Enum


class End(Enum):
    """How the recording came to its end."""

    FINISHED = "finished"
    CANCELLED = "cancelled"
    LOST = "a connection was lost"
    UNWRITTEN = "the folder could not be written to"


@dataclass(frozen=True)
class Got:
    """One artifact that was written. `host` is empty for what belongs to the whole deployment."""

    host: str
    name: str
    size_bytes: int
    remark: str = ""


@dataclass(frozen=True)
class Lack:
    """One artifact that could not be had, why, and a command that would give it (empty where none would)."""

    host: str
    name: str
    why: str
    command: str = ""


@dataclass
class Outcome:
    """Collected while recording."""

    end: End = End.FINISHED
    got: list[Got] = field(default_factory=list)
    lacks: list[Lack] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    """What a recording that is copied never held."""
    notes: list[str] = field(default_factory=list)
    """Sentences for incident.yaml: what was cut, what was left out."""
    why: str = ""
    """Why it ended early."""

    @property
    def saw_server(self) -> bool:
        """Whether anything of an SGLang server is in it."""
        of_server = ("launch.txt", "server.log", "server_info.json", "processes.json", "metrics")
        return any(got.name in of_server for got in self.got)

    @property
    def silent(self) -> dict[str, str]:
        """Hosts of which there is nothing at all, with the first reason."""
        heard = {got.host for got in self.got}
        return {lack.host: lack.why for lack in reversed(self.lacks) if lack.host and lack.host not in heard}

    def add(self, host: str, name: str, size_bytes: int, remark: str = "") -> None:
        """Notes down an artifact, in the place of what was written of it before."""
        new = Got(host, name, size_bytes, remark)
        before = next((at for at, got in enumerate(self.got) if (got.host, got.name) == (host, name)), None)
        if before is None:
            self.got.append(new)
        else:
            self.got[before] = new

    def lack(self, host: str, name: str, why: str, command: str = "") -> None:
        self.lacks.append(Lack(host, name, why, command))
