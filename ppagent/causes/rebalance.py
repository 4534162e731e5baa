"""A layer split that carries filled slots better, as an addition to a restart: by the stages' own times where they were
taken, else by bytes and bandwidth, where the LM head counts for the last stage."""

from ppagent.causes.cause import Change, Remedy
from ppagent.causes.dealt_layers import Dealt, by_times, faster_by_bytes, fitted, prefill_effect
from ppagent.causes.graphs import graphs_off
from ppagent.causes.physics import roofline_of, stage_costs_of
from ppagent.causes.split import Split, layer_split
from ppagent.causes.stage_times import TRACED, busy_shares
from ppagent.evidence.facts import Facts
from ppagent.model.roofline import Roofline
from ppagent.model.stage_costs import StageCosts

WORTH_FROM = 1.10
"""Longest stage now over longest stage then from which a split by bytes is worth naming."""


def better_split(cause: str, facts: Facts, filled: float, requests: float) -> Remedy | None:
    """The remedy that adds the best split to a restart; None where nothing tells stages apart, or without a gain."""
    roofline, split, costs = roofline_of(facts), layer_split(facts), _lasting_costs(facts)
    if roofline is not None and split is not None and sum(split.layers) != len(roofline.architecture.layers):
        roofline = None
    if split is None or (costs is None and roofline is None):
        return None
    if costs is not None:
        better = by_times(facts, costs, roofline)
    else:
        better = None if roofline is None else _by_bytes(facts, roofline, split, max(1.0, requests / filled))
    if better is None:
        return None
    return Remedy(
        cause,
        "relaunch",
        f"in the same restart split the layers {better.text} instead of {split.text}, {better.made_by}",
        Change(env={"SGLANG_PP_LAYER_PARTITION": better.text}),
        split.cites,
        risks=(*better.risks, prefill_effect(split.layers, better.layers)),
        verify="with filled slots the busy shares of the stages lie closer together than before",
        rollback="unset SGLANG_PP_LAYER_PARTITION and restart",
        extends=True,
    )


def _lasting_costs(facts: Facts) -> StageCosts | None:
    """The stages' own times, where they hold after the restart too: a restart that brings graphs takes the launches out
    of all of them but those that a trace shows of the kernels alone."""
    if graphs_off(facts) and busy_shares(facts)[0] != TRACED:
        return None
    return stage_costs_of(facts)


def _by_bytes(facts: Facts, roofline: Roofline, split: Split, batch: float) -> Dealt | None:
    found = faster_by_bytes(facts, split, roofline, batch, WORTH_FROM)
    if found is None:
        return None
    now, best = found
    made_by = (
        f"by the bytes of a step: the longest stage takes {max(now.stage_ms):.2f} ms of peak bandwidth now, the LM "
        f"head of the last one counted, and {max(best.stage_ms):.2f} ms then"
    )
    return fitted(facts, split.layers, best.layers, made_by)
