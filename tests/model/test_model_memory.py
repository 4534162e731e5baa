import pytest
from model_samples import DEFAULT_SPLIT, HEAD_AWARE_SPLIT, LLAMA_8B, kimi, rtx_pro_6000
from packaging.version import Version

from ppagent.model.architecture import read_architecture
from ppagent.model.memory import (
    default_fraction,
    default_graph_batch,
    default_max_running,
    default_slot_limit,
    fits_with_graph,
    graph_gib,
    kv_bytes_per_token,
    kv_note,
    plan_memory,
)

CARD_GIB = rtx_pro_6000().memory_gib


def test_kv_of_a_latent_is_70_kb_a_token_over_all_layers() -> None:
    cells = kv_bytes_per_token(kimi(), DEFAULT_SPLIT)
    assert sum(cells) == 576 * 2 * 61
    assert kv_bytes_per_token(kimi(), DEFAULT_SPLIT, tp=2) == cells


def test_kv_heads_are_divided_over_tensor_parallel_ranks() -> None:
    model = read_architecture(LLAMA_8B)
    assert kv_bytes_per_token(model, (32,), tp=4)[0] == kv_bytes_per_token(model, (32,))[0] / 4


def test_the_heaviest_stage_fixes_the_tokens_of_all_and_the_others_keep_spare_memory() -> None:
    plan = plan_memory(kimi(), DEFAULT_SPLIT, CARD_GIB, 0.88)
    assert plan.fits
    assert plan.binding_stage == 7
    assert plan.spare_gib[0] > 15
    assert plan.spare_gib[7] == pytest.approx(0, abs=0.01)


def test_three_layers_less_on_the_last_stage_gain_kv_tokens() -> None:
    default, aware = (plan_memory(kimi(), split, CARD_GIB, 0.88) for split in (DEFAULT_SPLIT, HEAD_AWARE_SPLIT))
    assert aware.tokens > 1.2 * default.tokens
    assert aware.binding_stage != 7


def test_ten_moe_layers_do_not_fit() -> None:
    plan = plan_memory(kimi(), (1, 10, 10, 10, 10, 10, 5, 5), CARD_GIB, 0.88)
    assert plan.tokens == 0
    assert not plan.fits


@pytest.mark.parametrize(
    ("tokens", "context", "version", "asked", "expected"),
    [
        (925_000, 262_144, "0.5.11", None, 2048),
        (4_000_000, 8192, "0.5.11", None, 4096),
        (1000, 4096, "0.5.11", None, 500),
        (925_000, 262_144, "0.5.13", 5000, 2048),
        (925_000, 262_144, "0.5.14", 5000, 5000),
        (925_000, 262_144, "0.5.11", 64, 64),
    ],
)
def test_the_running_limit_of_each_version(
    tokens: int, context: int, version: str, asked: int | None, expected: int
) -> None:
    assert default_max_running(tokens, context, Version(version), asked) == expected


def test_the_slot_limit_is_far_above_eight_requests_by_default() -> None:
    assert default_slot_limit(2048, 8) == 256
    assert default_slot_limit(4, 8) == 1


def test_the_static_share_of_the_seed() -> None:
    share = default_fraction(
        CARD_GIB, tp=1, pp=8, chunk_tokens=8192, graph_max_batch=256, version=Version("0.5.11"), mla=True
    )
    reserve_mib = 512 + 1.5 * 8192 + 2 * 256 + 1024
    assert share == pytest.approx(1 - reserve_mib / 1024 / CARD_GIB, abs=0.001)


def test_old_versions_read_it_off_a_table() -> None:
    share = default_fraction(79.6, tp=8, pp=1, chunk_tokens=8192, graph_max_batch=160, version=Version("0.4.10"))
    assert share == pytest.approx(1 - 13.5 / 79.6, abs=0.001)


@pytest.mark.parametrize(
    ("gib", "tp", "version", "batch"),
    [
        (24, 1, "0.5.10", 24),
        (24, 1, "0.5.20", 48),
        (45, 4, "0.5.10", 160),
        (80, 1, "0.5.10", 256),
        (180, 1, "0.5.10", 512),
    ],
)
def test_the_largest_graph_batch_by_default(gib: float, tp: int, version: str, batch: int) -> None:
    assert default_graph_batch(gib, tp, Version(version)) == batch


def test_graphs_for_small_micro_batches_fit_beside_the_static_share() -> None:
    plan = plan_memory(kimi(), DEFAULT_SPLIT, CARD_GIB, 0.88)
    assert graph_gib(8) < 0.02
    assert fits_with_graph(plan, CARD_GIB, 0.88, 8)
    assert not fits_with_graph(plan, CARD_GIB, 0.99, 512)


def test_what_the_arithmetic_leaves_out_is_said_for_hybrids_only() -> None:
    assert kv_note(kimi()) is None
    hybrid = read_architecture({**LLAMA_8B, "full_attention_interval": 4})
    assert "State layers" in (kv_note(hybrid) or "")
