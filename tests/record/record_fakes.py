"""A live deployment made from a recording, and what a diagnosis of either comes to."""

from collections.abc import Iterator
from pathlib import Path

from ppagent.agent.investigation import Investigation, investigate
from ppagent.brains.rules import RulesBrain
from ppagent.changes.plan import make_plan
from ppagent.errors import NotRecorded
from ppagent.plugins import discover
from ppagent.record.folder import prepare
from ppagent.record.incident import Words
from ppagent.record.outcome import Outcome
from ppagent.record.recorder import Recorder
from ppagent.targets.recording import Recording
from ppagent.targets.source_files import SourceFiles
from ppagent.targets.target import Artifact, Shared, SourceHit, Target

INCIDENTS = Path(__file__).parents[2] / "evals" / "incidents"


class FarSource:
    """A source tree that lies on no disk of this machine."""

    def __init__(self, tree: SourceFiles) -> None:
        self._tree = tree

    def files(self) -> tuple[str, ...]:
        return self._tree.files()

    def read(self, path: str) -> str:
        return self._tree.read(path)

    def grep(self, pattern: str, under: str = "sglang", limit: int = 200) -> tuple[SourceHit, ...]:
        return self._tree.grep(pattern, under, limit)


class FakeLive:
    """Answers out of a recording as a live server would: it knows no question, no result and no earlier incident."""

    kind = "local"

    def __init__(self, root: Path) -> None:
        self._held = Recording(root)
        self.name = self._held.name
        self.hosts = self._held.hosts
        self.asked: list[str] = []

    def text(self, host: str, artifact: Artifact) -> str:
        self.asked.append(artifact.value)
        return self._held.text(host, artifact)

    def log(self, host: str) -> Iterator[bytes]:
        self.asked.append("log")
        return self._held.log(host)

    def scrapes(self, host: str) -> tuple[tuple[str, str], ...]:
        return self._held.scrapes(host)

    def source(self, host: str) -> FarSource:
        return FarSource(self._held.source(host))

    def shared(self, artifact: Shared) -> str:
        raise NotRecorded(f"{artifact.value} is nothing that a live server has")


def record(target: Target, root: Path, *, question: str = "", force: bool = False) -> Outcome:
    """A recording of `target` in `root`."""
    folder = prepare(root, force=force)
    return Recorder(target, folder, Words(question), window_s=10, watch=lambda _: None).record()


def diagnosed(target: Target, question: str = "") -> Investigation:
    return investigate(target, discover(), brain=RulesBrain(), planner=make_plan, question=question)


def told(found: Investigation) -> dict[str, object]:
    """What a user acts on."""
    return {
        "verdict": found.verdict,
        "states": {each.cause_id: each.state for each in found.board.hypotheses},
        "proposals": [(each.change, each.command) for each in found.plan.proposals],
    }
