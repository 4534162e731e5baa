"""LA001 flag combination refused

What it is
    SGLang checks its arguments against each other at start and stops at an assertion: a feature that this version does
    not combine with pipeline parallelism, sizes that do not divide, a partition that does not add up.

Why it matters
    The server never serves. The lists differ by version: mixed chunks with a pipeline are refused up to 0.5.10,
    speculation up to 0.5.20, and a launch that worked elsewhere fails here.

Signals
    `Pipeline parallelism is not compatible with ...`, another AssertionError or ValueError before the ready line.

What refutes it
    A server that came up. An error that is about the model (LA002), memory (LA003) or an unknown flag (LA004).

Remedies
    Take back the one argument that the message names, or give it a value that divides; from 0.5.21 speculation with a
    pipeline is allowed for EAGLE behind SGLANG_ENABLE_PP_SPEC=1.
"""

import re

from ppagent.causes.cause import Advice, Change, Observation, Probe, Remedy
from ppagent.causes.refusals import REFUSALS, SPECULATION, Refusal
from ppagent.causes.sighting import (
    FLAG_KINDS,
    MEMORY_KINDS,
    came_up,
    ended_by,
    is_up,
    trouble,
    trouble_words,
    version,
)
from ppagent.causes.situation import stages
from ppagent.causes.split import MOST_LAYERS
from ppagent.evidence.facts import Facts
from ppagent.sglang.layers import PARTITION_VARIABLE, default_split, spell_partition
from ppagent.sglang.versions import at_least

_KINDS = ("pp_flag_conflict", "layer_partition_error", "assertion", "value_error")


class FlagCombinationRefused:
    id = "LA001"
    name = "flag combination refused"
    prior = 0.05
    wants = ("start.ready", *(f"trouble.{kind}" for kind in _KINDS), "engine.version")

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        up = is_up(facts)
        if up is not None:
            return (Observation(up.says, up.cites, 0.004, 0.8),)
        refusal = _refusal(facts)
        others = ended_by(facts, "pp_model_unsupported", *MEMORY_KINDS, *FLAG_KINDS)
        return (refusal, *others) if refusal is not None else others

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        if self.observe(facts):
            return ()
        return (Probe("logs.trouble", "the last lines of a start that failed say why it stopped", 0),)

    def advise(self, facts: Facts) -> Advice:
        cites = _cites(facts)
        if trouble(facts, "layer_partition_error") is not None:
            return Advice((_partition(facts, cites),))
        message = _message(facts)
        rule = next((r for r in REFUSALS if re.search(r.words, message, re.IGNORECASE) and _is_set(facts, r)), None)
        if rule is None:
            return Advice((_divisible(facts, message, cites) or _by_hand(message, cites),))
        remedies = [_take_back(rule, cites)]
        if rule.unset is SPECULATION and at_least(version(facts), "0.5.21"):
            remedies.insert(0, _allow_speculation(cites))
        return Advice(tuple(remedies))


def _message(facts: Facts) -> str:
    fields = (
        ("pp_flag_conflict", "features"),
        ("assertion", "message"),
        ("assert_line", "condition"),
        ("value_error", "message"),
    )
    return "; ".join(words for kind, field in fields if (words := trouble_words(facts, kind, field)))


def _cites(facts: Facts) -> tuple[str, ...]:
    return facts.cite(*(f"trouble.{kind}" for kind in _KINDS))


def _is_set(facts: Facts, rule: Refusal) -> bool:
    """A message that lists several features is about the one that this launch asks for."""
    return not rule.field or facts.arg(rule.field) is not None and facts.arg_flag(rule.field) is not False


def _refusal(facts: Facts) -> Observation | None:
    conflict = trouble(facts, "pp_flag_conflict", "layer_partition_error")
    if conflict is not None:
        words = trouble_words(facts, "pp_flag_conflict", "features") or "the layer partition does not fit"
        return Observation(f"the start was refused: {words[:200]}", conflict.cites, 0.9, 0.002)
    failed, up, message = trouble(facts, "assertion", "value_error"), came_up(facts), _message(facts)
    if failed is None:
        return None
    says = f"the start ended with: {message[:200]}" if message else f"the start ended with {failed.says}"
    if any(re.search(rule.words, message, re.IGNORECASE) for rule in REFUSALS) or _DIVIDES.search(message):
        return Observation(says, failed.cites, 0.9, 0.004)
    if up is None:
        return Observation(f"the log holds an error: {message[:200]}", failed.cites, 0.5, 0.1)
    return Observation(says, failed.cites + up.cites, 0.6, 0.02)


_DIVIDES = re.compile(r"divisible|must be a multiple|must divide|% ?[\w.]+ == 0", re.IGNORECASE)


def _divisible(facts: Facts, message: str, cites: tuple[str, ...]) -> Remedy | None:
    """`chunked_prefill_size must be divisible by page_size`: the next smaller multiple."""
    chunk, page = facts.arg_number("chunked_prefill_size"), facts.arg_number("page_size")
    if "page_size" not in message or not chunk or not page or chunk < page:
        return None
    fitting = int(chunk // page * page)
    return Remedy(
        "LA001",
        "relaunch",
        f"A chunk size that is a multiple of the page size: {fitting} tokens",
        Change(set={"--chunked-prefill-size": str(fitting)}),
        cites + facts.cite_args("chunked_prefill_size", "page_size"),
        verify="the server reports itself ready",
        rollback="none: it does not start now",
    )


def _take_back(rule: Refusal, cites: tuple[str, ...]) -> Remedy:
    return Remedy(
        "LA001",
        "relaunch",
        f"Start without {rule.unset[0]}, which this version refuses here",
        Change(unset=rule.unset),
        cites,
        risks=("what the flag gave is lost until a version that allows it",),
        verify="the server reports itself ready",
        rollback="none: it does not start now",
    )


def _allow_speculation(cites: tuple[str, ...]) -> Remedy:
    return Remedy(
        "LA001",
        "relaunch",
        "Allow EAGLE speculation over the pipeline, which this version keeps behind a variable",
        Change(env={"SGLANG_ENABLE_PP_SPEC": "1"}),
        cites,
        risks=("EAGLE only, without disaggregation, adaptive speculation and attention data parallelism; it is new",),
        verify="the server reports itself ready, answers are unchanged at temperature 0, accept length above 1",
        rollback="without the variable and the speculative flags",
        alone=True,
    )


def _partition(facts: Facts, cites: tuple[str, ...]) -> Remedy:
    ring, layers = stages(facts), facts.number("model.num_hidden_layers")
    if ring is None or layers is None or not 1 <= layers <= MOST_LAYERS:
        return _by_hand("SGLANG_PP_LAYER_PARTITION", cites)
    split = spell_partition(default_split(int(layers), int(ring.value), "0.5.6"))
    return Remedy(
        "LA001",
        "relaunch",
        f"A partition with one number a stage that adds up to {layers:g} layers: {split}",
        Change(env={PARTITION_VARIABLE: split}),
        cites + ring.cites + facts.cite("model.num_hidden_layers"),
        verify="the server reports itself ready",
        rollback="none: it does not start now",
    )


def _by_hand(message: str, cites: tuple[str, ...]) -> Remedy:
    return Remedy(
        "LA001",
        "operator",
        f"Change what the message names: {message[:160]}",
        Change(),
        cites,
        verify="the server reports itself ready",
        rollback="none: it does not start now",
    )


CAUSE = FlagCombinationRefused()
