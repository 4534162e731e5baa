"""Other shapes of a server's cards, TP ranks by PP stages, priced where something is known to scale from."""

from dataclasses import dataclass

from ppagent.causes.links import nodes, nvlink, through_host, world
from ppagent.causes.physics import measured_levels, roofline_of
from ppagent.causes.pool_fit import pool_of
from ppagent.causes.situation import stages
from ppagent.causes.split import layer_split
from ppagent.evidence.facts import Facts
from ppagent.model.pool import Layout, Pool
from ppagent.model.roofline import Roofline
from ppagent.model.shapes import Shape, shape
from ppagent.sglang.layers import default_split

SOURCE = (
    "Scaled by the model's bytes and layers from one public report (Kimi K2.5 in INT4, TP8 over eight RTX PRO 6000: 90 "
    "to 101 tok/s at C=1): PCIe with peer-to-peer, decode graphs on, requests dealt evenly over the slots, the default "
    "layer split, prefill left out. Where the topology is poor, TP was seen at 32 to 44 of these 90 to 101. KV: tokens "
    "that all stages hold, by the start-up log and SGLang's rule. Each is another launch, to be measured"
)


@dataclass(frozen=True)
class Shapes:
    """Shapes that the launch could have, the present one first, priced at `at` requests; without any, `lacking` says
    why. `alone` and `loaded` are tok/s as measured."""

    at: int
    shapes: tuple[Shape, ...] = ()
    cards: int = 0
    alone: float | None = None
    loaded: float | None = None
    lacking: str = ""


def shapes_of(facts: Facts, at: int) -> Shapes:
    """The shapes of all cards of one host whose tensor-parallel ranks divide the attention heads."""
    roofline, ranks, heads = roofline_of(facts), world(facts), facts.number("model.num_attention_heads")
    lacking = _lacking(facts, roofline)
    if lacking or roofline is None or ranks is None or not heads:
        return Shapes(at, lacking=lacking or "the model or the cards are not known")
    cards, levels = int(ranks.value), {level.concurrency: level.tokens_per_s for level in measured_levels(facts)}
    if (levels.get(1) or 0.0) > 1000.0 / roofline.ring_ms(1):
        return Shapes(at, lacking="one request was measured faster than these cards can read this model")
    widths = [tp for tp in range(1, cards + 1) if cards % tp == 0 and heads % tp == 0]
    widths = [tp for tp in widths if cards // tp <= len(roofline.architecture.layers)]
    widths.sort(key=lambda tp: (tp != roofline.tp, tp))
    found = tuple(_shape(facts, roofline, tp, cards // tp, at) for tp in widths)
    return Shapes(at, found, cards, levels.get(1), levels.get(at))


def _lacking(facts: Facts, roofline: Roofline | None) -> str:
    link, hosts = nvlink(facts), nodes(facts)
    if roofline is None:
        return "the model's config and the cards must be known"
    if link is None:
        return "how the cards are linked is not known"
    if link.yes:
        return "the one report to scale from is of cards on PCIe, and NVLink joins these"
    if hosts is None or hosts.value > 1:
        return "the one report to scale from is of a single host"
    if through_host(facts) is not None:
        return "the one report to scale from has peer-to-peer, and data between these cards go through host memory"
    return ""


def _shape(facts: Facts, roofline: Roofline, tp: int, count: int, at: int) -> Shape:
    split = default_split(len(roofline.architecture.layers), count, facts.text("engine.version"))
    now, pool, ring = layer_split(facts), pool_of(facts), stages(facts)
    if tp == roofline.tp and now is not None and ring is not None and ring.value == len(now.layers):
        split = now.layers
    tokens = None
    if pool is not None and now is not None and sum(now.layers) == len(roofline.architecture.layers):
        tokens = _tokens(facts, pool, roofline, now.layers, Layout(split, tp, _kv_ranks(facts, tp)))
    return shape(roofline, tp, split, at, tokens)


def _tokens(facts: Facts, pool: Pool, roofline: Roofline, now: tuple[int, ...], then: Layout) -> int | None:
    before = Layout(now, roofline.tp, _kv_ranks(facts, roofline.tp))
    if not max(before.cells(roofline.architecture)):
        return None
    return pool.tokens if then == before else pool.tokens_in(roofline.architecture, before, then)


def _kv_ranks(facts: Facts, tp: int) -> int:
    """Ranks that divide the KV heads; with more ranks than heads each head is kept several times."""
    heads = facts.number("model.num_key_value_heads")
    return tp if not heads else min(tp, int(heads))
