"""LA003 out of memory at load

What it is
    The weights of a stage, with what the static fraction reserves, do not fit the card: too few stages, an uneven
    split, a model loaded twice as its own draft, a fraction too large for the rest or too small for a KV pool.

Why it matters
    The server does not start, or ends while loading after minutes of reading.

Signals
    CUDA out of memory, or `Not enough memory. Please try to increase --mem-fraction-static`, before the ready line;
    weights per stage close to the card's memory; a draft model in the log.

What refutes it
    A server that came up: memory that ran out later is another matter. A capture that failed (CG005).

Remedies
    As the message says: a larger fraction where the pool is short, a smaller one where the rest is; a split by memory;
    more cards; SGLANG_ENABLE_SPEC_V2 for a model that drafts for itself (0.5.4 to 0.5.10).
"""

import math
import re

from ppagent.causes.cause import Advice, Change, Declined, Observation, Probe, Remedy
from ppagent.causes.sighting import FLAG_KINDS, came_up, ended_by, is_up, switched_on, trouble, trouble_words, version
from ppagent.causes.situation import Known, stages
from ppagent.causes.weights import card_gib, heaviest_gib
from ppagent.evidence.facts import Facts
from ppagent.sglang.versions import at_least

MOST_FRACTION = 0.95
USUAL_FRACTION = 0.85
"""What SGLang itself chooses is about that for most cards and models; less is somebody's choice."""
POOL_SHARE = 0.06
"""Least share of a card that a KV pool worth having takes."""

SELF_DRAFTING = ("NEXTN", "EAGLE")


class OutOfMemoryAtLoad:
    id = "LA003"
    name = "out of memory at load"
    prior = 0.05
    wants = (
        "start.ready",
        "trouble.cuda_oom",
        "trouble.not_enough_memory",
        "start.weights_gib",
        "gpu.memory_total_mib",
        "args.mem_fraction_static",
        "trouble.draft_loaded",
    )

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        up = is_up(facts)
        if up is not None:
            return (Observation(up.says, up.cites, 0.005, 0.8),)
        found = (_message(facts), _fit(facts), _draft(facts), _capture(facts))
        others = ended_by(facts, "pp_flag_conflict", "pp_model_unsupported", *FLAG_KINDS)
        return (*(o for o in found if o is not None), *others)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        if self.observe(facts):
            return ()
        return (Probe("logs.trouble", "an out-of-memory message stands near the end of a start that failed", 0),)

    def advise(self, facts: Facts) -> Advice:
        cites = facts.cite("trouble.cuda_oom", "trouble.not_enough_memory", "start.weights_gib")
        found = (_draft_once(facts, cites), _fraction(facts, cites), _more_stages(facts, cites))
        remedies = tuple(r for r in found if r is not None)
        declined = Declined(
            "--chunked-prefill-size",
            "it bounds activations of a prefill, and memory ended before there was one",
            cites,
        )
        return Advice(remedies or (_by_hand(facts, cites),), (declined,))


def _message(facts: Facts) -> Observation | None:
    """A log that ends before the ready line; without a word on that, the message may be of a later time."""
    seen, up = trouble(facts, "not_enough_memory", "cuda_oom"), came_up(facts)
    if seen is None:
        return None
    if trouble(facts, "capture_failed") is not None:
        return None
    pool = trouble(facts, "not_enough_memory")
    if pool is not None:
        return Observation("no memory was left for a KV pool, which is made at the start", pool.cites, 0.9, 0.005)
    if up is None:
        return Observation(f"the log says {seen.says}", seen.cites, 0.6, 0.15)
    return Observation(f"{seen.says} before the ready line", seen.cites + up.cites, 0.9, 0.01)


def _fit(facts: Facts) -> Observation | None:
    heaviest, card = heaviest_gib(facts), card_gib(facts)
    if heaviest is None or card is None or heaviest.value < 0.85 * card.value:
        return None
    return Observation(f"{heaviest.says}, {card.says}", heaviest.cites + card.cites, 0.5, 0.05)


def _drafts_itself(facts: Facts) -> bool:
    """A model that drafts with its own layers, loaded again in full unless the second speculative engine is on
    (`SGLANG_ENABLE_SPEC_V2`, off by default from 0.5.4 to 0.5.10, gone later)."""
    algorithm = (facts.arg_text("speculative_algorithm") or "").upper()
    found = version(facts)
    in_range = at_least(found, "0.5.4") is True and at_least(found, "0.5.11") is False
    path, target = facts.arg_text("speculative_draft_model_path"), facts.arg_text("model_path")
    own = path is None or path == target
    return algorithm in SELF_DRAFTING and own and in_range and not switched_on(facts, "SGLANG_ENABLE_SPEC_V2")


def _draft(facts: Facts) -> Observation | None:
    seen = trouble(facts, "draft_loaded")
    if seen is None or trouble(facts, "cuda_oom", "not_enough_memory") is None:
        return None
    return Observation("a draft model is loaded besides the target", seen.cites, 0.3, 0.1)


def _capture(facts: Facts) -> Observation | None:
    seen = trouble(facts, "capture_failed")
    if seen is None:
        return None
    return Observation("the start ended in graph capture, after weights and pool had found room", seen.cites, 0.1, 0.5)


def _draft_once(facts: Facts, cites: tuple[str, ...]) -> Remedy | None:
    if not _drafts_itself(facts):
        return None
    return Remedy(
        "LA003",
        "relaunch",
        "Let the model draft with its own layers instead of loading it a second time",
        Change(env={"SGLANG_ENABLE_SPEC_V2": "True"}),
        cites + facts.cite_args("speculative_algorithm"),
        risks=("the second speculative engine is experimental in these versions: compare answers at temperature 0",),
        verify="one load of the weights in the log, half the memory, accept length above 1",
        rollback="without the variable and without speculation",
    )


def _fraction(facts: Facts, cites: tuple[str, ...]) -> Remedy | None:
    """More for the pool where the pool is short, less where something outside it is."""
    now = facts.arg_number("mem_fraction_static") or _said_fraction(facts)
    if trouble(facts, "not_enough_memory") is not None:
        wanted = _roomy_fraction(facts, now)
        return None if wanted is None else _set_fraction(wanted, "Reserve more of each card", cites, facts)
    if now is not None and now > 0.6 and facts.numbers("start.kv_gib"):
        return _set_fraction(round(now - 0.05, 2), "Leave more of each card to activations and graphs", cites, facts)
    return None


def _said_fraction(facts: Facts) -> float | None:
    """The fraction in force, which later versions add to the message."""
    words = trouble_words(facts, "not_enough_memory", "fraction")
    return float(words) if re.fullmatch(r"0?\.[0-9]{1,9}", words) else None


def _roomy_fraction(facts: Facts, now: float | None) -> float | None:
    heaviest, card = heaviest_gib(facts), card_gib(facts)
    wanted = [now + 0.03] if now is not None else []
    if heaviest is not None and card is not None:
        wanted.append(heaviest.value / card.value + POOL_SHARE)
    elif wanted:
        wanted.append(USUAL_FRACTION)
    if not wanted or max(wanted) > MOST_FRACTION:
        return None
    return math.ceil(max(wanted) * 100 - 1e-6) / 100


def _set_fraction(value: float, title: str, cites: tuple[str, ...], facts: Facts) -> Remedy:
    return Remedy(
        "LA003",
        "relaunch",
        f"{title}: fraction {value:g}",
        Change(set={"--mem-fraction-static": f"{value:g}"}),
        cites + facts.cite_args("mem_fraction_static"),
        risks=("too large a fraction leaves nothing for activations and graphs, too small a one no KV pool",),
        verify="the server reports itself ready, with free memory left after capture",
        rollback="none: it does not start now",
    )


def _more_stages(facts: Facts, cites: tuple[str, ...]) -> Remedy | None:
    heaviest, card, ring = heaviest_gib(facts), card_gib(facts), stages(facts)
    if heaviest is None or card is None or ring is None or heaviest.value < 0.8 * card.value:
        return None
    weights = facts.numbers("start.weights_gib")
    if max(weights.values()) > 1.15 * sum(weights.values()) / len(weights):
        return _even_split(heaviest, cites)
    needed = math.ceil(ring.value * heaviest.value / (0.75 * card.value))
    return Remedy(
        "LA003",
        "operator",
        f"Cut the model into at least {needed} stages, or take a smaller format of its weights: {heaviest.says}, "
        f"{card.says}",
        Change(),
        cites + card.cites + ring.cites,
        risks=("more cards, or another checkpoint whose answers differ",),
        verify="weights of the heaviest stage below four fifths of a card",
        rollback="none: it does not start now",
    )


def _even_split(heaviest: Known, cites: tuple[str, ...]) -> Remedy:
    return Remedy(
        "LA003",
        "operator",
        f"Even out the stages with SGLANG_PP_LAYER_PARTITION, fewer layers where they are heaviest: {heaviest.says}",
        Change(),
        cites,
        risks=("the sum must stay the number of layers",),
        verify="weights per stage within a tenth of each other",
        rollback="the default split",
    )


def _by_hand(facts: Facts, cites: tuple[str, ...]) -> Remedy:
    fits = "more stages, a smaller format of its weights, no draft model, or free the cards first"
    short = trouble(facts, "not_enough_memory") is not None
    larger = "Raise --mem-fraction-static, which weights and pool share; where that ends out of memory too, make it fit"
    return Remedy(
        "LA003",
        "operator",
        f"{larger if short else 'Make the model fit'}: {fits}",
        Change(),
        cites,
        verify="the server reports itself ready",
        rollback="none: it does not start now",
    )


CAUSE = OutOfMemoryAtLoad()
