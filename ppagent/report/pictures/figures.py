"""What a report can draw of an investigation, worked out from its facts and its plan: numbers, no drawing."""

from dataclasses import dataclass

from ppagent.agent.investigation import Investigation
from ppagent.causes.fill import fill_readings
from ppagent.causes.physics import measured_levels, ring_of, turn_report
from ppagent.evidence.facts import Facts
from ppagent.report.pictures.curves import Curves
from ppagent.report.pictures.lanes import divided_by, lanes_of
from ppagent.report.pictures.levels import curves_of
from ppagent.report.pictures.power import Power
from ppagent.report.pictures.series import power_of
from ppagent.report.pictures.timeline import Lane

Cites = tuple[str, ...]

_CAME_ABOUT = {"reconstructed": "reconstructed", "synthetic": "made up"}


@dataclass(frozen=True)
class Figures:
    """What can be drawn, each with the evidence it stands on; empty where nothing is known."""

    came_about: str = "measured"
    """How the figures that nobody computed came about."""
    lanes: tuple[Lane, ...] = ()
    fill_said: str = ""
    """Every reading of the fill that the lanes as of now are drawn for."""
    divided_by: str = "the layers"
    """What the lanes divide a turn over the stages by."""
    lane_cites: Cites = ()
    curves: Curves | None = None
    curve_cites: Cites = ()
    power: tuple[Power, ...] = ()


def figures_of(found: Investigation) -> Figures:
    """The figures of an investigation."""
    facts, proposals = found.facts, found.plan.proposals
    ring, levels = ring_of(facts), measured_levels(facts)
    curves = curves_of(levels, came_about(facts), ring, proposals) if levels else None
    cites = facts.cite("bench.levels") or facts.cite("stated.levels")
    return Figures(
        came_about=came_about(facts),
        lanes=() if ring is None else lanes_of(ring, proposals),
        fill_said=fill_said(facts),
        divided_by=divided_by(ring),
        lane_cites=tuple(dict.fromkeys((*cites, *(c for reading in fill_readings(facts) for c in reading.cites)))),
        curves=curves if curves is not None and curves.worth_drawing else None,
        curve_cites=cites,
        power=power_of(facts),
    )


def came_about(facts: Facts) -> str:
    """In one or two words, for a legend: the figures of a recording are not always measured ones."""
    if "bench.levels" not in facts and "stated.levels" in facts:
        return "as stated"
    origin = _CAME_ABOUT.get(facts.text("recording.origin") or "", "measured")
    emulated = "emulated" in (facts.text("recording.gpus") or "")
    return f"{origin}, emulated device" if emulated else origin


def fill_said(facts: Facts) -> str:
    said = [f"{reading.way} {reading.filled:.2g}" for reading in fill_readings(facts)]
    report = turn_report(facts)
    if report is not None:
        said.insert(0, f"load levels {report.fill_low:.2g} to {report.fill_high:.2g}")
    return ", ".join(said)
