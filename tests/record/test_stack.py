"""What runs there is said as far as an artifact says it."""

import json

import pytest

from ppagent.record.stack import architectures_of, stack_of
from ppagent.targets.target import Artifact

CARDS = "timestamp, index, name, power.draw [W]\n" + "".join(
    f"t{sample}, {index}, NVIDIA H200, 80\n" for sample in (1, 2) for index in range(4)
)


def test_version_cards_and_model_of_the_first_host_that_knows() -> None:
    texts = {
        ("a", Artifact.VERSION): "0.5.10\n",
        ("a", Artifact.GPUS): CARDS,
        ("b", Artifact.GPUS): CARDS,
        ("b", Artifact.SERVER_INFO): json.dumps({"model_path": "/models/Kimi-K2", "version": "0.5.11"}),
    }
    assert stack_of(texts) == {"engine": "sglang", "version": "0.5.10", "gpus": "8x NVIDIA H200", "model": "Kimi-K2"}


def test_cards_without_a_process_of_the_server_do_not_count() -> None:
    processes = "index,pid,name,used_memory_mib\n0,7,sglang::scheduler_PP0,100\n1,8,sglang::scheduler_PP1,100\n"
    texts = {("a", Artifact.GPUS): CARDS, ("a", Artifact.GPU_PROCESSES): processes}
    assert stack_of(texts)["gpus"] == "2x NVIDIA H200"


def test_nothing_is_said_where_nothing_is_known() -> None:
    assert stack_of({}) == {"engine": "sglang"}
    assert stack_of({("a", Artifact.SERVER_INFO): "broken", ("a", Artifact.GPUS): "no table"}) == {"engine": "sglang"}


@pytest.mark.parametrize(
    ("launch", "model"),
    [
        ("python -m sglang.launch_server --model-path /m/Qwen3-8B --tp 2", "Qwen3-8B"),
        ("python -m sglang.launch_server --model-path Qwen/Qwen3-8B", "Qwen/Qwen3-8B"),
        ("sglang serve --model /hub/models--Qwen--Qwen3-8B/snapshots/0a1b", "Qwen/Qwen3-8B"),
    ],
)
def test_the_model_is_called_by_its_name(launch: str, model: str) -> None:
    assert stack_of({("a", Artifact.LAUNCH): launch})["model"] == model


def test_the_classes_of_a_model() -> None:
    assert architectures_of('{"architectures": ["LlamaForCausalLM"]}') == ("LlamaForCausalLM",)
    assert architectures_of("[1") == architectures_of("[1]") == architectures_of('{"architectures": 3}') == ()
