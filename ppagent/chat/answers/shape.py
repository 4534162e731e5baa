"""Another parallel shape: what would tell for and against it here, and what cannot be said."""

import re
from collections.abc import Iterator, Mapping

from ppagent.agent.investigation import Investigation
from ppagent.causes.cause import Change
from ppagent.causes.links import nvlink
from ppagent.causes.physics import measured_levels
from ppagent.causes.situation import data_parallel, stages, tensor_parallel
from ppagent.changes.commands import Installed, relaunch_command
from ppagent.changes.shapes import shapes_of
from ppagent.chat.answers.cause import cause_and_state
from ppagent.chat.wording import tagged
from ppagent.evidence.facts import Facts
from ppagent.report.lines import Line, wrapped
from ppagent.report.rate import rate
from ppagent.sglang.legality.renames import renamed

SIZE = re.compile(r"\b(?P<axis>tp|pp|dp|ep)[ -]?(?:size)?[ =-]*(?P<n>[1-9]\d{0,2})\b", re.I)
_WORDS = re.compile(r"\b(?P<axis>tensor|pipeline|data|expert)[ -]parallel", re.I)
_FLAGS = {"tp": "--tp-size", "pp": "--pp-size", "dp": "--dp-size", "ep": "--ep-size"}


def shape_in(text: str) -> dict[str, int]:
    """Sizes by axis (`tp`, `pp`, `dp`, `ep`) as people write them: TP8, pp4 tp2."""
    return {match["axis"].lower(): int(match["n"]) for match in SIZE.finditer(text) if int(match["n"])}


def names_shape(text: str) -> bool:
    """Whether the text speaks of a way to share the model over cards."""
    return bool(shape_in(text) or _WORDS.search(text))


def shape_lines(found: Investigation, wanted: Mapping[str, int], width: int) -> list[Line]:
    """What can be said about running it so."""
    lines = wrapped(_head(found.facts, wanted), width, tone="verdict")
    for says in _reasons(found, wanted):
        lines += wrapped(says, width, "  ")
    return lines


def _head(facts: Facts, wanted: Mapping[str, int]) -> str:
    asked = " ".join(f"{axis.upper()}{size}" for axis, size in wanted.items()) or "another shape"
    ring, tensor = stages(facts), tensor_parallel(facts)
    if ring is None or tensor is None:
        return f"What {asked} would give cannot be told: not even the present shape is known."
    now = tagged(f"PP{ring.value:g} TP{tensor.value:g}", tuple(dict.fromkeys((*ring.cites, *tensor.cites))))
    if (wanted.get("pp", 1), wanted.get("tp", 1)) == (ring.value, tensor.value) and not set(wanted) - {"tp", "pp"}:
        return f"{now} is what runs now."
    priced = _priced(facts, wanted)
    if priced:
        return f"{asked} in place of {now} would give about {priced}. It is another launch, to be measured."
    return f"What {asked} would give in place of {now} is not modelled: it is another launch, to be measured."


def _priced(facts: Facts, wanted: Mapping[str, int]) -> str:
    """What the table of shapes of `ppagent predict` says to these sizes, and where it comes from; empty where the
    shape is none of it."""
    levels = measured_levels(facts)
    if not levels or set(wanted) - {"tp", "pp"}:
        return ""
    sizes = (wanted.get("tp", 1), wanted.get("pp", 1))
    at = levels[-1].concurrency
    for each in shapes_of(facts, at).shapes:
        if (each.tp, each.stages) == sizes and each.kv_tokens != 0:
            loaded = f" and {_span(each.loaded)} at C={at}" if each.loaded is not None and at > 1 else ""
            return f"{_span(each.alone)} tok/s at C=1{loaded}, scaled from one public report and not from this server"
    return ""


def _span(rates: tuple[float, float]) -> str:
    return f"{rate(rates[0])}-{rate(rates[1])}"


def _reasons(found: Investigation, wanted: Mapping[str, int]) -> Iterator[str]:
    yield from _cards(found.facts, wanted)
    installed = Installed.of(found.facts)
    refused = relaunch_command(Change(_change(wanted, installed)), installed).refused if wanted else ""
    if refused:
        yield f"{installed.words} would refuse to start so: {refused.rstrip('.')}."
    if wanted.get("tp", 1) > 1:
        yield _links(found.facts)
    for cause_id in ("PP009", "IC001"):
        hypothesis = found.board.of(cause_id)
        if hypothesis is not None and (cause_id == "PP009" or hypothesis.state == "supported"):
            yield f"{cause_and_state(hypothesis)}."


def _cards(facts: Facts, wanted: Mapping[str, int]) -> Iterator[str]:
    sizes = {"pp": stages(facts), "tp": tensor_parallel(facts), "dp": data_parallel(facts)}
    if any(known is None for known in sizes.values()) or not wanted:
        return
    now = {axis: int(known.value) for axis, known in sizes.items() if known is not None}
    then = {axis: wanted.get(axis, 1) for axis in now}
    before, after = now["pp"] * now["tp"], then["pp"] * then["tp"]
    if after != before:
        yield f"It takes {after} cards, where {before} are used now."


def _change(wanted: Mapping[str, int], installed: Installed) -> dict[str, str]:
    """Every axis that is not named is taken for 1, as people mean it."""
    sizes = {"tp": 1, "pp": 1} | dict(wanted)
    known = installed.catalogue
    named = (
        (renamed(_FLAGS[axis], known) if known is not None else _FLAGS[axis], size) for axis, size in sizes.items()
    )
    return {flag: str(size) for flag, size in named if flag is not None}


def _links(facts: Facts) -> str:
    seen = nvlink(facts)
    if seen is None:
        return "With TP every layer ends in an all-reduce between the cards; how they are linked here is not known."
    if seen.yes:
        return tagged("With TP every layer ends in an all-reduce, for which NVLink is there", seen.cites) + "."
    says = "With TP every layer ends in an all-reduce, here over PCIe: there is no NVLink between the cards"
    return tagged(says, seen.cites) + "."
