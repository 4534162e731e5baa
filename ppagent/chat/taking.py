"""Evidence that comes from no question of the loop: what the user says, what was measured or tried in the session."""

from collections.abc import Iterable
from dataclasses import asdict

from ppagent.chat.session import Session
from ppagent.evidence.evidence import Evidence, Finding


def take_in(session: Session, tool: str, findings: Iterable[Finding], why: str) -> tuple[Evidence, ...]:
    """Puts findings on the ledger and on the disk; those that say what is known already are left out."""
    ledger = session.desk.ledger
    known = {_content(item) for item in ledger.evidence}
    added = tuple(ledger.add(tool, finding) for finding in findings if _content(finding) not in known)
    if added:
        session.looked = False
        rows = [asdict(item) for item in added]
        session.record("tool", tool=tool, why=why, arguments={}, taken_in=True, evidence=rows)
    return added


def _content(item: Finding | Evidence) -> tuple[str, str, str]:
    return (item.artifact, repr(sorted(item.facts.items(), key=str)), item.excerpt)
