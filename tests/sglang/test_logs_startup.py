"""Start-up lines in the forms of 0.4.7 to 0.5.23."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.sglang.logs.prefix import Ranks, parse_line
from ppagent.sglang.logs.server_args import MASK, parse_server_args
from ppagent.sglang.logs.startup import STARTUP_FACTS
from ppagent.sglang.logs.startup_facts import (
    Capacity,
    Fact,
    GraphCapture,
    KvPool,
    PoolEnd,
    Startup,
    WeightLoad,
)


def fact(message: str) -> Fact | None:
    line = parse_line("[2026-11-29 17:51:53 PP3] " + message)
    readers = (read for mark, read in STARTUP_FACTS if mark in message.encode())
    return next((found for read in readers if (found := read(line)) is not None), None)


def capture(message: str) -> GraphCapture:
    found = fact(message)
    assert isinstance(found, GraphCapture)
    return found


def test_arguments_as_a_dataclass_repr_are_read_without_running_them() -> None:
    args = parse_server_args(
        "server_args=ServerArgs(model_path='a, b(', ratio=-1.5, mode=<Mode.AUTO: 1>, quote=\"it's\", sizes=[1, 2], "
        "pair=(1,), "
        "graphs=CudaGraphConfig(decode=PhaseConfig(backend='full', bs=[1, 2]), prefill=None), "
        "dtype=torch.bfloat16, last=None)"
    )
    assert args is not None
    assert args.complete
    assert args.values["model_path"] == "a, b("
    assert args.values["ratio"] == -1.5
    assert args.values["quote"] == "it's"
    assert args.values["sizes"] == [1, 2]
    assert args.values["graphs"] == {"decode": {"backend": "full", "bs": [1, 2]}, "prefill": None}
    assert args.values["mode"] == "<Mode.AUTO: 1>"
    assert args.values["last"] is None
    assert isinstance(args.values["dtype"], str)


def test_arguments_as_a_dict_repr_are_read() -> None:
    args = parse_server_args("server_args={'pp_size': 8, 'mode': <Mode.AUTO: 1>, 'nested': {'a': [1]}, 'on': True}")
    assert args is not None
    assert dict(args.values) == {"pp_size": 8, "mode": "<Mode.AUTO: 1>", "nested": {"a": [1]}, "on": True}


def test_keys_and_passwords_among_the_arguments_are_masked() -> None:
    args = parse_server_args(
        "server_args=ServerArgs(api_key='sk-1', admin_api_key=None, ssl_keyfile_password='p', port=1)"
    )
    assert args is not None
    assert args.values == {"api_key": MASK, "admin_api_key": None, "ssl_keyfile_password": MASK, "port": 1}


def test_a_line_cut_short_gives_what_came_before_the_cut() -> None:
    args = parse_server_args("server_args=ServerArgs(pp_size=8, tp_size=2, model_path='/mo")
    assert args is not None
    assert not args.complete
    assert (args.values["pp_size"], args.values["tp_size"]) == (8, 2)


def test_text_that_is_no_arguments_is_none() -> None:
    assert parse_server_args("server_args=whatever") is None


@given(st.text(max_size=120))
def test_no_text_makes_the_argument_reader_fail(text: str) -> None:
    parse_server_args("server_args=ServerArgs(" + text)
    parse_server_args("server_args={" + text)


@given(
    st.dictionaries(
        st.from_regex(r"[a-z_]{1,12}", fullmatch=True),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
            max_leaves=6,
        ),
        max_size=6,
    )
)
def test_both_forms_of_any_literals_come_back_as_they_were(values: dict[str, object]) -> None:
    plain = {name: value for name, value in values.items() if not name.endswith(("token", "secret", "password", "key"))}
    call = parse_server_args("server_args=ServerArgs(" + ", ".join(f"{k}={v!r}" for k, v in plain.items()) + ")")
    mapping = parse_server_args(f"server_args={plain!r}")
    assert call is not None
    assert mapping is not None
    assert dict(call.values) == plain == dict(mapping.values)


@pytest.mark.parametrize(
    ("message", "used_gib"),
    [
        ("Load weight end. type=Qwen3ForCausalLM, dtype=torch.bfloat16, avail mem=50.10 GB, mem usage=28.40 GB.", 28.4),
        ("Load weight end. elapsed=0.03 s, type=LlamaForCausalLM, avail mem=18.38 GB, mem usage=-0.00 GB.", 0.0),
    ],
)
def test_weights_of_a_rank(message: str, used_gib: float) -> None:
    found = fact(message)
    assert isinstance(found, WeightLoad)
    assert (found.edge, found.ranks, found.used_gib) == ("end", Ranks(pp=3), used_gib)


def test_the_late_commit_of_weights_is_no_second_load() -> None:
    assert fact("Load weight end. Committed real weights after CUDA graph capture in 3.10 s (overlap 1.0 s)") is None


def pool(message: str) -> KvPool:
    found = fact(message)
    assert isinstance(found, KvPool)
    return found


def test_kv_pools_of_mha_and_mla() -> None:
    mha = pool("KV Cache is allocated. #tokens: 381234, K size: 17.45 GB, V size: 17.40 GB")
    assert (mha.tokens, mha.upper_bound) == (381234, False)
    assert mha.total_gib == pytest.approx(34.85)
    mla = pool("KV Cache is allocated. dtype: torch.bfloat16, #tokens: 5, KV size: 9.50 GB")
    assert (mla.tokens, mla.total_gib, mla.upper_bound) == (5, 9.5, False)


def test_address_space_for_a_pool_is_told_from_the_pool_that_is_made_after_capture() -> None:
    line = "SWA KV Cache VA upper bound. dtype: torch.float8_e4m3fn, #tokens: 5, K size: 1.00 GB, V size: 1.00 GB"
    assert (pool(line).total_gib, pool(line).upper_bound) == (2.0, True)
    made = pool(
        "Post-capture KV sizing: KV cache allocated. dtype: torch.bfloat16, #tokens: 300000, KV size: 27.40 GB, "
        "avail mem=6.10 GB"
    )
    assert (made.tokens, made.total_gib, made.upper_bound, made.avail_gib) == (300000, 27.4, False, 6.1)


def test_what_is_left_once_the_pools_exist() -> None:
    end = fact("Memory pool end. avail mem=14.20 GB")
    assert isinstance(end, PoolEnd)
    assert end.avail_gib == 14.2


def test_capacity_summary_with_gpu_and_cpu_memory() -> None:
    found = fact(
        "max_total_num_tokens=16384, chunked_prefill_size=-1, max_prefill_tokens=16384, max_running_requests=2048, "
        "context_len=4096, available_cpu_mem=17.98 GB"
    )
    assert isinstance(found, Capacity)
    assert (found.max_total_num_tokens, found.chunked_prefill_size, found.max_running_requests) == (16384, -1, 2048)
    assert (found.context_len, found.avail_gib) == (4096, 17.98)


@pytest.mark.parametrize(
    ("message", "phase", "edge"),
    [
        ("Capture cuda graph begin. This can take up to several minutes. avail mem=13.90 GB", "decode", "begin"),
        (
            "Capture target decode CUDA graph begin. backend=full, num_tokens_per_bs=1, bs=[1], avail mem=1 GB",
            "decode",
            "begin",
        ),
        (
            "Capture target verify CUDA graph begin. backend=full, num_tokens_per_req=4, avail mem=1 GB",
            "verify",
            "begin",
        ),
        (
            "Capture target prefill CUDA graph end. elapsed=1.00 s, mem usage=1.00 GB, avail mem=3.00 GB.",
            "prefill",
            "end",
        ),
        ("Capture piecewise CUDA graph begin. avail mem=1.00 GB", "prefill", "begin"),
        ("Capture draft cuda graph begin. This can take up to several minutes. avail mem=1.00 GB", "draft", "begin"),
        ("Capture draft decode CUDA graph end. elapsed=1.00 s, mem usage=1.0 GB, avail mem=3 GB.", "draft", "end"),
        ("Capture draft extend cuda graph begin (step 1). This can take", "draft_extend", "begin"),
        ("Capture single-CG draft extend end.", "draft_extend", "end"),
        (
            "Capture draft prefill CUDA graph begin. backend=breakable, num_tokens=[4], avail mem=1 GB",
            "draft_prefill",
            "begin",
        ),
        ("Capture npu graph end. Time elapsed: 3.00 s. mem usage=1.00 GB. avail mem=3.00 GB.", "decode", "end"),
    ],
)
def test_graph_captures_are_told_apart_by_what_they_serve(message: str, phase: str, edge: str) -> None:
    found = capture(message)
    assert (found.phase, found.edge) == (phase, edge)


def test_capture_figures_are_read_in_any_order() -> None:
    old = capture("Capture cuda graph end. Time elapsed: 9.50 s. avail mem=3.00 GB. mem usage=1.20 GB.")
    assert (old.used_gib, old.avail_gib) == (1.2, 3.0)
    new = capture(
        "Capture target decode CUDA graph end. bs=[1, 2, 4], elapsed=1.20 s, mem usage=0.50 GB, avail mem=3.00 GB."
    )
    assert (new.sizes, new.used_gib) == ((1, 2, 4), 0.5)
    assert capture("Capture cuda graph bs [1, 2, 8]").sizes == (1, 2, 8)
    assert capture("Capture cuda graph num tokens [4, 8]").phase == "prefill"


def test_a_failed_capture_is_no_captured_graph() -> None:
    assert fact("Capture cuda graph failed: out of memory at the end") is None


def test_the_launch_as_a_whole_answers_by_phase_and_stage() -> None:
    lines = [
        "Capture cuda graph bs [1, 2, 8]",
        "Capture draft decode CUDA graph begin. backend=full, bs=[1, 2], avail mem=2.0 GB",
        "Capture cuda graph end. Time elapsed: 9.50 s. avail mem=3.00 GB. mem usage=1.20 GB.",
        "Load weight end. elapsed=1.00 s, type=A, avail mem=1.00 GB, mem usage=20.00 GB.",
        "Load weight end. elapsed=1.00 s, type=ANextN, avail mem=1.00 GB, mem usage=2.50 GB.",
    ]
    startup = Startup(tuple(found for line in lines if (found := fact(line)) is not None))
    assert startup.graph_sizes() == (1, 2, 8)
    assert startup.graph_sizes("draft") == (1, 2)
    assert [load.used_gib for load in startup.of(WeightLoad)] == [20.0, 2.5]
