"""In one breath: the verdict, the first thing to do and what it would bring, for whoever has no time."""

from ppagent.agent.investigation import Investigation
from ppagent.chat.answers.probes import probe_lines
from ppagent.chat.answers.proposals import range_of
from ppagent.chat.answers.why import verdict_lines
from ppagent.chat.wording import tagged
from ppagent.report.headline import headline
from ppagent.report.lines import Line, wrapped


def brief_lines(found: Investigation, width: int) -> list[Line]:
    """A few lines that stand by themselves, to be passed on."""
    lines = [*wrapped(headline(found), width, tone="title"), *verdict_lines(found, width)]
    for proposal in found.plan.proposals[:1]:
        lines += wrapped(tagged(f"{proposal.title} ({proposal.id})", proposal.cites), width, "  first     ")
        if proposal.predicted is not None:
            lines += wrapped(range_of(proposal.predicted), width, "  forecast  ")
        if proposal.rollback:
            lines += wrapped(proposal.rollback, width, "  back      ")
    if found.verdict == "not_enough_evidence":
        lines += probe_lines(found, found.next_probes[:1], width, "  look next ")
    return lines
