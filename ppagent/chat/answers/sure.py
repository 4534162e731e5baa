"""How sure is that? Every supported cause with its confidence, what speaks for and against it, and what would tell."""

from ppagent.agent.investigation import Investigation
from ppagent.chat.answers.cause import STATES, cause_and_state
from ppagent.chat.answers.probes import probe_lines
from ppagent.chat.wording import id_ranges, tagged
from ppagent.report.headline import provenance
from ppagent.report.lines import Line, wrapped

MOST_OBSERVATIONS = 3
TOLD = "user.stated"
MOST_PROBES = 3
HOW = (
    "A confidence is computed from what was seen: how often that is seen where the cause holds, and where it does not. "
    "/evidence E5 shows the words behind an id."
)


def sure_lines(found: Investigation, width: int) -> list[Line]:
    """The grounds of what was said."""
    origin = provenance(found)
    lines = wrapped(f"Where the figures come from: {origin}.", width) if origin else []
    for hypothesis in found.board.supported:
        judgement = hypothesis.judgement
        head = f"{judgement.cause.name} ({hypothesis.cause_id}): {STATES[hypothesis.state]}, {judgement.confidence:.2f}"
        lines += wrapped(head, width, tone="verdict")
        for label, seen in (("for", judgement.because), ("against", judgement.against)):
            for observation in seen[:MOST_OBSERVATIONS]:
                lines += wrapped(tagged(observation.says, observation.cites), width, f"  {label:<9}")
    misread = found.board.of("ME001")
    if misread is not None and misread.state != "supported":
        lines += wrapped(f"{cause_and_state(misread)}.", width)
    if not found.board.supported:
        lines += wrapped(found.summary, width, tone="verdict")
    said = [item for item in found.evidence if item.tool == TOLD]
    if said:
        ids = id_ranges(tuple(item.id for item in said))
        lines += wrapped(f"Your own words are evidence as well, the weakest there is: {ids}.", width)
    lines += probe_lines(found, found.next_probes[:MOST_PROBES], width, "  would tell more  ")
    return [*lines, *wrapped(HOW, width, "  ", tone="dim")]
