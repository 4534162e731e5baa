"""What goes together with a pipeline, version by version."""

from pathlib import Path

import pytest
from legality_samples import problems, refused, write_tree

from ppagent.sglang.flags.history import catalogue_of
from ppagent.sglang.launch.command import parse_launch
from ppagent.sglang.legality.check import check


@pytest.mark.parametrize(
    ("arguments", "last_refused", "first_taken"),
    [
        ("--pp-size 2 --enable-mixed-chunk", "0.5.10.post1", "0.5.11"),
        ("--pp-size 2 --disaggregation-mode prefill --speculative-algorithm EAGLE", "0.5.20", "0.5.21"),
    ],
)
def test_what_older_versions_refuse_newer_ones_take(arguments: str, last_refused: str, first_taken: str) -> None:
    assert refused(arguments, last_refused) != []
    assert refused(arguments, first_taken) == []


def test_without_a_pipeline_nothing_of_it_is_refused() -> None:
    assert refused("--enable-mixed-chunk", "0.5.10") == []
    assert refused("--speculative-algorithm EAGLE", "0.5.10") == []


@pytest.mark.parametrize(
    ("arguments", "env", "flags"),
    [
        ("--speculative-algorithm EAGLE", "", ["--speculative-algorithm"]),
        ("--speculative-algorithm NEXTN", "SGLANG_ENABLE_PP_SPEC=1", []),
        ("--speculative-algorithm EAGLE", "SGLANG_ENABLE_PP_SPEC=true", []),
        ("--speculative-algorithm EAGLE", "SGLANG_ENABLE_PP_SPEC=0", ["--speculative-algorithm"]),
        ("--speculative-algorithm EAGLE --tp 4 --attn-dp-size 2", "SGLANG_ENABLE_PP_SPEC=1", ["--attn-dp-size"]),
        ("--speculative-algorithm EAGLE --speculative-adaptive", "SGLANG_ENABLE_PP_SPEC=1", ["--speculative-adaptive"]),
        (
            "--speculative-algorithm EAGLE --disaggregation-mode prefill",
            "SGLANG_ENABLE_PP_SPEC=1",
            ["--disaggregation-mode"],
        ),
        ("--speculative-algorithm NGRAM", "SGLANG_ENABLE_PP_SPEC=1", ["--speculative-algorithm"]),
        ("--speculative-algorithm DSPARK", "", ["--speculative-algorithm"]),
        ("--speculative-algorithm DSPARK --disaggregation-mode prefill", "", []),
        ("--speculative-algorithm DFLASH --disaggregation-mode prefill", "", ["--speculative-algorithm"]),
    ],
)
def test_speculation_in_the_newest_version_is_as_the_server_answered(
    arguments: str, env: str, flags: list[str]
) -> None:
    assert refused(f"--pp-size 2 {arguments}", "0.5.23", env=env) == flags


def test_overlap_is_said_to_go_off_only_where_it_was_not_switched_off() -> None:
    assert problems("--pp-size 2", "0.5.10") == ()
    catalogue = catalogue_of("0.5.10")
    found = check(parse_launch("sglang serve --model-path m --pp-size 2", catalogue), "0.5.10", catalogue)
    assert [(problem.kind, problem.flag) for problem in found] == [("warning", "--pp-size")]


def test_a_limit_below_one_is_refused_from_0_5_11_and_starves_before() -> None:
    assert problems("--pp-size 2 --pp-max-micro-batch-size 0", "0.5.10")[0].kind == "warning"
    assert problems("--pp-size 2 --pp-max-micro-batch-size 0", "0.5.11")[0].kind == "refused"
    assert problems("--pp-size 2 --max-micro-batch-size 0", "0.5.3")[0].kind == "warning"
    assert problems("--pp-size 2 --pp-max-micro-batch-size 1", "0.5.11") == ()


def test_more_stages_than_layers_are_refused() -> None:
    assert refused("--pp-size 9", "0.5.10", layers=8) == ["--pp-size"]
    assert refused("--pp-size 8", "0.5.10", layers=8) == []
    assert refused("--pp-size 9", "0.5.10") == []


@pytest.mark.parametrize(
    ("partition", "layers", "says"),
    [
        ("8,8,8", 24, "names 3 stages, the pipeline has 2"),
        ("8,8", 17, "adds up to 16 layers, the model has 17"),
        ("8,x", 16, "is no list of layer counts"),
    ],
)
def test_a_partition_has_to_fit(partition: str, layers: int, says: str) -> None:
    found = problems("--pp-size 2", "0.5.10", env=f"SGLANG_PP_LAYER_PARTITION={partition}", layers=layers)
    assert [problem.kind for problem in found] == ["refused"]
    assert says in found[0].says


def test_a_partition_that_fits_is_taken_and_the_default_is_offered_otherwise() -> None:
    assert problems("--pp-size 2", "0.5.10", env="SGLANG_PP_LAYER_PARTITION=9,8", layers=17) == ()
    found = problems("--pp-size 8", "0.5.5", env="SGLANG_PP_LAYER_PARTITION=8", layers=61)
    assert found[0].write_instead.startswith("SGLANG_PP_LAYER_PARTITION=7,7,7,7,7,7,7,12 ")


def test_a_partition_for_one_stage_is_refused_until_0_5_18_and_ignored_after() -> None:
    for version, kind in (("0.5.18", "refused"), ("0.5.19", "ignored")):
        assert [p.kind for p in problems("", version, env="SGLANG_PP_LAYER_PARTITION=8,8")] == [kind]


@pytest.mark.parametrize(
    ("arguments", "version"),
    [
        ("--pp-size 2 --tp-size 2 --moe-dp-size 2", "0.5.23"),
        ("--pp-size 2 --min-free-slots-delay 3", "0.5.18"),
        ("--pp-size 2 --elastic-ep-backend mooncake", "0.5.12"),
    ],
)
def test_features_of_a_single_stage_are_refused(arguments: str, version: str) -> None:
    assert len(refused(arguments, version)) == 1


def test_pipeline_flags_do_nothing_with_one_stage() -> None:
    found = problems("--pp-async-batch-depth 2 --enable-dynamic-chunking", "0.5.10")
    assert [(p.kind, p.flag) for p in found] == [
        ("ignored", "--pp-async-batch-depth"),
        ("ignored", "--enable-dynamic-chunking"),
    ]
    assert problems("--pp-size 2 --pp-async-batch-depth 2", "0.5.10") == ()


@pytest.mark.parametrize(
    ("architecture", "version", "is_refused"),
    [
        ("KimiK25ForConditionalGeneration", "0.5.9", True),
        ("KimiK25ForConditionalGeneration", "0.5.10", False),
        ("DeepseekV3ForCausalLM", "0.4.10.post2", True),
        ("DeepseekV3ForCausalLM", "0.5.1", False),
        ("LlamaForCausalLM", "0.4.7", False),
        ("Gemma3ForCausalLM", "0.5.23", True),
        ("NobodyKnowsForCausalLM", "0.5.23", False),
    ],
)
def test_a_model_that_cannot_be_split_is_refused(architecture: str, version: str, is_refused: bool) -> None:
    assert bool(refused("--pp-size 2", version, architectures=(architecture,))) is is_refused
    assert refused("--tp-size 2", version, architectures=(architecture,)) == []


def test_the_version_that_can_split_the_model_is_named() -> None:
    found = problems("--pp-size 2", "0.5.9", architectures=("KimiK25ForConditionalGeneration",))
    assert "SGLang 0.5.10 or later" in found[0].write_instead


MODEL = """
class Base:
    def forward(self, input_ids, positions, forward_batch{extra}):
        pass


class MyModelForCausalLM(Base):
    pass


EntryClass = [MyModelForCausalLM]
"""


def test_a_tree_decides_about_its_own_model_classes(tmp_path: Path) -> None:
    for extra, flags in (("", ["--pp-size"]), (", pp_proxy_tensors=None", [])):
        tree = write_tree(tmp_path / (extra or "plain"), srt__models__mine=MODEL.format(extra=extra))
        assert refused("--pp-size 2", "0.5.10", architectures=("MyModelForCausalLM",), tree=tree) == flags


def test_the_base_class_is_found_in_another_file(tmp_path: Path) -> None:
    tree = write_tree(
        tmp_path,
        srt__models__base=MODEL.format(extra=""),
        srt__models__mine="from sglang.srt.models.base import Base as Other\n\n\nclass Mine(Other):\n    pass\n",
    )
    found = problems("--pp-size 2", "0.5.10", architectures=("Mine",), tree=tree)
    assert found[0].source == "srt/models/base.py: Base.forward, line 3"
