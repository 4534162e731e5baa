"""What a session remembers: which server it is about, and what was found of the target earlier."""

from dataclasses import dataclass

from ppagent.evidence.evidence import Evidence


@dataclass(frozen=True)
class Before:
    """What was found of this target earlier: in another session, or of a server that does not run any more."""

    label: str
    """Of when it is, as a comparison is headed."""
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True)
class Serving:
    """One host's server. `mark` is the boot and the start of its first process, so that a process id that was given out
    again is told apart; where the process cannot be seen (`pid` 0), the random seed that SGLang draws at each start
    (`random_seed` of `srt/server_args.py`)."""

    pid: int
    mark: str
    age_s: float | None = None
    """How long it had run when it was looked at."""

    def same_as(self, other: "Serving | None") -> bool:
        return other is not None and (self.pid, self.mark) == (other.pid, other.mark)
