"""Refusals of argument combinations by a piece of their message, and which arguments lead to each (`check_server_args`
of 0.4.7 to 0.5.23)."""

from dataclasses import dataclass

SPECULATION = (
    "--speculative-algorithm",
    "--speculative-draft-model-path",
    "--speculative-num-steps",
    "--speculative-eagle-topk",
    "--speculative-num-draft-tokens",
)


@dataclass(frozen=True)
class Refusal:
    """A refusal by a piece of its message, and the arguments that lead to it."""

    words: str
    unset: tuple[str, ...]
    field: str = ""
    """The argument that must be set for this to be the refused one, where a message names several."""


REFUSALS = (
    Refusal(r"mixed chunk", ("--enable-mixed-chunk",), "enable_mixed_chunk"),
    Refusal(r"speculative|EAGLE|\bMTP\b|DSPARK|draft", SPECULATION, "speculative_algorithm"),
    Refusal(r"min-free-slots-delay", ("--min-free-slots-delay",)),
    Refusal(r"PD-Multiplexing|pdmux", ("--enable-pdmux",)),
    Refusal(r"pp_max_micro_batch_size must be", ("--pp-max-micro-batch-size",)),
    Refusal(r"disable-cuda-graph-padding is incompatible", ("--enable-torch-compile",)),
    Refusal(r"hierarchical-cache and disable-radix-cache", ("--disable-radix-cache",)),
    Refusal(r"moe_dense_tp_size only supports", ("--moe-dense-tp-size",)),
    Refusal(r"(?:attention|TRTLLM \w+|MLA|MHA|decode|prefill) backend", ("--attention-backend",), "attention_backend"),
)
