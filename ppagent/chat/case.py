"""A session as an eval case: what the server showed, and the answer that the engineer confirms."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from ppagent.agent.investigation import Investigation
from ppagent.causes.catalog import cause_of
from ppagent.chat.consent import Dialog
from ppagent.chat.session import Session
from ppagent.chat.words import tell
from ppagent.errors import UserError
from ppagent.evidence.masking import mask
from ppagent.report.lines import Line, wrapped

HEALTHY, UNKNOWN = "healthy", "unknown"
DEFAULT_QUESTION = "Why is it slow?"
_CAUSE = re.compile(r"[A-Za-z]{2}\d{3}")


def confirmed_causes(words: Sequence[str]) -> tuple[str, ...]:
    """Causes as the engineer names them; `healthy` and `unknown` stand for a verdict. Raises UserError for a word that
    is neither."""
    if len(words) == 1 and words[0].lower() in (HEALTHY, UNKNOWN):
        return (words[0].lower(),)
    for word in words:
        if not _CAUSE.fullmatch(word):
            raise UserError(f"{word} is no cause's id.", f"Name causes (PP001), or {HEALTHY}, or {UNKNOWN}.")
    return tuple(cause_of(word).id for word in words)


def ask_causes(found: Investigation, dialog: Dialog, width: int) -> tuple[str, ...]:
    """Asks what it really was. Raises UserError where nothing is confirmed."""
    seen = [h.cause_id for h in found.board.faults]
    shown = " ".join(seen) if found.verdict == "diagnosed" else HEALTHY if found.verdict == "healthy" else UNKNOWN
    answer = dialog.ask(f"what was it really? (found: {shown}; y confirms, else name causes, {HEALTHY}, {UNKNOWN}) > ")
    words = mask(answer).replace(",", " ").split()
    if not words:
        raise UserError("Nothing was confirmed, so no case was written.", "A case needs an answer that somebody knows.")
    return confirmed_causes(shown.split() if words in (["y"], ["yes"]) else words)


def ask_cure(found: Investigation, dialog: Dialog) -> tuple[str, ...]:
    """Asks which proposals have cured it, if any."""
    ids = [proposal.id for proposal in found.plan.proposals]
    if not ids:
        return ()
    answer = dialog.ask(f"which change cured it? ({' '.join(ids)}, or Enter for none known) > ")
    named = tuple(word.upper() for word in mask(answer).replace(",", " ").split())
    unknown = [word for word in named if word not in ids]
    if unknown:
        raise UserError(f"There is no proposal {unknown[0]}.", f"There is {' '.join(ids)}.")
    return named


def ask_question(session: Session) -> None:
    """A case is somebody's question: asks for it where none was put so far."""
    dialog = session.consent.dialog
    if session.words or session.desk.facts().text("stated.question"):
        return
    question = dialog.ask("what did you want to know, in your own words? > ").strip() if dialog is not None else ""
    tell(session, question or DEFAULT_QUESTION)


def answer_of(found: Investigation, causes: Sequence[str], cures: Sequence[str], recording: Path) -> str:
    """`answer.yaml`: only what the engineer said, and the artifacts of the recording that show it."""
    verdict = {HEALTHY: "healthy", UNKNOWN: "not_enough_evidence"}.get(" ".join(causes), "diagnosed")
    document: dict[str, Any] = {"schema_version": 1, "verdict": verdict}
    document["causes"] = list(causes) if verdict == "diagnosed" else []
    document["fixes"] = [_fix(found, proposal_id) for proposal_id in cures]
    held = {path.name for path in recording.rglob("*")}
    document["evidence"] = [each for each in _artifacts(found, causes) if Path(each).name in held]
    document["ref"] = f"session {found.session}"
    document["note"] = f"Confirmed by the engineer on {datetime.now(UTC):%Y-%m-%d}."
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120)


def case_lines(folder: str, answer: str, width: int) -> list[Line]:
    """What was written."""
    lines = wrapped(f"The case is in {folder}. Its answer, as you confirmed it:", width)
    return [*lines, *(Line(f"  {line}", "dim") for line in answer.splitlines())]


def _fix(found: Investigation, proposal_id: str) -> dict[str, Any]:
    change = next(proposal.change for proposal in found.plan.proposals if proposal.id == proposal_id)
    return {"set": dict(change.set), "unset": list(change.unset), "env": dict(change.env)}


def _artifacts(found: Investigation, causes: Sequence[str]) -> list[str]:
    """Artifacts behind what speaks for the confirmed causes."""
    by_id = {item.id: item.artifact for item in found.evidence}
    named = [h for h in found.board.hypotheses if h.cause_id in causes]
    cites = [cite for h in named for seen in h.judgement.because for cite in seen.cites]
    return list(dict.fromkeys(by_id[cite] for cite in cites if cite in by_id))
