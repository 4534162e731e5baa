"""Flags whose name changed between versions: what to write instead (`server_args.py` of 0.4.7 to 0.5.23)."""

from dataclasses import dataclass

from packaging.version import Version

from ppagent.sglang.versions import at_least


@dataclass(frozen=True)
class Rename:
    """One flag under two names. `value` is what the new one must be set to where the old one carried none."""

    old: str
    new: str
    since: str
    """First version in which only `new` works (or in which the abbreviation `old` became ambiguous)."""
    value: str = ""
    new_from: str = ""
    """First version that has `new`, where that is earlier than `since`."""


RENAMES = (
    Rename("--max-micro-batch-size", "--pp-max-micro-batch-size", "0.5.4"),
    Rename("--pp", "--pp-size", "0.5.4", new_from="0.4.7"),
    Rename("--cuda-graph-max-bs", "--cuda-graph-max-bs-decode", "0.5.20", new_from="0.5.14"),
    Rename("--cuda-graph-bs", "--cuda-graph-bs-decode", "0.5.20", new_from="0.5.14"),
    Rename("--enable-deepep-moe", "--moe-a2a-backend", "0.5.5", "deepep", new_from="0.5.1"),
    Rename("--enable-flashinfer-cutlass-moe", "--moe-runner-backend", "0.5.5", "flashinfer_cutlass", "0.5.1"),
    Rename("--enable-flashinfer-trtllm-moe", "--moe-runner-backend", "0.5.5", "flashinfer_trtllm", "0.5.1"),
    Rename("--enable-triton-kernel-moe", "--moe-runner-backend", "0.5.5", "triton_kernel", "0.5.1"),
    Rename("--enable-flashinfer-mla", "--attention-backend", "0.4.8", "flashinfer", "0.4.7"),
    Rename("--enable-flashmla", "--attention-backend", "0.4.8", "flashmla", "0.4.7"),
    Rename("--stream-output", "--incremental-streaming-output", "0.5.20", "true", "0.5.10"),
    Rename("--disable-piecewise-cuda-graph", "--disable-prefill-cuda-graph", "0.5.20", "true", "0.5.14"),
)

GONE = {
    "--enable-piecewise-cuda-graph": "graphs of prefill are chosen with --cuda-graph-backend-prefill",
    "--enable-breakable-cuda-graph": "graphs of prefill are chosen with --cuda-graph-backend-prefill",
    "--disaggregation-prefill-pp": "the pair agrees on it by itself",
    "--disaggregation-decode-tp": "the pair agrees on it by itself",
    "--disaggregation-decode-dp": "the pair agrees on it by itself",
    "--torchao-config": "the feature was taken out",
    "--enable-ep-moe": "expert parallelism is on with --ep-size above 1",
}
"""Flags that later versions dropped without a flag in their place."""

TOO_NEW = {
    "--pp-async-batch-depth": "0.5.7",
    "--enable-dynamic-chunking": "0.5.7",
    "--prefill-max-requests": "0.5.7",
    "--prefill-decode-interval": "0.5.19",
    "--admin-api-key": "0.5.8",
    "--tokenizer-worker-num": "0.5.2",
    "--detokenizer-worker-num": "0.5.12",
    "--numa-node": "0.5.2",
    "--fp8-gemm-backend": "0.5.7",
    "--soft-watchdog-timeout": "0.5.7",
    "--retraction-policy": "0.5.16",
}
"""First version that has the flag; earlier ones have nothing in its place."""


def spelling_for(option: str, version: Version | None) -> Rename | None:
    """What to write in `version` for an option it does not take; `new` of the answer is that version's spelling.

    Works both ways: an old name in a new version, and a new one in an old version. None where no other name is known.
    """
    for rename in RENAMES:
        if option == rename.old and at_least(version, rename.since) is not False:
            return rename
        if option == rename.new and not rename.value and at_least(version, rename.new_from or rename.since) is False:
            return Rename(rename.new, rename.old, rename.since)
    return None


def why_not(option: str, version: Version | None) -> str:
    """Why `version` has no such flag and no other name for it, in a few words; empty where nothing is known."""
    if option in GONE:
        return GONE[option]
    since = TOO_NEW.get(option)
    return f"it exists from {since} on" if since is not None and at_least(version, since) is False else ""
