"""Chunks, pages, graphs, names and multiplexing. Bounds were read in the published packages 0.4.7 to 0.5.23."""

from collections.abc import Iterator

from ppagent.evidence.json_text import read_json
from ppagent.sglang.legality.backends import forced_page_size
from ppagent.sglang.legality.case import HOOKS, Case, Stated
from ppagent.sglang.legality.problem import Problem

_CHUNK = Stated("divisible by page_size", "check_server_args")
_CHUNK_EARLY = Stated("chunked_prefill_size % page_size == 0", "__post_init__")
_COLON = Stated("cannot contain a colon", "check_server_args")
_PADDING = Stated("is incompatible with --enable-torch-compile", "check_server_args")
_PDMUX = Stated("PD-Multiplexing is", "check_server_args")
_CONSERVATIVE = Stated("schedule_conservativeness must be non-negative", "check_server_args")
_PRIORITY = Stated("To use priority scheduling", "check_server_args")
_WORKERS = Stated("okenizer worker num must", "check_server_args")
_GRAPHS_OFF = Stated(
    "Cuda graph is disabled because of using torch",
    "_handle_attention_backend_compatibility",
    HOOKS + "attention_hook.py",
    "handle_attention_backend_compatibility",
)
_GRAPHS_OFF_DEEPEP = Stated("Cuda graph is disabled because deepep", "_handle_a2a_moe", HOOKS + "moe_hook.py")
_GRAPH_FIELDS = ("cuda_graph_max_bs", "cuda_graph_bs", "cuda_graph_max_bs_decode", "cuda_graph_bs_decode")


def chunk_is_whole_pages(case: Case) -> Iterator[Problem]:
    """Chunks are whole pages: of the pages as given up to 0.4.9.post3, later of those the backend settles on, after
    attention DP has divided the chunk. No chunking is exempt from 0.5.1, a PD decode node from 0.5.3."""
    early = not case.since("0.4.9.post4")
    chunk = case.number("chunked_prefill_size")
    page = (None if early else forced_page_size(case)) or case.number("page_size")
    if not case.given("chunked_prefill_size") or chunk is None or not page:
        return
    exempt = chunk <= 0 and case.since("0.5.1")
    if exempt or (case.since("0.5.3") and case.text("disaggregation_mode") == "decode"):
        return
    groups = 1 if early else _attention_groups(case)
    if chunk // groups % page:
        whole = max(chunk // groups // page, 1) * page * groups
        says = f"A prefill chunk of {chunk // groups} tokens a rank is no multiple of the page size {page}."
        instead = f"{case.spelled('chunked_prefill_size')} {whole}"
        yield from case.problems("refused", "chunked_prefill_size", says, instead, _CHUNK_EARLY if early else _CHUNK)


def _attention_groups(case: Case) -> int:
    if case.since("0.5.22") and (case.number("attn_dp_size") or 1) > 1:
        return case.number("attn_dp_size") or 1
    return max(case.number("dp_size") or 1, 1) if case.on("enable_dp_attention") else 1


def served_name(case: Case) -> Iterator[Problem]:
    """0.5.5.post1+: a colon belongs to adapters. Unset, the name is the model path; s3:// and such pass from 0.5.10."""
    dest = "served_model_name" if case.text("served_model_name") else "model_path"
    name = case.text(dest)
    if name is None or ":" not in name or "$" in name or not case.since("0.5.5.post1"):
        return
    if case.since("0.5.10") and name.lower().startswith(("s3://", "gs://", "az://")):
        return
    says = f"The served model name {name!r} holds a colon, which is kept for adapters."
    yield from case.problems("refused", dest, says, f"--served-model-name {name.rpartition(':')[2] or 'NAME'}", _COLON)


def padding_with_compile(case: Case) -> Iterator[Problem]:
    """0.5.12+: without padding torch.compile would be run for every batch size."""
    if case.since("0.5.12") and case.on("disable_cuda_graph_padding") and case.on("enable_torch_compile"):
        says = "Graphs without padding do not go with torch.compile."
        instead = f"leave out {case.spelled('disable_cuda_graph_padding')} or {case.spelled('enable_torch_compile')}"
        yield from case.problems("refused", "disable_cuda_graph_padding", says, instead, _PADDING)


def multiplexing(case: Case) -> Iterator[Problem]:
    """0.5.3.post2+: PD multiplexing wants one stage, no chunks, no disaggregation and no overlap."""
    if not case.on("enable_pdmux") or not case.since("0.5.3.post2"):
        return
    wishes = (
        (case.pipelined, "pp_size", "--pp-size 1"),
        (case.value("chunked_prefill_size") != -1, "chunked_prefill_size", "--chunked-prefill-size -1"),
        (case.text("disaggregation_mode") not in (None, "null"), "disaggregation_mode", "--disaggregation-mode null"),
        (not case.on("disable_overlap_schedule"), "disable_overlap_schedule", "--disable-overlap-schedule"),
    )
    for broken, dest, instead in wishes:
        option = case.command.option(dest)
        if broken and not (option is not None and option.opaque):
            says = f"PD multiplexing needs {instead}."
            yield from case.problems("refused", dest, says, instead, _PDMUX)


def numbers_in_range(case: Case) -> Iterator[Problem]:
    """Single numbers with a lower bound."""
    bounds = (
        ("schedule_conservativeness", 0, "0.5.5", _CONSERVATIVE),
        ("tokenizer_worker_num", 1, "0.5.2", _WORKERS),
        ("detokenizer_worker_num", 1, "0.5.12", _WORKERS),
    )
    for dest, least, first, stated in bounds:
        number = case.value(dest)
        if case.given(dest) and isinstance(number, int | float) and number < least and case.since(first):
            says = f"{case.written(dest)} is {number}; the least is {least}."
            yield from case.problems("refused", dest, says, f"{case.spelled(dest)} {least} or more", stated)


def priority_policy(case: Case) -> Iterator[Problem]:
    """0.5.3+: priorities go with two policies."""
    policy = case.text("schedule_policy")
    if case.since("0.5.3") and case.on("enable_priority_scheduling") and policy not in (None, "fcfs", "lof"):
        says = f"Priority scheduling does not go with the policy {policy}."
        yield from case.problems("refused", "schedule_policy", says, "--schedule-policy fcfs", _PRIORITY)


def model_override_is_json(case: Case) -> Iterator[Problem]:
    """Every version reads the override as JSON while it looks at the model."""
    text = case.text("json_model_override_args")
    if text is None or not case.given("json_model_override_args"):
        return
    try:
        read_json(text)
    except ValueError:
        flag = case.written("json_model_override_args")
        says = f"{flag} is no JSON: {text!r}."
        source = "srt/configs/model_config.py: ModelConfig (table by version)"
        yield Problem("refused", flag, says, f"{flag} '{{\"num_hidden_layers\": 8}}'", source)


def graphs_without_effect(case: Case) -> Iterator[Problem]:
    """Some settings switch decode graphs off, whatever sizes were asked for."""
    reason: tuple[str, Stated] | None = None
    if case.text("attention_backend") in ("torch_native", "flex_attention"):
        reason = (case.written("attention_backend") + f" {case.text('attention_backend')}", _GRAPHS_OFF)
    elif case.text("deepep_mode") == "normal" and _uses_deepep(case):
        reason = (f"{case.written('deepep_mode')} normal", _GRAPHS_OFF_DEEPEP)
    if reason is None:
        return
    for dest in _GRAPH_FIELDS:
        if case.given(dest):
            says = f"{reason[0]} switches decode CUDA graphs off, so {case.written(dest)} has no effect."
            yield from case.problems("ignored", dest, says, "", reason[1])


def _uses_deepep(case: Case) -> bool:
    return case.text("moe_a2a_backend") == "deepep" or case.on("enable_deepep_moe")


RULES = (
    chunk_is_whole_pages,
    served_name,
    padding_with_compile,
    multiplexing,
    numbers_in_range,
    priority_policy,
    model_override_is_json,
    graphs_without_effect,
)
