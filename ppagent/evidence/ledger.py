"""The ledger: a fact enters once, as evidence with an id."""

from collections.abc import Iterable

from ppagent.evidence.evidence import Evidence, FactValue, Finding, Missing
from ppagent.evidence.facts import Facts
from ppagent.evidence.masking import mask, mask_value
from ppagent.evidence.quoting import quotable

EXCERPT_LIMIT = 400


class Ledger:
    """Numbers findings as E1, E2, ... and masks secrets before anything is kept."""

    def __init__(self, evidence: Iterable[Evidence] = (), missing: Iterable[Missing] = ()) -> None:
        self.evidence: list[Evidence] = list(evidence)
        self.missing: list[Missing] = list(missing)

    def add(self, tool: str, finding: Finding) -> Evidence:
        """The finding as numbered evidence: secrets masked, text stripped of control characters and cut short."""
        facts: dict[str, FactValue] = {name: mask_value(name, value) for name, value in finding.facts.items()}
        excerpt = quotable(mask(finding.excerpt), EXCERPT_LIMIT)
        evidence = Evidence(
            id=f"E{len(self.evidence) + 1}",
            tool=tool,
            artifact=finding.artifact,
            facts=facts,
            excerpt=excerpt,
            host=finding.host,
            at=finding.at,
            authority=finding.authority,
        )
        self.evidence.append(evidence)
        return evidence

    def add_missing(self, missing: Missing) -> None:
        """Notes a question that got no answer, once."""
        if missing not in self.missing:
            self.missing.append(missing)

    def facts(self) -> Facts:
        return Facts(self.evidence)

    def find(self, evidence_id: str) -> Evidence | None:
        return next((item for item in self.evidence if item.id == evidence_id), None)
