"""What can be scored: the brains of ppagent, and baselines that need no thought."""

from collections.abc import Mapping
from functools import partial

from ppagent_evals.baselines import always_graphs, chance, first_rule
from ppagent_evals.diagnosing import diagnosed_by
from ppagent_evals.runner import Diagnose

BASELINES: Mapping[str, Diagnose] = {"first-rule": first_rule, "always-graphs": always_graphs, "chance": chance}
NAMES = ("rules", "auto", "llm", *BASELINES)
VARYING = frozenset({"auto", "llm"})
"""Brains that may answer differently each time."""


def brain_to_score(name: str, *, model: str = "", base_url: str = "") -> Diagnose:
    """The brain of that name, one of `NAMES`. Raises UserError where "llm" has no model to ask."""
    if name in BASELINES:
        return BASELINES[name]
    from ppagent.brains.brain import brain_of

    brain_of(name, model=model, base_url=base_url)
    return partial(diagnosed_by, name, model, base_url)
