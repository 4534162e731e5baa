"""One name for each flag, whichever way it is spelled."""

import re

_CANONICAL = {
    "tp": "tp_size",
    "tensor_parallel_size": "tp_size",
    "pp": "pp_size",
    "pipeline_parallel_size": "pp_size",
    "dp": "dp_size",
    "data_parallel_size": "dp_size",
    "ep": "ep_size",
    "expert_parallel_size": "ep_size",
    "model": "model_path",
    "attention_context_parallel_size": "attn_cp_size",
    "moe_data_parallel_size": "moe_dp_size",
}
"""Spellings for the field on the right, in every version that has it (`srt/server_args.py`)."""


OWN_OPTION = re.compile(
    r"(?<![\w-])--(?:model-path|tp(?:-size)?|pp(?:-size)?|mem-fraction-static|max-running-requests|chunked-prefill-size"
    r"|cuda-graph-max-bs(?:-decode)?|enable-dp-attention|disable-cuda-graph|disable-radix-cache|attention-backend"
    r"|schedule-conservativeness|pp-max-micro-batch-size|disaggregation-mode)(?![\w-])"
)
"""Options by which a server of SGLang is told from its clients and from other engines."""


def canonical_dest(name: str) -> str:
    """The server-args field of a flag or field in any spelling: `--pp`, `pipeline_parallel_size` -> `pp_size`."""
    dest = name.partition("=")[0].strip().lstrip("-").replace("-", "_")
    return _CANONICAL.get(dest, dest)
