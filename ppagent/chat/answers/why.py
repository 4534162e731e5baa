"""Why it is slow: the verdict, the causes behind it, and what to do, in one screen."""

from ppagent.agent.investigation import Investigation
from ppagent.agent.summary import cited
from ppagent.chat.answers.proposals import HINT, declined_lines, proposals_in_short
from ppagent.chat.answers.topics import telling, topics_in
from ppagent.chat.wording import tagged
from ppagent.report.lines import BLANK, Line, wrapped
from ppagent.report.own import own_statements

MOST_TOPICS = 3
MOST_PROBES = 3


def why_lines(found: Investigation, question: str, width: int) -> list[Line]:
    """The answer to "why is it slow?", beginning with what the question itself suspects."""
    label = found.verdict.replace("_", " ").upper()
    lines = _suspected(found, question, width)
    lines += wrapped(found.summary, width, f"{label}  ", " " * 11, "verdict")
    if found.verdict == "not_enough_evidence":
        for probe in found.next_probes[:MOST_PROBES]:
            lines += wrapped(f"{probe.tool}: {probe.why} (grade {probe.grade})", width, "  look next   ")
    if found.plan.proposals:
        lines += [BLANK, *proposals_in_short(found, width)]
    lines += declined_lines(found, width)
    for own in own_statements(found):
        says = tagged(f"{own.label}: {own.says}", own.cites)
        lines += wrapped(says, width, "  THE MODEL     ", " " * 18, "dim")
    if found.status == "budget_used_up":
        lines += wrapped(f"{found.stopped}: say go on", width, "  NOT FINISHED  ")
    for row in found.denied:
        lines += wrapped(f"{row['tool']} (grade {row['grade']}): {row['why']}", width, "  NOT DONE      ")
    return [*lines, Line(f"  {HINT}", "dim")] if found.plan.proposals else lines


def _suspected(found: Investigation, question: str, width: int) -> list[Line]:
    """Yes or no to what the user's own words point at."""
    lines: list[Line] = []
    for topic in topics_in(question)[:MOST_TOPICS]:
        hypothesis = telling(topic, found.board)
        if hypothesis is not None and hypothesis.state == "supported":
            lines += wrapped(f"You are right about {topic.name}.", width)
        elif hypothesis is not None and hypothesis.state == "refuted":
            lines += wrapped(f"It is not {topic.name}: {cited(hypothesis.judgement.against[0])}.", width)
    return lines
