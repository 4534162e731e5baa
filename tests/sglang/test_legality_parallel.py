"""Ranks, nodes, data parallelism, chunks and names, version by version."""

import pytest
from legality_samples import problems, refused


@pytest.mark.parametrize(
    ("arguments", "version", "flags"),
    [
        ("--tp-size 3 --nnodes 2", "0.5.10", ["--nnodes"]),
        ("--tp-size 3 --pp-size 2 --nnodes 2", "0.5.10", []),
        ("--tp-size 4 --dp-size 2 --nnodes 2", "0.5.21", ["--dp-size"]),
        ("--tp-size 4 --dp-size 2 --nnodes 2 --enable-dp-attention", "0.5.21", []),
        ("--tp-size 4 --dp-size 2 --nnodes 2", "0.5.22", ["--dp-size"]),
        ("--tp-size 4 --dp-size 2", "0.5.22", []),
        ("--tp-size 8 --dp-size 3 --enable-dp-attention", "0.5.10", ["--dp-size"]),
        ("--tp-size 8 --attn-dp-size 3", "0.5.23", ["--attn-dp-size"]),
        ("--tp-size 8 --attn-dp-size 2 --dp-size 2", "0.5.23", ["--dp-size"]),
        ("--tp-size 8 --enable-dp-attention", "0.5.1", ["--enable-dp-attention"]),
        ("--tp-size 4 --attn-cp-size 3", "0.5.23", ["--attn-cp-size"]),
        ("--base-gpu-id -1", "0.4.7", ["--base-gpu-id"]),
        ("--gpu-id-step 0", "0.5.23", ["--gpu-id-step"]),
        ("--tp-size 8 --moe-dense-tp-size 8", "0.5.12", ["--moe-dense-tp-size"]),
        ("--tp-size 8 --moe-dense-tp-size 8", "0.5.13", []),
        ("--served-model-name a:b", "0.5.5", []),
        ("--served-model-name a:b", "0.5.5.post1", ["--served-model-name"]),
        ("--served-model-name s3://a/b", "0.5.9", ["--served-model-name"]),
        ("--served-model-name s3://a/b", "0.5.10", []),
        ("--disable-cuda-graph-padding --enable-torch-compile", "0.5.11", []),
        ("--disable-cuda-graph-padding --enable-torch-compile", "0.5.12", ["--disable-cuda-graph-padding"]),
        ("--enable-pdmux --chunked-prefill-size -1", "0.5.10", []),
        ("--enable-pdmux", "0.5.10", ["--chunked-prefill-size"]),
        ("--enable-pdmux --pp-size 2 --chunked-prefill-size -1", "0.5.10", ["--pp-size"]),
        ("--schedule-conservativeness -1", "0.5.4", []),
        ("--schedule-conservativeness -1", "0.5.5", ["--schedule-conservativeness"]),
        ("--enable-priority-scheduling --schedule-policy lpm", "0.5.3", ["--schedule-policy"]),
        ("--tokenizer-worker-num 0", "0.5.10", ["--tokenizer-worker-num"]),
    ],
)
def test_each_rule_holds_in_its_versions(arguments: str, version: str, flags: list[str]) -> None:
    assert refused(arguments, version) == flags


def test_one_attention_group_is_switched_off_from_0_5_2_to_0_5_21() -> None:
    assert [p.kind for p in problems("--tp 2 --enable-dp-attention", "0.5.10")] == ["ignored"]
    assert [p.kind for p in problems("--tp 2 --enable-dp-attention", "0.5.22")] == ["warning"]


@pytest.mark.parametrize(
    ("arguments", "version", "instead"),
    [
        ("--chunked-prefill-size 100 --page-size 64", "0.5.10", "--chunked-prefill-size 64"),
        ("--chunked-prefill-size 1000 --attention-backend flashmla", "0.5.10", "--chunked-prefill-size 960"),
        (
            "--chunked-prefill-size 192 --page-size 64 --tp 8 --dp-size 2 --enable-dp-attention",
            "0.5.10",
            "--chunked-prefill-size 128",
        ),
        (
            "--chunked-prefill-size 192 --page-size 64 --tp 8 --attn-dp-size 2",
            "0.5.23",
            "--chunked-prefill-size 128",
        ),
        ("--chunked-prefill-size -1 --page-size 64", "0.4.10", "--chunked-prefill-size 64"),
    ],
)
def test_a_chunk_that_is_no_whole_pages_is_refused(arguments: str, version: str, instead: str) -> None:
    found = problems(arguments, version)
    assert [problem.write_instead for problem in found if problem.kind == "refused"] == [instead]


@pytest.mark.parametrize(
    ("arguments", "version"),
    [
        ("--chunked-prefill-size 128 --page-size 64", "0.5.10"),
        ("--chunked-prefill-size -1 --page-size 64", "0.5.1"),
        ("--chunked-prefill-size 100 --page-size 64 --disaggregation-mode decode", "0.5.3"),
        ("--chunked-prefill-size 100", "0.5.10"),
        ("--chunked-prefill-size $CHUNK --page-size 64", "0.5.10"),
    ],
)
def test_a_chunk_that_fits_or_is_not_known_is_taken(arguments: str, version: str) -> None:
    assert refused(arguments, version) == []


def test_graph_sizes_without_graphs_are_said_to_be_ignored() -> None:
    for arguments in (
        "--attention-backend torch_native --cuda-graph-max-bs 8",
        "--moe-a2a-backend deepep --deepep-mode normal --cuda-graph-max-bs 8",
    ):
        assert [(p.kind, p.flag) for p in problems(arguments, "0.5.10")] == [("ignored", "--cuda-graph-max-bs")]
    assert problems("--deepep-mode normal --cuda-graph-max-bs 8", "0.5.10") == ()


def test_every_problem_says_where_it_comes_from() -> None:
    found = problems("--tp-size 3 --nnodes 2 --wrong", "0.5.10")
    assert [problem.source for problem in found] == [
        "launch flags of 0.5.10 (table by version)",
        "srt/server_args.py: check_server_args (table by version)",
    ]
