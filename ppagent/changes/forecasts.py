"""What a change would give, as a range: every forecast of a proposal, a chat or `ppagent predict` is made here.

Only changes that the pipeline model can price get one, and never without a measured level.
"""

from dataclasses import replace

from ppagent.causes.cause import Change, RemedyKind
from ppagent.causes.ends import stopped_at_start
from ppagent.causes.graphs import OFF_SWITCHES, graphs_off
from ppagent.causes.physics import measured_levels, ring_of, roofline_of
from ppagent.causes.situation import no_cuda, stages
from ppagent.causes.split import layer_split
from ppagent.changes.proposal import Predicted
from ppagent.evidence.digits import whole_number
from ppagent.evidence.facts import Facts
from ppagent.model.forecast import Forecast
from ppagent.model.whatif import Server, Settings, what_if
from ppagent.sglang.layers import parse_partition

SLOT_LIMIT_FLAGS = ("--pp-max-micro-batch-size", "--max-micro-batch-size")
DEPTH_FLAG = "--pp-async-batch-depth"
PARTITION = "SGLANG_PP_LAYER_PARTITION"


def forecast(change: Change, facts: Facts) -> Predicted | None:
    """tok/s at the highest measured concurrency after `change`; None where the model has no ground to stand on."""
    levels = measured_levels(facts)
    if not levels or levels[-1].concurrency < 1:
        return None
    found = _forecast(change, facts, levels[-1].concurrency)
    if found is None:
        return None
    return Predicted(
        found.metric,
        found.at_concurrency,
        round(found.baseline, 1),
        round(found.low, 1),
        round(found.high, 1),
        found.regime,
        found.assumptions,
    )


def why_none(kind: RemedyKind, change: Change, facts: Facts) -> str:
    """Why `forecast` makes none of a step: what the model does not price first, since no measurement mends that."""
    if kind == "operator":
        return "it is done by hand: measure before and after"
    if stopped_at_start(facts):
        return "the server does not come up now, so there is no speed to start from"
    ring, levels = stages(facts), measured_levels(facts)
    if ring is not None and ring.value < 2:
        return "the model prices pipelines, and this server has one stage"
    if settings_after(change, Settings()) is None:
        return f"the pipeline model does not price {', '.join(_names(change))}"
    if not levels or levels[-1].concurrency < 1:
        return "no load level is known to start from (ppagent bench measures some)"
    server = server_of(facts)
    if server is None:
        return "the number of pipeline stages is not known"
    then = settings_after(change, server.now)
    if then is None or then == server.now:
        return "nothing that the pipeline model prices changes"
    return misfit(split_in(change), server, facts) or _unanswered(server, then, levels[-1].concurrency)


def _unanswered(server: Server, then: Settings, concurrency: int) -> str:
    """What the model lacks, in its own words; empty where it answers."""
    try:
        what_if(server, then, concurrency)
    except ValueError as error:
        return str(error)
    return ""


def _names(change: Change) -> tuple[str, ...]:
    return (*change.set, *change.unset, *change.env)


def server_of(facts: Facts) -> Server | None:
    """The measured server as the model sees it; None without a pipeline of two stages or without a level."""
    ring = ring_of(facts)
    if ring is None:
        return None
    split, roofline = layer_split(facts), roofline_of(facts)
    fits = split is None or roofline is None or sum(split.layers) == len(roofline.architecture.layers)
    now = Settings(
        slot_limit=ring.slot_limit,
        async_depth=ring.slots - ring.stages,
        graph=not graphs_off(facts) and no_cuda(facts) is None,
        split=split.layers if split is not None else None,
    )
    return Server(ring.levels, ring.stages, now, roofline if fits else None, shared_host=ring.shared_host, seen=ring)


def settings_after(change: Change, now: Settings) -> Settings | None:
    """The settings that `change` makes of `now`; None where it sets anything that the model does not know."""
    limit, depth = slot_limit_in(change), whole_number(change.set.get(DEPTH_FLAG, ""))
    graphs = any(flag in OFF_SWITCHES for flag in change.unset)
    layers = split_in(change)
    known = (limit is not None) + (depth is not None) + graphs + (layers is not None)
    if known != len(change.set) + len(change.unset) + len(change.env) or not known:
        return None
    return replace(
        now,
        slot_limit=limit if limit is not None else now.slot_limit,
        async_depth=depth if depth is not None else now.async_depth,
        graph=graphs or now.graph,
        split=layers or now.split,
    )


def slot_limit_in(change: Change) -> int | None:
    """The slot limit that a change sets."""
    limits = (whole_number(change.set.get(flag, "")) for flag in SLOT_LIMIT_FLAGS)
    return next((limit for limit in limits if limit is not None), None)


def misfit(split: tuple[int, ...] | None, server: Server, facts: Facts) -> str:
    """Why a split is of another pipeline or model; empty where it fits, as far as that is known."""
    if not split:
        return ""
    if len(split) != server.stages:
        return f"a split needs {server.stages} numbers, one a stage, and these are {len(split)}"
    layers = facts.number("model.num_hidden_layers")
    if layers and sum(split) != layers:
        return f"these layers add up to {sum(split)}, and the model has {layers:g}"
    return ""


def split_in(change: Change) -> tuple[int, ...] | None:
    """The layers of each stage that a change sets."""
    layers = change.env.get(PARTITION)
    return parse_partition(layers) if layers else None


def _forecast(change: Change, facts: Facts, concurrency: int) -> Forecast | None:
    server = server_of(facts)
    then = settings_after(change, server.now) if server is not None else None
    if server is None or then is None or then == server.now or misfit(split_in(change), server, facts):
        return None
    try:
        return what_if(server, then, concurrency)
    except ValueError:  # the model says what it lacks
        return None
