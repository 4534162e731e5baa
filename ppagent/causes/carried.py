"""How many filled slots the stages carry before the longest of them is the bound."""

from ppagent.causes.physics import stage_costs_of
from ppagent.causes.split import layer_split
from ppagent.evidence.facts import Facts


def useful_slots(facts: Facts, ring_slots: float) -> float:
    """Slots worth filling, at most those of the ring: beyond sum(times) / max(times) the longest stage is the bound and
    more slots only queue (an upper bound on F* = (sum of stage times + return) / longest stage time). By the stages'
    own times where they were taken, else by their layers."""
    costs, split = stage_costs_of(facts), layer_split(facts)
    if costs is not None:
        carries = sum(costs.times) / max(costs.times)
    elif split is not None:
        carries = sum(split.layers) / max(split.layers)
    else:
        return ring_slots
    # Rounded, since a split that is off by one layer in eight carries nearly all slots.
    return float(min(ring_slots, max(1, round(carries + 0.3))))
