"""The place of a target that cannot be opened any more: what was found stays usable, and nothing new is found."""

from collections.abc import Iterator
from dataclasses import dataclass

from ppagent.errors import NotRecorded
from ppagent.targets.target import Artifact, Shared, SourceTree


@dataclass(frozen=True)
class Gone:
    """Answers every question by saying that the target is not there."""

    name: str
    kind: str = "recording"
    hosts: tuple[str, ...] = ()

    def text(self, host: str, artifact: Artifact) -> str:
        raise NotRecorded(f"{self.name} is not there any more")

    def log(self, host: str) -> Iterator[bytes]:
        raise NotRecorded(f"{self.name} is not there any more")

    def scrapes(self, host: str) -> tuple[tuple[str, str], ...]:
        raise NotRecorded(f"{self.name} is not there any more")

    def source(self, host: str) -> SourceTree:
        raise NotRecorded(f"{self.name} is not there any more")

    def shared(self, artifact: Shared) -> str:
        raise NotRecorded(f"{self.name} is not there any more")
