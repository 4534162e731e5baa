"""What a report shows a person, sorted and put in words; how it is drawn is `text`'s and `markdown`'s affair.

Every claim carries the ids of its evidence. Text that came from the server is stripped of control characters here,
so that no renderer has to think of it.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ppagent.agent.board import Verdict
from ppagent.agent.investigation import Investigation
from ppagent.agent.probe_words import how_to_see, look_of
from ppagent.agent.probes import undecided
from ppagent.agent.summary import in_plan_order
from ppagent.errors import ToolError
from ppagent.ledger import track_record
from ppagent.model.waterfall import Step as Bar
from ppagent.report.causes_told import cannot_tell, cause_told, ruled_out
from ppagent.report.exhibits import Exhibit, exhibit_of
from ppagent.report.headline import headline, provenance
from ppagent.report.lacking import lacking
from ppagent.report.next_command import next_command
from ppagent.report.nodes import nodes_told
from ppagent.report.own import own_statements
from ppagent.report.parts import CauseSection, Cites, Note
from ppagent.report.pictures.figures import Figures, figures_of
from ppagent.report.plain import plain
from ppagent.report.steps import Step, steps_of

_CAUSE_ID = re.compile(r"\b[A-Z]{2}\d{3}\b")

MOST_RULED_OUT = 6
MOST_UNDECIDED: dict[Verdict, int] = {"diagnosed": 2, "healthy": 2, "not_enough_evidence": 8}
"""Undecided causes told in full: they matter most where the verdict hangs on them."""

LABELS: dict[Verdict, str] = {
    "diagnosed": "DIAGNOSED",
    "healthy": "HEALTHY",
    "not_enough_evidence": "NOT ENOUGH EVIDENCE",
}


@dataclass(frozen=True)
class Document:
    """A report's content from top to bottom."""

    headline: str
    provenance: str
    """How far the figures can be trusted; empty for a live server."""
    verdict: str
    summary: str
    causes: tuple[CauseSection, ...]
    waterfall: tuple[Bar, ...]
    steps: tuple[Step, ...]
    declined: tuple[Note, ...]
    ruled_out: tuple[Note, ...]
    more_ruled_out: tuple[Note, ...]
    """Further refuted causes, for a report that has room."""
    cannot_tell: tuple[Note, ...]
    more_undecided: tuple[Note, ...]
    own: tuple[Note, ...]
    """What a model added in its own words."""
    probes: tuple[Note, ...]
    """What to look at next, where the verdict hangs on it."""
    denied: tuple[Note, ...]
    missing: tuple[Note, ...]
    footer: str
    run_next: Note | None = None
    """The one command to run next, and what it does, where the evidence does not suffice."""
    question: str = ""
    nodes: str = ""
    """Which host is which node of a deployment of several, and which nodes are not in the report."""
    figures: Figures = Figures()
    exhibits: tuple[Exhibit, ...] = ()

    @property
    def looks(self) -> tuple[Note, ...]:
        """What to do and to look at next, for a report without a place of its own for the command."""
        return (*((self.run_next,) if self.run_next is not None else ()), *self.probes)

    @property
    def also_ruled_out(self) -> Cites:
        """Ids of the further refuted causes."""
        return _ids(self.more_ruled_out)

    @property
    def also_undecided(self) -> Cites:
        return _ids(self.more_undecided)


def document_of(found: Investigation) -> Document:
    """The report of an investigation."""
    most_open = MOST_UNDECIDED[found.verdict]
    refuted = sorted(found.board.in_state("refuted"), key=lambda h: (-h.judgement.cause.prior, h.cause_id))
    against = ruled_out(refuted)
    open_ones = sorted(undecided(found.board), key=lambda h: (-h.judgement.confidence, h.cause_id))
    left_open = cannot_tell(open_ones)
    return Document(
        headline=plain(headline(found)),
        provenance=plain(provenance(found)),
        verdict=LABELS[found.verdict],
        summary=plain(found.summary),
        causes=tuple(cause_told(h, found) for h in in_plan_order(found.board.supported, found.plan)),
        waterfall=found.plan.waterfall,
        steps=steps_of(found.plan.proposals),
        declined=tuple(Note(plain(d.lever), plain(d.why), d.cites) for d in found.plan.declined),
        ruled_out=against[:MOST_RULED_OUT],
        more_ruled_out=against[MOST_RULED_OUT:],
        cannot_tell=left_open[:most_open],
        more_undecided=left_open[most_open:],
        own=tuple(Note(own.label, own.says, own.cites) for own in own_statements(found)),
        probes=_probes(found),
        denied=tuple(Note(plain(look_of(d["tool"]).at), plain(d["why"])) for d in found.denied),
        missing=tuple(Note(plain(each.what), plain(each.why)) for each in lacking(found)),
        footer=plain(_footer(found)),
        run_next=_run_next(found),
        question=plain(found.question),
        nodes=plain(nodes_told(found)),
        figures=figures_of(found),
        exhibits=tuple(exhibit_of(e) for e in found.evidence),
    )


def _ids(notes: Iterable[Note]) -> Cites:
    """The causes that the notes are about, by the ids in their labels."""
    return tuple(cause_id for note in notes for cause_id in _CAUSE_ID.findall(note.label))


def _probes(found: Investigation) -> tuple[Note, ...]:
    if found.verdict != "not_enough_evidence":
        return ()
    return tuple(Note(look_of(p.tool).at, f"{plain(p.why)} ({how_to_see(p)})") for p in found.next_probes)


def _run_next(found: Investigation) -> Note | None:
    command, does = next_command(found)
    return Note(plain(command), does) if command else None


def _footer(found: Investigation) -> str:
    """What the answer cost, and why the asking ended."""
    cost = found.cost
    calls = sum(cost.tool_calls.values())
    disturbing = sum(n for grade, n in cost.tool_calls.items() if int(grade) > 2)
    kind = f"{disturbing} of them disturbed the server" if disturbing else "all reads"
    parts = [f"{calls} tool call{'' if calls == 1 else 's'}, {kind}", f"{cost.seconds:.1f} s", _brain(found)]
    if cost.tokens or cost.usd:
        parts.append(f"{cost.tokens} tokens, {cost.usd:.2f} USD")
    parts += [found.stopped] if found.status != "finished" else []
    record = _record(found)
    return " · ".join([*parts, *([record] if record else []), f"session {found.session}"])


def _record(found: Investigation) -> str:
    """Beside a forecast, how those made so far on this machine fared; empty where nothing was ever measured."""
    if not any(proposal.predicted is not None for proposal in found.plan.proposals):
        return ""
    try:
        return track_record().says
    except ToolError as error:
        return str(error)


def _brain(found: Investigation) -> str:
    """Who chose the questions."""
    return (
        f"{found.brain} brain ({plain(found.contribution.model)})"
        if found.contribution.model
        else f"{found.brain} brain"
    )
