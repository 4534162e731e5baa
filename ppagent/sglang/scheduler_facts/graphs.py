"""Decode CUDA graph sizes that SGLang captures when none are given, by version, GPU memory and tensor parallel size."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from packaging.version import Version

from ppagent.sglang.flags.source import SourceTree
from ppagent.sglang.scheduler_facts.code import Place, functions
from ppagent.sglang.versions import at_least

GRAPH_FILES = ("srt/server_args.py", "srt/arg_groups/memory_hook.py")


@dataclass(frozen=True)
class GraphTier:
    """Defaults of GPUs with less memory than `below_mib` (None: no bound) and at least that of the tier before."""

    below_mib: int | None
    max_bs: int
    """Largest decode graph for fewer than 4 tensor-parallel ranks, as in a pipeline-only deployment."""
    max_bs_tp4: int
    chunk: int | None
    """Default chunked_prefill_size; None where this tier's text does not set it."""


def tier_of(tiers: tuple[GraphTier, ...], gpu_memory_mib: float) -> GraphTier:
    """The tier of a GPU with that much memory."""
    return next(tier for tier in tiers if tier.below_mib is None or gpu_memory_mib < tier.below_mib)


def graph_sizes(
    max_bs: int, version: Version | None, *, speculative: bool = False, padding: bool = True
) -> tuple[int, ...]:
    """Batch sizes captured up to `max_bs`, before the pool of requests clips them.

    0.5.3+: `_generate_cuda_graph_batch_sizes` (`srt/server_args.py`), later `generate_decode_cuda_graph_batch_sizes`
    (`srt/arg_groups/cuda_graph_hook.py`); up to 0.5.2 `get_batch_sizes_to_capture`
    (`srt/model_executor/cuda_graph_runner.py`). From 0.5.10 the largest is always captured.
    """
    if at_least(version, "0.5.3") is False:
        return _early_sizes(max_bs, speculative, padding)
    parts: tuple[Iterable[int], ...]
    if not padding:
        parts = (range(1, max_bs + 1),)
    elif speculative:
        parts = (range(1, 9), range(10, 33, 2), range(40, 65, 4), range(72, 257, 8), range(272, max_bs + 1, 16))
    else:
        parts = ((1, 2, 4, 8, 12), range(16, 257, 8), range(272, 512, 16), range(512, max_bs + 1, 32))
    kept = [size for part in parts for size in part if size <= max_bs]
    if at_least(version, "0.5.10") is not False and max_bs not in kept:
        kept.append(max_bs)
    return tuple(kept)


def _early_sizes(max_bs: int, speculative: bool, padding: bool) -> tuple[int, ...]:
    """Up to 0.5.2, for GPUs whose list reaches `max_bs`: 160, 256 above 90 GiB, 512 above 160 GB."""
    if speculative:
        small = [*range(1, 9), *range(10, 33, 2), *range(40, 64, 8), *range(80, 161, 16)]
    elif padding:
        small = [1, 2, 4, 8, *range(16, 161, 8)]
    else:
        small = [*range(1, 33), *range(48, 161, 16)]
    kept = {size for size in (*small, *range(160, 257, 8), *range(256, 513, 16)) if size <= max_bs}
    return tuple(sorted(kept))


def read_tiers(tree: SourceTree) -> tuple[tuple[GraphTier, ...], Place] | None:
    """The chain of `gpu_mem < ...` branches in the tree, None where there is no such chain with an end."""
    for file, function in functions(tree, *GRAPH_FILES):
        for node in ast.walk(function):
            if isinstance(node, ast.If) and _memory_bound(node.test) is not None:
                tiers = tuple(_tiers(node))
                if tiers and tiers[-1].below_mib is None:
                    return tiers, Place(file, function.name, node.lineno)
    return None


def _tiers(node: ast.If) -> Iterator[GraphTier]:
    bound = _memory_bound(node.test)
    if bound is not None:
        yield from _tier(bound, node.body)
    match node.orelse:
        case [ast.If() as following]:
            yield from _tiers(following)
        case [*rest] if rest:
            yield from _tier(None, rest)


def _tier(bound: int | None, body: list[ast.stmt]) -> Iterator[GraphTier]:
    sizes = [value for statement in body for value in _assigned(statement, ("cuda_graph_max_bs", "max_bs"))]
    chunks = [value for statement in body for value in _assigned(statement, ("chunked_prefill_size",))]
    if sizes:
        yield GraphTier(bound, sizes[0], sizes[-1], chunks[0] if chunks else None)


def _memory_bound(test: ast.expr) -> int | None:
    """MiB in `gpu_mem < 20 * 1024`; None for another test, one that asks for a platform as well included."""
    match test:
        case ast.Compare(left=ast.Name(id="gpu_mem"), ops=[ast.Lt()], comparators=[bound]):
            return _product(bound)
    return None


def _product(node: ast.expr) -> int | None:
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            one, other = _product(left), _product(right)
            return one * other if one is not None and other is not None else None
    return None


def _assigned(statement: ast.stmt, names: tuple[str, ...]) -> Iterator[int]:
    """Integers that the statement gives to an attribute, or to a keyword, of one of the names; in order of the text."""
    found: list[tuple[int, int]] = []
    for node in ast.walk(statement):
        match node:
            case ast.Assign(targets=[ast.Attribute(attr=name)], value=ast.Constant(value=int(number))) if name in names:
                found.append((node.lineno, number))
            case ast.keyword(arg=str(name), value=ast.Constant(value=int(number))) if name in names:
                found.append((node.value.lineno, number))
    yield from (number for _, number in sorted(found))
