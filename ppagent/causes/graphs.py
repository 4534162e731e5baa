"""What the evidence says of decode CUDA graphs: asked off, forced off, used, and up to which batch."""

from dataclasses import dataclass

from ppagent.causes.situation import Cites, Known
from ppagent.causes.traced import traced_graph_share
from ppagent.evidence.facts import Fact, Facts
from ppagent.evidence.json_text import read_json

CAPTURE_SIZES = (1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 80, 96, 128, 160, 192, 224, 256, 320, 384, 448, 512)
"""Round batch sizes that every version's default list holds (0.4.7-0.5.23, server_args and cuda_graph_runner)."""

OFF_SWITCHES = (
    "--disable-cuda-graph",
    "--disable-decode-cuda-graph",
    "--cuda-graph-backend-decode",
    "--cuda-graph-config",
)
"""Launch flags that can switch decode graphs off."""

FORCING_BACKENDS = ("torch_native", "flex_attention")
"""Attention backends that switch decode graphs off (server_args, all versions read)."""


@dataclass(frozen=True)
class OffSwitch:
    """A setting that switches decode graphs off, and where it stands."""

    flag: str
    cites: Cites


def asked_off(facts: Facts) -> OffSwitch | None:
    """The launch option that switches decode graphs off, where the launch was seen."""
    return _off(facts, "launch")


def effective_off(facts: Facts) -> OffSwitch | None:
    """The running server's own argument that says decode graphs are off."""
    return _off(facts, "args")


def switched_off(facts: Facts) -> OffSwitch | None:
    """The setting that switches decode graphs off: of the launch where it was seen, else the server's own argument."""
    return asked_off(facts) or effective_off(facts)


def graphs_off(facts: Facts) -> bool:
    """Whether anything known says that decode runs without graphs: it was asked for, is in effect, or is forced."""
    return switched_off(facts) is not None or forced_off(facts) is not None


def _off(facts: Facts, prefix: str) -> OffSwitch | None:
    for field in ("disable_cuda_graph", "disable_decode_cuda_graph"):
        fact = facts.get(f"{prefix}.{field}")
        if fact is not None and fact.value is True:
            return OffSwitch("--" + field.replace("_", "-"), (fact.evidence,))
    backend = facts.get(f"{prefix}.cuda_graph_backend_decode")
    if backend is not None and backend.value == "disabled":
        return OffSwitch("--cuda-graph-backend-decode", (backend.evidence,))
    config = facts.get(f"{prefix}.cuda_graph_config")
    if config is not None and _decode_backend(config) == "disabled":
        return OffSwitch("--cuda-graph-config", (config.evidence,))
    return None


def _decode_backend(config: Fact) -> object:
    """`decode.backend` of a cuda_graph_config, which is JSON text in a launch and an object in /server_info."""
    value: object = config.value
    if isinstance(value, str):
        try:
            value = read_json(value)
        except ValueError:
            return None
    decode = value.get("decode") if isinstance(value, dict) else None
    return decode.get("backend") if isinstance(decode, dict) else None


def launch_seen(facts: Facts) -> bool:
    """Whether the launch command itself is known, so that an absent flag was not asked for."""
    return "launch.command" in facts and not facts.items("launch.untold")


def forced_off(facts: Facts) -> Known | None:
    """A setting other than a graph flag that makes this server run decode without graphs."""
    reason = facts.text("trouble.graph_disabled.reason")
    if facts.number("trouble.graph_disabled"):
        says = f"the start-up log says graphs are disabled{': ' + reason if reason else ''}"
        return Known(1, facts.cite("trouble.graph_disabled"), says)
    for field in ("decode_attention_backend", "attention_backend"):
        backend = facts.arg_text(field)
        if backend in FORCING_BACKENDS:
            return Known(1, facts.cite_args(field), f"{field} {backend} switches graphs off")
    if facts.arg_text("deepep_mode") == "normal":
        return Known(1, facts.cite_args("deepep_mode"), "deepep_mode normal switches graphs off")
    if facts.arg_text("disaggregation_mode") == "prefill":
        return Known(
            1, facts.cite_args("disaggregation_mode"), "a prefill node of a disaggregated pair does not decode"
        )
    return None


def graph_share(facts: Facts) -> Known | None:
    """Share of decode steps replayed from a graph, by the log lines, else by the pass counters, else by a trace."""
    for name, what in (("decode.graph_true_share", "decode lines"), ("metrics.graph_share", "decode passes")):
        share = facts.number(name)
        if share is not None:
            return Known(share, facts.cite(name), f"{share:.0%} of the {what} ran from a graph")
    return traced_graph_share(facts)


def size_for(batch: float) -> int:
    """The capture size that covers `batch`: the next round one, else the next multiple of 64."""
    covering = [size for size in CAPTURE_SIZES if size >= batch]
    return covering[0] if covering else int(-(-batch // 64) * 64)
