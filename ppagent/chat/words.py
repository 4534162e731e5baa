"""What the user tells is evidence: the weakest there is, and often the only one."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

from ppagent.chat.session import Session
from ppagent.errors import NotRecorded
from ppagent.evidence.evidence import Evidence, Finding
from ppagent.evidence.masking import mask
from ppagent.plugins import ToolContext
from ppagent.targets.target import Artifact, Shared, SourceTree, Target

TOOL = "user.stated"


@dataclass(frozen=True)
class WordsOnly:
    """The target without the words that came with it, so that they are not read a second time."""

    target: Target

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
        raise NotRecorded(f"{artifact.value} was read before")


def tell(session: Session, text: str) -> tuple[Evidence, ...]:
    """Takes the user's words as evidence; what was new in them. All words of the session are read together, so that
    what was said first still counts."""
    session.words.append(text)
    session.record("words", text=mask(text))
    ledger = session.desk.ledger
    known = {_content(item) for item in ledger.evidence}
    fresh = [finding for finding in _read(session) if _content(finding) not in known]
    added = tuple(ledger.add(TOOL, finding) for finding in fresh)
    if added:
        session.looked = False
        rows = [asdict(item) for item in added]
        session.record("tool", tool=TOOL, why="the user said it", arguments={}, evidence=rows)
    return added


def _read(session: Session) -> Iterator[Finding]:
    """Findings of the user's words. What is said now counts before what a recording or an earlier message says, but
    never before what the server says of itself."""
    offer = session.desk.toolbox.find(TOOL)
    if offer is None:
        return
    context = ToolContext(WordsOnly(session.desk.context.target))
    arguments = offer.tool.arguments.model_validate({"question": " ".join(session.words)})
    for finding in offer.tool.run(context, arguments):
        stated = all(name.startswith("stated.") for name in finding.facts)
        yield replace(finding, authority=1 + len(session.words)) if stated else finding


def _content(item: Finding | Evidence) -> tuple[str, str, str]:
    return (item.artifact, repr(sorted(item.facts.items(), key=str)), item.excerpt)
