"""Decode graph sizes and, from 0.5.14, the object that holds them."""

from dataclasses import dataclass

from ppagent_evals.writing.versions import since


def default_graph_max_bs(version: str, memory_gib: float, tp: int) -> int:
    """Largest captured decode batch by default (sglang server_args, by GPU memory and TP)."""
    wide = tp >= 4
    if not since(version, "0.5.2"):
        return 80 if memory_gib < 35 and wide else 8 if memory_gib < 35 else 160 if memory_gib < 90 else 256
    if memory_gib < 20:
        return 8
    if memory_gib < 35:
        narrow_max, wide_max = (48, 160) if since(version, "0.5.20") else (24, 80)
        if not since(version, "0.5.4"):
            narrow_max = 16
        return wide_max if wide else narrow_max
    if memory_gib < 60:
        return 160 if wide else 32
    return 512 if wide or memory_gib >= 160 else 256


def graph_sizes(max_bs: int) -> list[int]:
    """The sizes captured up to `max_bs`."""
    sizes = [1, 2, 4, 8, 12, *range(16, 257, 8), *range(272, 513, 16), *range(544, 4097, 32)]
    kept = [size for size in sizes if size <= max_bs]
    return kept if kept[-1] == max_bs else [*kept, max_bs]


def prefill_sizes(max_tokens: int) -> list[int]:
    """The token counts captured for prefill up to `max_tokens`."""
    sizes = [*range(4, 33, 4), *range(48, 257, 16), *range(288, 513, 32), *range(576, 1025, 64)]
    sizes += [*range(1280, 4097, 256), *range(4608, 8193, 512)]
    return [size for size in sizes if size <= max_tokens]


@dataclass(frozen=True)
class GraphConfig:
    """`cuda_graph_config`: a dataclass's repr up to 0.5.18, a plain dict from 0.5.19."""

    as_dict: bool
    decode: dict[str, object]
    prefill: dict[str, object]

    @classmethod
    def of(cls, version: str, decode_graphs: bool, sizes: list[int], prefill_max: int) -> "GraphConfig":
        extra: dict[str, object] = {"tc_compiler": "eager"}
        if since(version, "0.5.16"):
            extra["full_prefill_max_req"] = None
        if since(version, "0.5.18"):
            extra["full_prefill_prefix_chunk_tokens"] = None
        decode = {"backend": "full" if decode_graphs else "disabled", "max_bs": sizes[-1], "bs": sizes, **extra}
        prefill: dict[str, object] = {"backend": "disabled", "max_bs": None, "bs": None, **extra}
        if prefill_max:
            prefill = {"backend": "breakable", "max_bs": prefill_max, "bs": prefill_sizes(prefill_max), **extra}
        return cls(since(version, "0.5.19"), decode, prefill)

    def plain(self) -> dict[str, dict[str, object]]:
        return {"decode": self.decode, "prefill": self.prefill}

    def __repr__(self) -> str:
        if self.as_dict:
            return repr(self.plain())
        phases = ", ".join(f"{name}=PhaseConfig({_fields(phase)})" for name, phase in self.plain().items())
        return f"CudaGraphConfig({phases})"


def _fields(phase: dict[str, object]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in phase.items())
