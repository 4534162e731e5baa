"""What to change: each proposal with its whole command, or only its difference from the launch of now."""

import re
from collections.abc import Sequence

from ppagent.agent.investigation import Investigation
from ppagent.changes.proposal import Predicted
from ppagent.chat.wording import tagged
from ppagent.report.lines import BLANK, Line, Tone, raw, wrapped
from ppagent.report.rate import rate
from ppagent.report.steps import Step, steps_of

_SENTENCE_END = re.compile(r"(?<=\w)\. (?=[A-Z])")


def hint_lines(found: Investigation, width: int) -> list[Line]:
    """How to go on from the proposals, by the first of them and its cause."""
    first = found.plan.proposals[0]
    why = f" · /why {first.causes[0]}" if first.causes else ""
    return wrapped(
        f"/propose {first.id} shows the command · /copy {first.id}{why} · and then?", width, "  ", tone="dim"
    )


def proposal_lines(found: Investigation, wanted: str, width: int) -> list[Line]:
    """Every proposal whole, or the one that is `wanted` by its id."""
    steps = [step for step in steps_of(found.plan.proposals) if wanted in ("", step.id)]
    if not steps:
        return [Line(f"  {_none(found, wanted)}")]
    lines: list[Line] = []
    for step in steps:
        lines += [BLANK] * bool(lines) + _head(step, width) + _diff(step)
        lines += [BLANK, *raw(step.command, "    "), BLANK] if step.command else []
        for label, text in step.notes:
            lines += wrapped(text, width, f"    {label + ':':<10}")
    return lines + (declined_lines(found, width) if not wanted else [])


def proposals_in_short(found: Investigation, width: int) -> list[Line]:
    """The steps without their commands: what changes, the forecast, and what that stands on where it was not said."""
    lines: list[Line] = []
    told: set[str] = set()
    for step, proposal in zip(steps_of(found.plan.proposals), found.plan.proposals, strict=True):
        lines.append(Line(f"  {step.heading}  ({step.id}: {' '.join(step.causes)})", "heading"))
        changed = [Line(f"    {line}", _tone(line)) for line in step.diff.splitlines() if line[:1] in ("+", "-")]
        lines += changed or wrapped(tagged(step.title, step.cites), width, "    ")
        if proposal.predicted is not None:
            lines += wrapped(range_of(proposal.predicted), width, "    forecast ")
            weighs = proposal.predicted.assumes[:1]
            for assumed in set(weighs) - told:
                lines += wrapped(assumed, width, "    assumes  ", tone="dim")
            told.update(weighs)
    return lines


def diff_lines(found: Investigation, wanted: str) -> list[Line]:
    """The difference from the launch command of now."""
    steps = [step for step in steps_of(found.plan.proposals) if step.diff and wanted in ("", step.id)]
    if not steps:
        return [Line(f"  {_none(found, wanted)}, or nothing in it changes the launch command")]
    return [line for step in steps for line in (Line(f"  {step.id}", "heading"), *_diff(step))]


def declined_lines(found: Investigation, width: int, *, in_short: bool = False) -> list[Line]:
    """Levers that look right and are not. In short: the first sentence of why, and no row between, so that the answer
    fits a screen of 24 rows."""
    lines: list[Line] = []
    for declined in found.plan.declined:
        why = _SENTENCE_END.split(declined.why, maxsplit=1)[0] if in_short else declined.why
        says = tagged(f"{declined.lever}: {why}", declined.cites)
        lines += wrapped(says, width, "  NOT THE CURE  ", " " * 18)
    return [BLANK, *lines] if lines and not in_short else lines


def _head(step: Step, width: int) -> list[Line]:
    heading = Line(f"  {step.heading}  ({step.id}: {' '.join(step.causes)})", "heading")
    return [heading, *wrapped(tagged(step.title, step.cites), width, "    ")]


def _diff(step: Step) -> list[Line]:
    return [Line(f"    {line}", _tone(line)) for line in step.diff.splitlines()]


def _tone(line: str) -> Tone:
    return "good" if line.startswith("+") else "bad" if line.startswith("-") else "dim"


def range_of(predicted: Predicted) -> str:
    """At which load how many tok/s, and how many now."""
    unit = "tok/s" if predicted.metric == "output_throughput" else predicted.metric
    span = f"{rate(predicted.low)}-{rate(predicted.high)} {unit}"
    return f"at C={predicted.at_concurrency:g}: {span} (now {rate(predicted.baseline)})"


def _none(found: Investigation, wanted: str) -> str:
    ids: Sequence[str] = [proposal.id for proposal in found.plan.proposals]
    if not ids:
        return "there is nothing to propose: no cause is supported that has a cure"
    return f"there is no proposal {wanted}; there {'is' if len(ids) == 1 else 'are'} {' '.join(ids)}"
