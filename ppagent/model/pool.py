"""The KV pool after another layer split, from the weights and the pool that a start-up log printed.

SGLang takes the memory that is free after loading, the least over all ranks, keeps back what `mem_fraction_static` says
and gives every stage the tokens that the widest stage can hold (from 0.5.2; model_runner.py: profile_max_num_token and
init_memory_pool, kv_cache_configurator.py in 0.5.23). Weights and pool of the fullest card together therefore stay the
same whatever the split: what its weights give up, the pool gets.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ppagent.model.architecture import Architecture
from ppagent.model.memory import kv_bytes_per_token, stage_weight_bytes

_GIB = 2**30


@dataclass(frozen=True)
class Layout:
    """Layers of each stage, cards a stage, and how many of these divide the KV of a token among them."""

    split: tuple[int, ...]
    tp: int = 1
    kv_ranks: int = 1

    def weights_gib(self, model: Architecture) -> tuple[float, ...]:
        """Weights on a card of each stage, by the model's config."""
        return tuple(value / _GIB for value in stage_weight_bytes(model, self.split, self.tp))

    def cells(self, model: Architecture) -> tuple[float, ...]:
        """KV of a token on a card of each stage, in any unit."""
        return kv_bytes_per_token(model, self.split, tp=self.kv_ranks)


@dataclass(frozen=True)
class Pool:
    """Memory of each stage in GiB a card: weights, KV, and what is free after the pool (empty: not known). `tokens` is
    what all stages hold, `budget_gib` what weights and KV may take together, `most_tokens` a bound that the launch sets
    (`--max-total-tokens`)."""

    weights_gib: tuple[float, ...]
    kv_gib: tuple[float, ...]
    tokens: int
    budget_gib: float
    free_gib: tuple[float, ...] = ()
    most_tokens: int | None = None

    def weight_limit_gib(self, model: Architecture, now: Layout, tokens: float) -> float:
        """Most weights, as the model's config makes them, of a card whose stage, with as many layers as the widest now,
        keeps KV for `tokens`."""
        return (self.budget_gib - max(self.kv_gib) * tokens / self.tokens) / self._scale(model, now)

    def after(self, model: Architecture, now: Layout, then: Layout) -> "Pool":
        """The pool with as many stages and cards, and the layers of `then`; 0 tokens where weights leave it nothing."""
        stages = zip(self.weights_gib, now.weights_gib(model), then.weights_gib(model), strict=True)
        scale = self._scale(model, now)
        weights = tuple(seen + scale * (new - old) for seen, old, new in stages)
        cells, token_gib = then.cells(model), self._token_gib(model, now, then)
        tokens = self._tokens(max(weights), token_gib)
        kv = tuple(tokens * token_gib * cell / max(cells) for cell in cells)
        free = self._free_gib(weights, kv)
        return replace(self, weights_gib=weights, kv_gib=kv, tokens=tokens, free_gib=free)

    def tokens_in(self, model: Architecture, now: Layout, then: Layout) -> int:
        """Tokens in another shape of the same cards; 0 where it does not fit."""
        weight_gib = self._scale(model, now) * max(then.weights_gib(model))
        return self._tokens(weight_gib, self._token_gib(model, now, then))

    def _scale(self, model: Architecture, now: Layout) -> float:
        """Weights that were seen over what the model's config makes of them."""
        return sum(self.weights_gib) / sum(now.weights_gib(model))

    def _token_gib(self, model: Architecture, now: Layout, then: Layout) -> float:
        """KV of a token on a card of the widest stage of `then`."""
        return max(self.kv_gib) / self.tokens * max(then.cells(model)) / max(now.cells(model))

    def _free_gib(self, weights: Sequence[float], kv: Sequence[float]) -> tuple[float, ...]:
        now = [each + pool for each, pool in zip(self.weights_gib, self.kv_gib, strict=True)]
        then = [each + pool for each, pool in zip(weights, kv, strict=True)]
        return tuple(free + old - new for free, old, new in zip(self.free_gib, now, then, strict=False))

    def _tokens(self, weight_gib: float, token_gib: float) -> int:
        tokens = max(0, int((self.budget_gib - weight_gib) / token_gib))
        return tokens if self.most_tokens is None else min(tokens, self.most_tokens)
