"""Memory by SGLang's own rules: weights and KV a stage, token capacity, running limit, slot limit, graphs."""

from collections.abc import Sequence
from dataclasses import dataclass

from packaging.version import Version

from ppagent.model.architecture import Architecture
from ppagent.model.mixers import Mixer
from ppagent.model.partition import stage_weight_bytes

_GIB = 2**30
# CUDA context, NCCL buffers and loaded kernels of one process before any weight; usual values lie between 0.6 and 2.
CONTEXT_GIB = 1.0


@dataclass(frozen=True)
class MemoryPlan:
    """Memory on each card of each stage. `tokens` is the KV capacity that SGLang gives all stages.

    `binding_stage` (from 0) is the one whose weights or layers bound it; `spare_gib` is what each stage leaves unused
    inside its static share because of that.
    """

    weight_gib: tuple[float, ...]
    kv_bytes_per_token: tuple[float, ...]
    tokens: int
    binding_stage: int
    spare_gib: tuple[float, ...]

    @property
    def fits(self) -> bool:
        """Whether anything is left for KV."""
        return self.tokens > 0


def kv_bytes_per_token(
    model: Architecture, split: Sequence[int], kv_value_bytes: float = 2.0, tp: int = 1
) -> tuple[float, ...]:
    """KV bytes a token takes on a card of each stage. MLA's latent is on every TP rank, heads are divided."""
    divide = 1 if model.mla else tp
    cells: list[float] = []
    start = 0
    for count in split:
        layers = model.layers[start : start + count]
        cells.append(sum(layer.kv_values for layer in layers) * kv_value_bytes / divide)
        start += count
    return tuple(cells)


def plan_memory(
    model: Architecture,
    split: Sequence[int],
    card_gib: float,
    fraction: float,
    *,
    tp: int = 1,
    kv_value_bytes: float = 2.0,
) -> MemoryPlan:
    """Weights and KV a stage under `--mem-fraction-static fraction` on cards of `card_gib`.

    KV bytes are the memory free after loading, taken as the least over all ranks, minus what the fraction keeps back;
    tokens follow from each stage's own layers. From 0.5.2 the least over the stages holds for all of them
    (model_runner.py: profile_max_num_token and init_memory_pool; kv_cache_configurator.py in 0.5.23); before, a
    stage kept its own, and the least still bounds what can run.
    """
    weights = tuple(value / _GIB for value in stage_weight_bytes(model, split, tp))
    usable_gib = card_gib - CONTEXT_GIB
    free_gib = usable_gib - max(weights) - usable_gib * (1.0 - fraction)
    cells = kv_bytes_per_token(model, split, kv_value_bytes, tp)
    widest = max(range(len(cells)), key=lambda stage: cells[stage])
    tokens = max(0, int(free_gib * _GIB / cells[widest])) if cells[widest] else 0
    spare = tuple(
        usable_gib * fraction - weight - tokens * cell / _GIB for weight, cell in zip(weights, cells, strict=True)
    )
    binding = min(range(len(spare)), key=lambda stage: spare[stage])
    return MemoryPlan(weights, cells, tokens, binding, spare)


def weight_limit_gib(
    model: Architecture, stages: int, card_gib: float, fraction: float, tokens: int, kv_value_bytes: float = 2.0
) -> float:
    """Most weights a card may hold if its stage is to keep KV for `tokens` tokens, with an even share of the layers."""
    cell = max(layer.kv_values for layer in model.layers) * kv_value_bytes
    kv_gib = tokens * cell * -(-len(model.layers) // stages) / _GIB
    return (card_gib - CONTEXT_GIB) * fraction - kv_gib


def default_fraction(
    card_gib: float,
    *,
    tp: int,
    pp: int,
    chunk_tokens: int,
    graph_max_batch: int,
    version: Version,
    mla: bool = False,
    prefill_graph_sizes: int = 0,
    speculative: bool = False,
) -> float:
    """`mem_fraction_static` where the launch leaves it open (server_args.py; 0.5.23 arg_groups/memory_hook.py).

    Up to 0.5.2 a table by card size, from 0.5.3 a sum of reserves. From 0.5.16 models without MLA may size KV after
    graph capture instead, which keeps less back; that is not counted here.
    """
    total_mib = card_gib * 1024
    if version < Version("0.5.3"):
        reserve_mib = _old_reserve_mib(total_mib, tp * pp) + (2048 if speculative else 0)
        return round((total_mib - reserve_mib) / total_mib, 3)
    reserve_mib = 512 + 1.5 * max(chunk_tokens, 2048) + 2 * graph_max_batch + tp * pp / 8 * 1024
    if prefill_graph_sizes:
        late_mla = mla and version >= Version("0.5.10")
        reserve_mib += 1536 if late_mla else 8 * prefill_graph_sizes
    if total_mib > 60 * 1024:
        reserve_mib = max(reserve_mib, 10 * 1024)
    if speculative:
        reserve_mib += 4096 if version >= Version("0.5.10") else 2048
    return round((total_mib - reserve_mib) / total_mib, 3)


def default_max_running(
    tokens: int, context_tokens: int, version: Version, asked: int | None = None, dp: int = 1
) -> int:
    """Requests that may run at once, by `_resolve_max_num_reqs` of the version.

    Unset: 2048 to 4096, and half the KV tokens at most. Asked for: divided over DP ranks and bounded by the same
    estimate up to 0.5.13, by half the tokens from 0.5.14 (model_runner_kv_cache_mixin.py read in 0.5.13 and 0.5.14).
    """
    estimate = max(min(int(tokens / context_tokens * 512), 4096), 2048)
    if asked is None:
        return min(estimate, tokens // 2)
    each = max(1, asked // dp)
    return min(each, tokens // 2) if version >= Version("0.5.14") else min(each, estimate)


def default_slot_limit(max_running: int, pp: int) -> int:
    """`pp_max_micro_batch_size` where it is unset: divided by the stages, not by the slots (scheduler.py)."""
    return max(max_running // pp, 1)


def default_graph_batch(card_gib: float, tp: int, version: Version) -> int:
    """Largest decode batch that gets a CUDA graph by default (server_args.py; 0.5.23 arg_groups/memory_hook.py)."""
    wide = tp >= 4
    if card_gib < 20:
        return 8
    if card_gib < 35:
        return (160 if wide else 48) if version >= Version("0.5.20") else (80 if wide else 24)
    if card_gib < 60:
        return 160 if wide else 32
    if card_gib < 160:
        return 512 if wide else 256
    return 512


def graph_gib(max_batch: int) -> float:
    """What SGLang reserves for decode graphs: 2 MiB a unit of the largest batch. The capture line has the truth."""
    return 2.0 * max_batch / 1024


def fits_with_graph(plan: MemoryPlan, card_gib: float, fraction: float, max_batch: int) -> bool:
    """Whether decode graphs up to `max_batch` fit beside the static share, 2 GiB left for activations."""
    return plan.fits and card_gib * (1.0 - fraction) >= graph_gib(max_batch) + 2.0


def kv_note(model: Architecture) -> str | None:
    """What the KV arithmetic leaves out for this model, in a sentence; None where it leaves out nothing."""
    mixers = {layer.mixer for layer in model.layers}
    if Mixer.STATE in mixers:
        return "State layers keep a fixed buffer a request that is not in this figure."
    if Mixer.SLIDING in mixers:
        return "Sliding-window layers may get a smaller pool of their own."
    return None


def _old_reserve_mib(total_mib: float, ranks: int) -> float:
    if total_mib < 35 * 1024:
        return (2.8 + ranks / 10) * 1024
    if total_mib < 90 * 1024:
        return (9.5 + ranks / 2) * 1024
    if total_mib < 160 * 1024:
        return (12 + ranks / 2) * 1024
    return 32 * 1024
