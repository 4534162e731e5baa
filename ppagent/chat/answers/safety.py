"""Is it safe? What a measurement, a trial or a proposed change does to the server and its users."""

import re
from collections.abc import Collection, Iterator

from ppagent.agent.approvals import GRADE_MEANS
from ppagent.agent.investigation import Investigation
from ppagent.changes.proposal import Proposal
from ppagent.chat.answers.overview import load_now
from ppagent.chat.answers.waiting import NOT_TIMED, loading_time
from ppagent.plugins import Grade
from ppagent.report.lines import Line, wrapped

_BENCH = re.compile(r"\bbench|\bmeasur|\bload\b|\bbenchmark", re.I)
_TRIAL = re.compile(r"\btry\b|\btrial|\blive\b|\blimit\b", re.I)
_ID = re.compile(r"\bP\d{1,2}\b", re.I)
_RESTART = re.compile(r"restart|relaunch|reboot|downtime|start(?:ing)? (?:it )?(?:again|anew)", re.I)
_PEAK = re.compile(r"\b(?:peak|busy|traffic|prod\w*|daytime|business hours|now|live users)\b", re.I)
_KINDS = {"live": "changed live", "relaunch": "one restart", "operator": "done by you"}

AT_PEAK = {
    "live": "can be done, it cuts no request, though some may queue",
    "relaunch": "not then, a restart cuts what the server answers",
    "operator": "done outside the server, as any such work",
}
"""By kind of proposal."""

BENCH = (
    f"/bench {GRADE_MEANS[Grade.LOAD]}: its requests compete with those of the users while it runs, and it changes "
    "nothing. It says first what it will do, and asks."
)
TRY = (
    "/try sets one value live, measures before and after, and puts the old value back, also after a crash: running "
    "requests stay where they are, and some may queue meanwhile. It says first what it will do, and asks."
)
RESTART = (
    "A restart cuts whatever the server is answering, and it does not serve until the model is loaded again. The way "
    "back is the command that runs now."
)
READS = "What I do without asking only reads: files, GET requests, read-only commands (/ceiling shows or lowers that)."


def safety_lines(found: Investigation, question: str, width: int) -> list[Line]:
    """What is asked about, and what the server does right now."""
    live = found.target_kind != "recording"
    lines: list[Line] = []
    if not live:
        says = "This is no live server: nothing can be run on it from here, so nothing can break. On the live one:"
        lines += wrapped(says, width)
    about = list(_about(question))
    if _PEAK.search(question) and not about:
        lines += _at_peak(found, width)
    named = {match.upper() for match in _ID.findall(question)}
    proposals = list(_of_proposals(found, named)) if named or not about or RESTART in about else []
    lines += (
        wrapped(f"{loading_time(found) or NOT_TIMED}.", width, "  " if not live else "") if RESTART in about else []
    )
    for text in [*(about or ([] if named else [READS])), *proposals]:
        lines += wrapped(text, width, "  " if not live else "")
    now = load_now(found.facts) if live and about else ""
    return lines + (wrapped(f"When I last looked: {now}.", width) if now else [])


def _about(question: str) -> Iterator[str]:
    if _BENCH.search(question):
        yield BENCH
    if _TRIAL.search(question):
        yield TRY
    if _RESTART.search(question):
        yield RESTART


def _at_peak(found: Investigation, width: int) -> list[Line]:
    """Which of the proposals cut running requests, in a line."""
    by_kind = {kind: [p.id for p in found.plan.proposals if p.kind == kind] for kind in AT_PEAK}
    says = [f"{' and '.join(ids)}: {AT_PEAK[kind]}" for kind, ids in by_kind.items() if ids]
    return wrapped(
        f"At peak: {'; '.join(says) or 'there is nothing to do, no change is proposed'}.", width, tone="verdict"
    )


def _of_proposals(found: Investigation, named: Collection[str]) -> Iterator[str]:
    told: dict[str, str] = {}
    for proposal in found.plan.proposals:
        if named and proposal.id not in named:
            continue
        yield f"{proposal.id}, {_KINDS[proposal.kind]}: {_risk(proposal, told)}"


def _risk(proposal: Proposal, told: dict[str, str]) -> str:
    """What may go wrong, and the way back; what was told of an earlier proposal is pointed to."""
    cut = ("it cuts what the server is answering",) if proposal.kind == "relaunch" else ()
    risks = (*proposal.risks, *cut) or ("no risk is known",)
    back = f"Back: {proposal.rollback or 'the command that runs now'}."
    new = [text for text in (*risks, back) if text not in told]
    as_before = dict.fromkeys(told[text] for text in (*risks, back) if text in told)
    told |= dict.fromkeys(new, proposal.id)
    says = "; ".join(text for text in new if text != back)
    pointed = f"as {' and '.join(as_before)}" if as_before else ""
    what = "; ".join(part for part in (pointed, says) if part)
    return f"{what}. {back}" if back in new else f"{what}."
