import shlex

import pytest

from ppagent.causes.cause import Change
from ppagent.errors import UserError
from ppagent.targets.remote.processes import Process
from ppagent.targets.remote.servers import Server
from ppagent.trials.launches import new_launch, why_not

ARGV = shlex.split(
    "python -m sglang.launch_server --model-path /models/x --pp-size 8 --disable-cuda-graph --port 30000"
)


def server(*, groups: str = "", words: tuple[str, ...] = tuple(ARGV)) -> Server:
    return Server(Process(7, 1, words, groups=groups), (), 30000, "127.0.0.1")


def test_only_the_changed_words_differ() -> None:
    change = Change(
        {"--pp-max-micro-batch-size": "1"},
        ("--disable-cuda-graph",),
        {"SGLANG_PP_LAYER_PARTITION": "8,8,8,8,8,8,8,5"},
    )
    made = new_launch(ARGV, change, "0.5.10")
    assert made.argv == tuple(
        shlex.split(
            "python -m sglang.launch_server --model-path /models/x --pp-size 8 --port 30000 --pp-max-micro-batch-size 1"
        )
    )
    assert made.env == {"SGLANG_PP_LAYER_PARTITION": "8,8,8,8,8,8,8,5"}
    assert "- --disable-cuda-graph" in made.diff.replace("-  ", "- ")
    assert "+ --pp-max-micro-batch-size 1" in made.diff.replace("+  ", "+ ")


def test_a_value_with_blanks_stays_one_word() -> None:
    made = new_launch([*ARGV, "--json-model-override-args", '{"a": "b c"}'], Change({"--pp-size": "4"}), "0.5.10")
    assert '{"a": "b c"}' in made.argv
    assert made.argv[made.argv.index("--pp-size") + 1] == "4"


def test_keys_are_masked_where_the_launch_is_shown_and_kept_where_it_is_started() -> None:
    key = "sk-abcdefghijklmnopqrstuvwxyz123456"
    made = new_launch([*ARGV, "--api-key", key], Change({"--pp-size": "4"}), "0.5.10")
    assert key in made.argv
    assert key not in made.new + made.old + made.diff


def test_what_the_version_would_refuse_is_not_tried() -> None:
    with pytest.raises(UserError, match="would refuse"):
        new_launch(ARGV, Change({"--speculative-algorithm": "EAGLE"}), "0.5.10")


def test_a_process_that_is_no_launch_is_refused() -> None:
    with pytest.raises(UserError, match="no command"):
        new_launch(["bash", "-c", "sleep 1"], Change({"--pp-size": "4"}), "0.5.10")


def test_a_server_on_several_hosts_is_left_to_whoever_starts_them_together() -> None:
    assert "several hosts" in why_not(server(words=(*ARGV, "--nnodes", "2")))


def test_a_plain_process_can_be_relaunched() -> None:
    assert why_not(server(groups="0::/user.slice/user-0.slice/session-1.scope")) == ""
    assert why_not(server(groups="0::/system.slice/sglang.service")) == ""
