"""Healthy deployments that cases start from."""

from ppagent_evals.writing.base import Base
from ppagent_evals.writing.cards import H20, H100, H200, L40S
from ppagent_evals.writing.gpus import topology
from ppagent_evals.writing.load import Load
from ppagent_evals.writing.models import DEEPSEEK_R1, LLAMA_70B_FP8, QWEN3_8B, QWEN3_32B, QWEN3_235B_FP8
from ppagent_evals.writing.server import Server

_NVLINK_8 = topology(8, near="NV18", far="NV18")
_METRICS = {"--enable-metrics": "true"}
_TRUSTED = {"--trust-remote-code": "true"}

ONE_CARD_8B = Base(
    Server("0.5.20", QWEN3_8B, L40S, flags=_METRICS),
    Load((24,), 26.0, 600, 500, prefill_ms_per_k=29),
    "1x NVIDIA L40S 48 GB",
    "Qwen3-8B",
    97,
    281,
    topology(1),
    load_s=13,
)
"""24 clients, 900 tok/s: 15.3 GiB of weights at 864 GB/s take 19 ms, attention and sampling the rest."""

TP2_PP2_70B = Base(
    Server("0.5.20", LLAMA_70B_FP8, L40S, tp=2, pp=2, flags={"--pp-max-micro-batch-size": "12", **_METRICS}),
    Load((12, 12), 71.0, 700, 600, prefill_ms_per_k=118),
    "4x NVIDIA L40S 48 GB",
    "Llama-3.3-70B FP8",
    98,
    262,
    topology(4, group=2),
    load_s=54,
)
"""Both slots hold 12 requests; a stage reads 17 GiB of weights on each card in 21 ms and reduces over PCIe."""

PP4_32B = Base(
    Server(
        "0.5.23",
        QWEN3_32B,
        L40S,
        pp=4,
        flags={"--pp-max-micro-batch-size": "16", "--decode-log-interval": "37", **_METRICS},
    ),
    Load((16,) * 4, 86.0, 512, 700, prefill_ms_per_k=52),
    "4x NVIDIA L40S 48 GB",
    "Qwen3-32B",
    97,
    266,
    topology(4),
    load_s=60,
)
"""All four slots hold 16 requests."""

TP4_70B = Base(
    Server("0.5.20", LLAMA_70B_FP8, H100, tp=4, flags=_METRICS),
    Load((48,), 16.5, 900, 600, prefill_ms_per_k=24),
    "4x NVIDIA H100 80 GB",
    "Llama-3.3-70B FP8",
    99,
    498,
    topology(4, near="NV18", far="NV18"),
    load_s=31,
)
"""48 clients, 2.9k tok/s over NVLink."""

TP4_70B_PCIE = Base(
    Server("0.5.20", LLAMA_70B_FP8, L40S, tp=4, flags=_METRICS),
    Load((24,), 53.0, 700, 600, prefill_ms_per_k=240),
    "4x NVIDIA L40S 48 GB",
    "Llama-3.3-70B FP8",
    98,
    231,
    topology(4),
    load_s=49,
)
"""24 clients, 450 tok/s: all-reduces over PCIe take about half of a step, as they do on such a board."""

DP_ATTENTION_R1 = Base(
    Server("0.5.10", DEEPSEEK_R1, H200, tp=8, dp=8, dp_attention=True, flags={**_TRUSTED, **_METRICS}),
    Load((24,), 43.0, 900, 800, prefill_ms_per_k=160),
    "8x NVIDIA H200",
    "DeepSeek-R1-0528",
    99,
    455,
    _NVLINK_8,
    load_s=214,
)
"""24 requests on each of eight data-parallel ranks."""

TWO_NODES_PP2_235B = Base(
    Server("0.5.16", QWEN3_235B_FP8, H20, tp=4, pp=2, nnodes=2, flags={"--pp-max-micro-batch-size": "24", **_METRICS}),
    Load((24, 24), 44.0, 800, 700, prefill_ms_per_k=66),
    "2 nodes x 4x NVIDIA H20 96 GB",
    "Qwen3-235B-A22B FP8",
    98,
    318,
    topology(4, near="NV18", far="NV18"),
    load_s=128,
)
"""One stage on each node, tensor parallelism inside it, both slots filled."""

TWO_NODES_PP2_R1 = Base(
    Server(
        "0.5.12",
        DEEPSEEK_R1,
        H100,
        tp=8,
        pp=2,
        nnodes=2,
        flags={"--pp-max-micro-batch-size": "32", "--context-length": "32768", **_TRUSTED},
    ),
    Load((32, 32), 52.0, 1000, 800, prefill_ms_per_k=61),
    "2 nodes x 8x NVIDIA H100 80 GB",
    "DeepSeek-R1-0528",
    98,
    441,
    _NVLINK_8,
    load_s=262,
)
"""One stage on each node, eight ranks in it, both slots filled."""
