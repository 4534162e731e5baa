"""The target with something else in the place of what belongs to the whole deployment."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ppagent.errors import NotRecorded
from ppagent.targets.target import Artifact, Shared, SourceTree, Target


@dataclass(frozen=True)
class Overlay:
    """`target`, where each artifact of `instead` reads as given; None stands for one that is not there."""

    target: Target
    instead: Mapping[Shared, str | None]

    @property
    def kind(self) -> str:
        return self.target.kind

    @property
    def name(self) -> str:
        return self.target.name

    @property
    def hosts(self) -> tuple[str, ...]:
        return self.target.hosts

    def text(self, host: str, artifact: Artifact) -> str:
        return self.target.text(host, artifact)

    def log(self, host: str) -> Iterator[bytes]:
        return self.target.log(host)

    def scrapes(self, host: str) -> tuple[tuple[str, str], ...]:
        return self.target.scrapes(host)

    def source(self, host: str) -> SourceTree:
        return self.target.source(host)

    def shared(self, artifact: Shared) -> str:
        if artifact not in self.instead:
            return self.target.shared(artifact)
        text = self.instead[artifact]
        if text is None:
            raise NotRecorded(f"{artifact.value} was read before")
        return text
