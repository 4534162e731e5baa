"""One request alone: what no pipeline can pass, and what tensor parallelism over the same cards would do.

A token of one request reads every active weight once. A pipeline reads them one card after the other, so its stages add
no bandwidth; tensor parallelism reads with all cards at once and pays two all-reduces a layer.
"""

from dataclasses import dataclass, replace

from ppagent.model.roofline import Roofline

ALL_REDUCE_MS = 0.024
"""NCCL's all-reduce of one token's hidden state over PCIe, eight cards (voipmonitor/rtx6kpro, pcie-bandwidth.md)."""

REACHED = (0.47, 0.53)
"""Share of bandwidth and all-reduces alone that was reached: 90 to 101 tok/s were reported for Kimi K2.5 in INT4 on
eight RTX PRO 6000 with peer-to-peer (voipmonitor/rtx6kpro, kimi-k25.md), where these two would allow 191."""

REACHED_POORLY = (0.17, 0.23)
"""The same where the topology was poor: 32 to 44 tok/s."""


@dataclass(frozen=True)
class OneRequest:
    """tok/s of one request. `pipeline_most` is a bound, the ranges are scaled from one public report."""

    gigabytes: float
    pipeline_ms: float
    tensor: tuple[float, float]
    tensor_poorly: tuple[float, float]

    @property
    def pipeline_most(self) -> float:
        """What no setting of a pipeline passes."""
        return 1000.0 / self.pipeline_ms


def one_request(roofline: Roofline, cards: int) -> OneRequest:
    """The two axes over `cards` cards that PCIe joins, `roofline.tp` of them in each stage of the pipeline."""
    alone_ms = replace(roofline, tp=cards).ring_ms(1) + 2 * len(roofline.architecture.layers) * ALL_REDUCE_MS
    good, poor = (tuple(1000.0 * share / alone_ms for share in shares) for shares in (REACHED, REACHED_POORLY))
    return OneRequest(
        gigabytes=roofline.ring_bytes(1) / 1e9,
        pipeline_ms=roofline.ring_ms(1),
        tensor=(good[0], good[1]),
        tensor_poorly=(poor[0], poor[1]),
    )
