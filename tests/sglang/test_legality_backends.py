"""Attention backends: pages and cards."""

import pytest
from legality_samples import problems, refused

from ppagent.sglang.legality.gpus import compute_capability


@pytest.mark.parametrize(
    ("name", "capability"),
    [
        ("NVIDIA H100 80GB HBM3", 90),
        ("NVIDIA H20-3e", 90),
        ("NVIDIA GH200 480GB", 90),
        ("NVIDIA B200", 100),
        ("NVIDIA GB300", 103),
        ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", 120),
        ("8x RTX 5090", 120),
        ("NVIDIA GeForce RTX 4090", 89),
        ("NVIDIA L40S", 89),
        ("NVIDIA RTX 6000 Ada Generation", 89),
        ("NVIDIA A100-SXM4-80GB", 80),
        ("NVIDIA A40", 86),
        ("NVIDIA GeForce RTX 3090", 86),
        ("Tesla V100-SXM2-32GB", 70),
        ("Tesla T4", 75),
        ("SM120", 120),
        ("9.0", 90),
        ("AMD Instinct MI300X", None),
        ("", None),
        (None, None),
    ],
)
def test_a_card_is_known_by_its_name(name: str | None, capability: int | None) -> None:
    assert compute_capability(name) == capability


@pytest.mark.parametrize(
    ("arguments", "gpu", "last_refused", "first_taken"),
    [
        ("--attention-backend trtllm_mla", "RTX PRO 6000", "0.5.8.post1", "0.5.9"),
        ("--decode-attention-backend trtllm_mha", "H200", "0.5.9", "0.5.10"),
        ("--attention-backend trtllm_mha", "H200", "0.5.18", "0.5.19"),
        ("--attention-backend trtllm_mha", "RTX PRO 6000", "0.5.18", "0.5.19"),
    ],
)
def test_a_backend_reaches_a_card_at_some_version(
    arguments: str, gpu: str, last_refused: str, first_taken: str
) -> None:
    assert len(refused(arguments, last_refused, gpu=gpu)) == 1
    assert refused(arguments, first_taken, gpu=gpu) == []


@pytest.mark.parametrize(
    ("arguments", "gpu"),
    [
        ("--attention-backend fa3", "NVIDIA B200"),
        ("--attention-backend fa3", "RTX PRO 6000"),
        ("--attention-backend trtllm_mla", "NVIDIA H100"),
        ("--attention-backend trtllm_mha --kv-cache-dtype fp8_e4m3", "RTX PRO 6000"),
    ],
)
def test_some_pairs_never_go(arguments: str, gpu: str) -> None:
    assert refused(arguments, "0.5.23", gpu=gpu) == ["--attention-backend"]
    assert refused(arguments, "0.5.23") == []


def test_a_backend_on_its_own_card_is_taken() -> None:
    assert refused("--attention-backend fa3", "0.5.23", gpu="NVIDIA H100") == []
    assert refused("--attention-backend trtllm_mla", "0.5.3", gpu="NVIDIA B200") == []


@pytest.mark.parametrize(
    ("arguments", "version", "instead"),
    [
        ("--attention-backend flashmla --page-size 16", "0.5.10", "--page-size 64"),
        ("--attention-backend cutlass_mla --page-size 16", "0.5.10", "--page-size 128"),
        ("--decode-attention-backend trtllm_mla --page-size 16", "0.5.10", "--page-size 64"),
        ("--prefill-attention-backend trtllm_mha --page-size 128", "0.5.16", "--page-size 64"),
    ],
)
def test_a_page_size_the_backend_overrules_is_said_to_be_ignored(arguments: str, version: str, instead: str) -> None:
    assert [(p.kind, p.write_instead) for p in problems(arguments, version)] == [("ignored", instead)]


def test_trtllm_mha_takes_pages_of_128_from_0_5_17() -> None:
    assert problems("--attention-backend trtllm_mha --page-size 128", "0.5.17") == ()


def test_fa3_gives_way_for_one_fp8_format_and_flex_does_not_speculate() -> None:
    found = problems("--attention-backend fa3 --kv-cache-dtype fp8_e5m2", "0.5.10")
    assert [(p.kind, p.write_instead) for p in found] == [("ignored", "--kv-cache-dtype fp8_e4m3")]
    arguments = "--attention-backend flex_attention --speculative-algorithm NGRAM"
    assert refused(arguments, "0.5.10") == ["--attention-backend"]
