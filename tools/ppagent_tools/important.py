"""Server arguments that causes and proposals turn on: quoted on their own, so that a claim shows the very words."""

IMPORTANT = frozenset(
    """
    tp_size pp_size dp_size ep_size nnodes node_rank enable_dp_attention attn_dp_size attn_cp_size load_balance_method
    pp_max_micro_batch_size max_micro_batch_size pp_async_batch_depth prefill_max_requests enable_dynamic_chunking
    max_running_requests max_total_tokens mem_fraction_static context_length chunked_prefill_size max_prefill_tokens
    schedule_policy schedule_conservativeness enable_mixed_chunk disable_radix_cache disable_overlap_schedule
    disable_cuda_graph cuda_graph_max_bs cuda_graph_bs cuda_graph_config cuda_graph_max_bs_decode cuda_graph_bs_decode
    disable_cuda_graph_padding disable_decode_cuda_graph attention_backend decode_attention_backend
    prefill_attention_backend disable_custom_all_reduce enable_nccl_nvls speculative_algorithm
    speculative_num_draft_tokens speculative_num_steps kv_cache_dtype quantization dtype moe_runner_backend
    moe_a2a_backend disaggregation_mode decode_log_interval device model_path tokenizer_worker_num numa_node
    skip_tokenizer_init grammar_backend stream_interval enable_metrics
    """.split()  # noqa: SIM905 - a list of quoted words would be harder to read
)
