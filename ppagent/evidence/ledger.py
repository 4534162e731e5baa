"""The ledger: a fact enters once, as evidence with an id."""

from collections.abc import Iterable
from dataclasses import replace

from ppagent.evidence.evidence import Evidence, FactValue, Finding, Missing
from ppagent.evidence.facts import Facts
from ppagent.evidence.kept import kept
from ppagent.evidence.masking import mask, mask_value
from ppagent.evidence.quoting import without_controls

EXCERPT_LIMIT = 400


class Ledger:
    """Numbers findings as E1, E2, ... and masks secrets before anything is kept."""

    def __init__(self, evidence: Iterable[Evidence] = (), missing: Iterable[Missing] = (), taken: int = 0) -> None:
        """`taken` is the number of the last id that was given out elsewhere, by a ledger before this one."""
        self.evidence: list[Evidence] = list(evidence)
        self.missing: list[Missing] = list(missing)
        self.taken = taken

    def add(self, tool: str, finding: Finding) -> Evidence:
        """The finding as numbered evidence: control characters first, since they can split a secret, then secrets taken
        out; the excerpt is cut short last, so that no half of a secret is left at its end."""
        told = ((without_controls(name), kept(value)) for name, value in finding.facts.items())
        facts: dict[str, FactValue] = {name: mask_value(name, value) for name, value in told}
        excerpt = mask(without_controls(finding.excerpt))[:EXCERPT_LIMIT].strip()
        evidence = Evidence(
            id=f"E{self._next}",
            tool=tool,
            artifact=without_controls(finding.artifact),
            facts=facts,
            excerpt=excerpt,
            host=without_controls(finding.host),
            at=without_controls(finding.at),
            authority=finding.authority,
        )
        self.evidence.append(evidence)
        return evidence

    @property
    def _next(self) -> int:
        last = int(self.evidence[-1].id[1:]) if self.evidence else 0
        return max(self.taken, last) + 1

    def add_missing(self, missing: Missing) -> None:
        """Notes a question that got no answer, once. Why it got none may quote the artifact, so it is masked too."""
        noted = replace(missing, why=mask(without_controls(missing.why)))
        if noted not in self.missing:
            self.missing.append(noted)

    def facts(self) -> Facts:
        return Facts(self.evidence)

    def find(self, evidence_id: str) -> Evidence | None:
        return next((item for item in self.evidence if item.id == evidence_id), None)
