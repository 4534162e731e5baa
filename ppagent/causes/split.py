"""How the layers lie over the stages, and what that lets the ring carry."""

from dataclasses import dataclass

from ppagent.causes.situation import Cites, stages
from ppagent.errors import UserError
from ppagent.evidence.facts import Fact, Facts
from ppagent.sglang.layers import default_split, parse_partition
from ppagent.sglang.versions import parse_version

MOST_LAYERS = 10_000


@dataclass(frozen=True)
class Split:
    """Layers of each stage, and where that is known from."""

    layers: tuple[int, ...]
    origin: str
    """"partition" where SGLANG_PP_LAYER_PARTITION sets it, "default" where the version's rule does."""
    cites: Cites

    @property
    def imbalance(self) -> float:
        """Layers of the longest stage over the mean."""
        return max(self.layers) * len(self.layers) / sum(self.layers)

    @property
    def text(self) -> str:
        return ",".join(map(str, self.layers))


def _partition(env: Fact | None) -> tuple[int, ...]:
    """The stages' layer counts that a partition asks for; none where it is absent or no server could start with it."""
    if env is None or not isinstance(env.value, str):
        return ()
    try:
        layers = parse_partition(env.value)
    except UserError:
        return ()
    return layers if min(layers) >= 0 and 1 <= sum(layers) <= MOST_LAYERS else ()


def layer_split(facts: Facts) -> Split | None:
    """The layer split: the environment's, else the version's rule over the model's layers."""
    ring = stages(facts)
    if ring is None or ring.value < 2:
        return None
    env = facts.first("env.SGLANG_PP_LAYER_PARTITION", "launch.env.SGLANG_PP_LAYER_PARTITION")
    layers = _partition(env)
    if env is not None and len(layers) == int(ring.value):
        return Split(layers, "partition", (env.evidence,))
    count = facts.first("model.num_hidden_layers", "stated.layers")
    version = facts.get("engine.version")
    if count is None or not 1 <= (count.number or 0) <= MOST_LAYERS:
        return None
    if version is None or parse_version(str(version.value)) is None:
        return None
    layers = default_split(int(count.number or 0), int(ring.value), str(version.value))
    return Split(layers, "default", (count.evidence, version.evidence, *ring.cites))
