"""Server arguments that causes and proposals turn on: quoted on their own, so that a claim shows the very words."""

from collections.abc import Mapping

ALWAYS = frozenset(
    """
    tp_size pp_size dp_size nnodes pp_max_micro_batch_size max_micro_batch_size pp_async_batch_depth
    max_running_requests max_total_tokens mem_fraction_static context_length chunked_prefill_size
    schedule_conservativeness disable_radix_cache disable_overlap_schedule disable_cuda_graph cuda_graph_max_bs
    cuda_graph_max_bs_decode attention_backend kv_cache_dtype speculative_algorithm decode_log_interval device
    """.split()  # noqa: SIM905 - a list of quoted words would be harder to read
)
WHERE_SET = frozenset(
    """
    model_path ep_size node_rank enable_dp_attention attn_dp_size attn_cp_size load_balance_method prefill_max_requests
    enable_dynamic_chunking max_prefill_tokens schedule_policy enable_mixed_chunk cuda_graph_bs cuda_graph_config
    cuda_graph_bs_decode disable_cuda_graph_padding disable_decode_cuda_graph decode_attention_backend
    prefill_attention_backend disable_custom_all_reduce enable_nccl_nvls speculative_num_draft_tokens
    speculative_num_steps quantization dtype moe_runner_backend moe_a2a_backend disaggregation_mode
    tokenizer_worker_num numa_node skip_tokenizer_init grammar_backend stream_interval
    """.split()  # noqa: SIM905
)
_NOTHING = (None, False, "", "none", "null", "auto", 1)


def important(args: Mapping[str, object]) -> list[str]:
    """Names of the arguments worth quoting: some whatever they hold, others where they are set to something."""
    return [
        name
        for name, value in args.items()
        if name in ALWAYS or (name in WHERE_SET and not any(value is x or value == x for x in _NOTHING))
    ]
