"""Why it is slow: the verdict, the causes behind it, and what to do, in one screen."""

from collections.abc import Sequence

from ppagent.agent.investigation import Investigation
from ppagent.agent.summary import cited
from ppagent.chat.answers.cause import cause_and_state, cause_in_short
from ppagent.chat.answers.probes import probe_lines
from ppagent.chat.answers.proposals import declined_lines, hint_lines, proposals_in_short
from ppagent.chat.answers.topics import Topic, telling, topics_in
from ppagent.chat.wording import tagged
from ppagent.report.lines import BLANK, Line, wrapped
from ppagent.report.next_command import in_words, next_command
from ppagent.report.own import own_statements

MOST_TOPICS = 3
HANGING = "DIAGNOSED  "
"""No line of a verdict begins further in than behind that."""
MOST_PROBES = 3


def why_lines(found: Investigation, question: str, width: int) -> list[Line]:
    """The answer to "why is it slow?", beginning with what the question itself suspects."""
    lines = [*suspected_lines(found, question, width), *verdict_lines(found, width)]
    if found.verdict == "not_enough_evidence":
        command, does = next_command(found)
        lines += [BLANK, Line(f"  run next    {command}", "good"), *wrapped(does, width, " " * 14)]
        lines += probe_lines(found, found.next_probes[:MOST_PROBES], width, "  look next   ")
    if found.plan.proposals:
        lines += [BLANK, *proposals_in_short(found, width)]
    lines += declined_lines(found, width, in_short=True)
    for own in own_statements(found):
        says = tagged(f"{own.label}: {own.says}", own.cites)
        lines += wrapped(says, width, "  THE MODEL     ", " " * 18, "dim")
    if found.status == "budget_used_up":
        lines += wrapped(f"{found.stopped}: say go on", width, "  NOT FINISHED  ")
    for row in found.denied:
        lines += wrapped(f"{row['tool']} ({in_words(row['grade'])}): {row['why']}", width, "  NOT DONE      ")
    return [*lines, *hint_lines(found, width)] if found.plan.proposals else lines


def verdict_lines(found: Investigation, width: int) -> list[Line]:
    """The verdict and what it stands on."""
    label = found.verdict.replace("_", " ").upper()
    behind = f"{label}  "
    return wrapped(found.summary, width, behind, " " * min(len(behind), len(HANGING)), "verdict")


def why_again_lines(found: Investigation, width: int) -> list[Line]:
    """The same answer once more, in short, and what to do with it."""
    lines = wrapped(f"Nothing has come up that changes the answer: {found.summary}", width, tone="verdict")
    if found.plan.proposals:
        first = found.plan.proposals[0]
        lines += wrapped(tagged(f"{first.id}: {first.title}", first.cites), width, "  next   ")
        lines.append(Line(f"  /propose {first.id} shows the command, /why what speaks for it", "dim"))
    elif found.verdict != "healthy":
        lines.append(Line("  what do you need? tells what would tell more", "dim"))
    return lines


def suspected_lines(found: Investigation, question: str, width: int) -> list[Line]:
    """Yes, no, or not known yet, to what the user's own words point at."""
    lines: list[Line] = []
    for topic in topics_in(question)[:MOST_TOPICS]:
        hypothesis = telling(topic, found.board)
        if hypothesis is None:
            continue
        match hypothesis.state:
            case "supported":
                lines += wrapped(f"You are right about {topic.name}.", width)
            case "refuted":
                lines += wrapped(f"It is not {topic.name}: {cited(hypothesis.judgement.against[0])}.", width)
            case _:
                lines += wrapped(f"{cause_in_short(hypothesis)}.", width)
    return lines


def unexplained_lines(found: Investigation, topics: Sequence[Topic], width: int) -> list[Line]:
    """Why is X so? where none of the causes that X stands for is supported: their states, and what was found."""
    lines: list[Line] = []
    for topic in topics[:MOST_TOPICS]:
        lines += wrapped(f"Nothing found here explains {topic.name}:", width, tone="verdict")
        for cause_id in topic.causes:
            hypothesis = found.board.of(cause_id)
            lines += wrapped(f"{cause_and_state(hypothesis)}.", width, "  ") if hypothesis is not None else []
    return [*lines, *wrapped(f"Found here: {found.summary}", width, "  ")]
