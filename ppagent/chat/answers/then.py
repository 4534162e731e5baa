"""And then? What to do after the first proposal: check it, take the next step or go back, measure again."""

from collections.abc import Sequence

from ppagent.agent.investigation import Investigation
from ppagent.changes.proposal import Proposal
from ppagent.chat.answers.proposals import range_of
from ppagent.report.lines import Line, wrapped
from ppagent.report.next_command import next_command
from ppagent.report.steps import steps_of

NOTHING = "There is nothing to do after this: nothing needs to be changed. Ask again when it gets slow."
UNPROPOSED = "What was found has no cure that I can propose. /why tells what speaks for it, and what would tell more."


def then_lines(found: Investigation, shown: str, width: int) -> list[Line]:
    """The steps after the proposal that was shown last, else after the first. `shown`: its id, or empty."""
    command, does = next_command(found)
    if command:
        return wrapped(f"First {command}: {does}. Then ask again.", width)
    proposals = found.plan.proposals
    if not proposals:
        return wrapped(NOTHING if found.verdict == "healthy" else UNPROPOSED, width)
    place = next((i for i, proposal in enumerate(proposals) if proposal.id == shown), 0)
    now, later = proposals[place], proposals[place + 1 :]
    says = [f"check: {now.verify}"] if now.verify else []
    says += [f"no better, or worse: go back: {now.rollback}"] if now.rollback else []
    says += list(_steps(found, later)) if later else ["then stop: no further change is proposed"]
    where = found.target_name if found.target_kind == "local" else "ssh://HOST"
    says.append(f"under the same load look again: ppagent diagnose {where}; {_gone(now)} should be ruled out then")
    lines = wrapped(f"After {now.id} ({now.title}):", width, tone="verdict")
    for number, text in enumerate(says, 1):
        lines += wrapped(f"{text}.", width, f"  {number}. ")
    return lines


def _steps(found: Investigation, later: Sequence[Proposal]) -> list[str]:
    """The proposals that come after, each with what it would give."""
    headings = {step.id: step.heading for step in steps_of(found.plan.proposals)}
    return [f"{headings[proposal.id].lower()}: {_step(proposal)}" for proposal in later]


def _step(proposal: Proposal) -> str:
    forecast = f", forecast {range_of(proposal.predicted)}" if proposal.predicted is not None else ""
    shows = f"; /propose {proposal.id} shows the command" if proposal.command else ""
    return f"{proposal.id}, {_changed(proposal)}{forecast}{shows}"


def _changed(proposal: Proposal) -> str:
    """The change in a few words; its title where it is none of the launch."""
    change = proposal.change
    if proposal.kind != "relaunch":
        return proposal.title
    parts = [f"drop {flag}" for flag in change.unset]
    parts += [f"set {flag}" if value == "true" else f"set {flag} {value}" for flag, value in change.set.items()]
    parts += [f"set {name}={value}" for name, value in change.env.items()]
    return ", ".join(parts) or proposal.title


def _gone(proposal: Proposal) -> str:
    return " and ".join(proposal.causes) or "the cause"
