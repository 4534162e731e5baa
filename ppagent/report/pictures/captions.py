"""What stands under each picture: what is measured, what is computed, what is forecast, what a drawing assumes."""

from collections.abc import Sequence

from ppagent.report.pictures.curves import Curves
from ppagent.report.pictures.power import Power
from ppagent.report.pictures.timeline import Lane


def waterfall_caption(came_about: str) -> str:
    """`came_about` says how the figures that nobody computed came about: measured, reconstructed, as stated."""
    return (
        f"Observed: {came_about}; everything above it is computed. The ceiling is what the bytes of a step allow at "
        "peak bandwidth with every slot filled and all stages alike. Losses are taken away in the order shown, and "
        "what one costs depends on those before it: what curing a cause alone would give stands beside the cause."
    )


def timeline_caption(
    lanes: Sequence[Lane], came_about: str, fill_said: str = "", divided_by: str = "the layers"
) -> str:
    """For a measured server, whose turn divides over the stages by what `divided_by` says."""
    proposed = "" if all(lane.now for lane in lanes) else "Proposed: a forecast by the ring model, never measured. "
    fill = f" Filled slots now, by reading: {fill_said}." if fill_said else ""
    return (
        "A block is one stage taken by one micro-batch, its colour and number the slot; an empty stretch is a stage "
        "that waits. Taken is the share of time; launches and hops are inside the blocks, so a device computes for "
        f"less. Now: the turn is a figure from the load levels ({came_about}), its split over the stages follows "
        f"{divided_by}. {proposed}Requests are taken to be spread evenly and to decode steadily; prefill is left "
        f"out.{fill}"
    )


def given_timeline_caption(origin: str) -> str:
    """For a ring by its numbers, which are from where `origin` says."""
    return (
        "A block is one stage at work on one micro-batch, its colour and number the slot; an empty stretch is a stage "
        f"that waits, for its turn or for its CPU. {origin[0].upper()}{origin[1:]}. Requests are taken to be spread "
        "evenly and to decode steadily; prefill is left out."
    )


def curves_caption(curves: Curves, came_about: str) -> str:
    """For a measured server, and for a ring by its numbers where no point was measured."""
    said = [f"Points: {came_about}."] if curves.points else ["Nothing here was measured."]
    if curves.now and curves.points:
        said.append(
            "The dashed line is the ring model's fit under the least fill that the evidence allows, carried on beyond "
            "the last point."
        )
    elif curves.now:
        said.append("The dashed line is the ring with all requests in one slot.")
    if curves.band or curves.marks:
        said.append("Green is forecast and was never measured.")
    if curves.others:
        said.append("Grey lines are the middles of forecasts with other slot limits.")
    if curves.marks:
        loads = ", ".join(f"{mark.name} at {mark.at:g}" for mark in curves.marks)
        said.append(f"Upright marks stand a little to the right of the load they are forecast for: {loads}.")
    return " ".join(said)


def power_caption(power: Power, came_about: str) -> str:
    """What tells work from waiting."""
    return (
        f"{power.says}. {came_about.capitalize()}: thin lines are single GPUs, the shade their range, the bold line "
        "their mean; between samples nothing is known. A stage that waits in a receive kernel counts as utilised in "
        "nvidia-smi and still draws little, so power tells work from waiting."
    )
