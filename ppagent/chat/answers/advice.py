"""Should this be set here? What the plan says to it, what the server has now, and what the flag does and does not."""

from collections.abc import Iterator

from ppagent.agent.investigation import Investigation
from ppagent.changes.commands import Installed
from ppagent.chat.answers.cause import cause_and_state
from ppagent.chat.answers.flag import here_lines
from ppagent.chat.answers.topics import telling, topics_in
from ppagent.chat.wording import tagged
from ppagent.report.lines import Line, wrapped
from ppagent.sglang.flags.notes import notes_on
from ppagent.sglang.legality.renames import renamed

MOST_FLAGS = 3


def advice_lines(found: Investigation, flags: tuple[str, ...], question: str, width: int) -> list[Line]:
    """The answer for each flag that is asked about."""
    lines: list[Line] = []
    for flag in flags[:MOST_FLAGS]:
        lines += _about(found, flag, width)
    for topic in topics_in(question):
        hypothesis = telling(topic, found.board)
        if hypothesis is not None and hypothesis.state != "supported":
            lines += wrapped(f"{cause_and_state(hypothesis)}.", width, "  ")
    return lines


def _about(found: Investigation, asked: str, width: int) -> list[Line]:
    installed = Installed.of(found.facts)
    catalogue = installed.catalogue
    flag = renamed(asked, catalogue) if catalogue is not None else asked
    if flag is None:
        return wrapped(f"{installed.words} has no {asked}, so there is nothing to set.", width, tone="verdict")
    lines = wrapped(verdict_on(found, flag), width, tone="verdict")
    lines += here_lines(found, flag, width, "  ")
    for note in notes_on((flag,), installed.version):
        lines += wrapped(note.text, width, "  ")
    return lines


def verdict_on(found: Investigation, flag: str) -> str:
    """What the plan makes of a flag."""
    proposed = list(_proposed(found, flag))
    if proposed:
        sets = any(flag in proposal.change.set for proposal in found.plan.proposals)
        return f"{'Yes,' if sets else 'No'} {flag}: {', and '.join(proposed)}."
    for declined in found.plan.declined:
        if declined.lever == flag:
            return tagged(f"No, {flag} is not the cure here: {declined.why}", declined.cites) + "."
    match found.verdict:
        case "diagnosed":
            costs = ", ".join(f"{h.judgement.cause.name} ({h.cause_id})" for h in found.board.supported)
            return f"Nothing found here asks for {flag}: what was found is {costs}. Its effect here is not modelled."
        case "healthy":
            return f"Nothing found here asks for {flag}: nothing was found to be wrong. Its effect is not modelled."
        case _:
            return f"Whether {flag} would help cannot be told: too little is known of what this server does."


def proposals_with(found: Investigation, *flags: str) -> list[str]:
    """Ids of proposals that change one of these flags."""
    return [p.id for p in found.plan.proposals if {*p.change.set, *p.change.unset} & set(flags)]


def _proposed(found: Investigation, flag: str) -> Iterator[str]:
    dropped = [p.id for p in found.plan.proposals if flag in p.change.unset]
    values: dict[str, list[str]] = {}
    for proposal in found.plan.proposals:
        if flag in proposal.change.set:
            values.setdefault(proposal.change.set[flag], []).append(proposal.id)
    if dropped:
        yield f"{' '.join(dropped)} would drop it"
    for value, ids in values.items():
        yield f"{' '.join(ids)} would set it" + ("" if value == "true" else f" to {value}")
