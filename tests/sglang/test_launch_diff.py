"""The difference of two launch texts as a person sees it."""

from launch_samples import CATALOGUE, ONE_LINE, SCRIPT

from ppagent.sglang.launch.command import parse_launch
from ppagent.sglang.launch.edit import Change, edit_launch, unified_diff


def changed(text: str) -> str:
    change = Change(set={"--tp": "4"}, unset=("--disable-cuda-graph",), env={"SGLANG_PP_LAYER_PARTITION": "8,8"})
    return unified_diff(text, edit_launch(parse_launch(text, CATALOGUE), change, CATALOGUE))


def test_a_command_on_one_line_is_compared_flag_by_flag() -> None:
    assert changed(ONE_LINE).splitlines() == [
        "  CUDA_VISIBLE_DEVICES=0,1",
        "+ SGLANG_PP_LAYER_PARTITION=8,8",
        "  python -m sglang.launch_server",
        "  --model-path m",
        "- --tp 2",
        "- --disable-cuda-graph",
        "+ --tp 4",
    ]


def test_a_script_is_compared_line_by_line() -> None:
    assert "+ export SGLANG_PP_LAYER_PARTITION=8,8" in changed(SCRIPT).splitlines()
    assert "-     --disable-cuda-graph > server.log 2>&1 &" in changed(SCRIPT).splitlines()


def test_what_stands_behind_the_command_is_a_group_of_its_own() -> None:
    assert unified_diff("sglang serve --tp 2 > log &", "sglang serve --tp 4 > log &").splitlines() == [
        "  sglang serve",
        "- --tp 2",
        "+ --tp 4",
        "  > log &",
    ]


def test_the_same_text_has_no_difference() -> None:
    assert unified_diff(SCRIPT, SCRIPT) == ""
