import json
from pathlib import Path

import pytest
from tool_fakes import FakeTarget, box, facts_of, run

from ppagent.errors import NotRecorded, ToolError
from ppagent.evidence.ledger import Ledger
from ppagent.evidence.masking import MASK
from ppagent.targets.target import Artifact
from ppagent_tools.installed import ServerVersion
from ppagent_tools.server import Launch, Model

COMMAND = (
    "NCCL_P2P_DISABLE=1 python -m sglang.launch_server --model-path /m --tp 1 --pp-size 8 --disable-cuda-graph "
    "--api-key hunter22x --port 30000\n"
)


def test_a_launch_is_read_with_the_flags_of_its_version() -> None:
    facts = facts_of(run(Launch(), box(launch=COMMAND, version="0.5.11\n")))
    assert facts.number("launch.pp_size") == 8
    assert facts.number("launch.tp_size") == 1
    assert facts.flag("launch.disable_cuda_graph") is True
    assert facts.text("launch.form") == "shell"
    assert facts.text("env.NCCL_P2P_DISABLE") == "1"
    assert "launch.unknown" not in facts


def test_keys_never_reach_the_ledger() -> None:
    ledger = Ledger()
    for finding in run(Launch(), box(launch=COMMAND, version="0.5.11")):
        ledger.add("server.launch", finding)
    assert "hunter22x" not in json.dumps([[dict(e.facts), e.excerpt] for e in ledger.evidence])
    assert MASK in (ledger.facts().text("launch.command") or "")


def test_options_that_the_version_does_not_know_or_cannot_tell_apart_are_named() -> None:
    facts = facts_of(run(Launch(), box(launch="sglang serve m --pp 8 --max-micro-batch-size 2\n", version="0.5.11")))
    assert facts.items("launch.ambiguous") == ["--pp"]
    assert facts.items("launch.unknown") == ["--max-micro-batch-size"]


@pytest.mark.parametrize(
    ("text", "untold"),
    [
        ("python -m sglang.launch_server --model-path m --tp 8", []),
        ("python -m sglang.launch_server --model-path m $EXTRA", ["$EXTRA"]),
        ("python -m sglang.launch_server --model-path m --tp 8 \\", ["\\"]),
        ("--tp 8 --enable-dp-attention", ["..."]),
        ("--model-path m --tp 8", []),
    ],
)
def test_what_a_launch_does_not_tell_is_said(text: str, untold: list[str]) -> None:
    facts = facts_of(run(Launch(), box(launch=text)))
    assert facts.items("launch.untold") == untold
    assert facts.get("launch.command") is not None


def test_without_a_version_flags_are_read_by_spelling() -> None:
    assert facts_of(run(Launch(), box(launch=COMMAND))).number("launch.pp_size") == 8


def test_the_piece_of_the_command_that_says_so_is_quoted() -> None:
    findings = run(Launch(), box(launch=COMMAND, version="0.5.11"))
    quoted = next(f for f in findings if "launch.pp_size" in f.facts)
    assert "--pp-size 8" in quoted.excerpt


def test_a_manifest_is_a_launch_too() -> None:
    manifest = 'containers:\n- name: s\n  command: ["python3", "-m", "sglang.launch_server"]\n  args: ["--pp-size=4"]\n'
    facts = facts_of(run(Launch(), box(launch=manifest, version="0.5.11")))
    assert facts.number("launch.pp_size") == 4
    assert facts.text("launch.form") == "kubernetes"


def test_where_no_launch_was_kept_the_process_tells() -> None:
    process = {"pid": 1, "cmdline": ["python", "-m", "sglang.launch_server", "--pp-size", "8"], "env": {"A": "b c"}}
    facts = facts_of(run(Launch(), box(processes=json.dumps([process]), version="0.5.11")))
    assert facts.number("launch.pp_size") == 8
    assert facts.text("env.A") == "b c"
    assert facts.text("launch.command") == "python -m sglang.launch_server --pp-size 8"


def test_text_without_a_launch_is_a_tool_error() -> None:
    with pytest.raises(ToolError, match="launch.txt of box"):
        run(Launch(), box(launch="echo hello\n"))


def test_every_node_has_its_launch_and_the_first_counts() -> None:
    texts = {f"n{rank}": {Artifact.LAUNCH: f"sglang serve m --node-rank {rank} --pp-size 2\n"} for rank in (0, 1)}
    facts = facts_of(run(Launch(), FakeTarget(texts)))
    assert facts.number("launch.node_rank") == 0
    assert [fact.value for fact in facts.all("launch.node_rank")] == [0, 1]


def test_what_the_running_server_says_of_its_version_counts_most() -> None:
    target = box(version="0.5.10\n", server_info='{"version": "0.5.11"}', packages="sglang==0.5.9\ntorch==2.9\n")
    findings = run(ServerVersion(), target)
    assert [f.facts["engine.version"] for f in findings] == ["0.5.9", "0.5.10", "0.5.11"]
    assert facts_of(findings).text("engine.version") == "0.5.11"


@pytest.mark.parametrize(
    ("image", "version"),
    [
        ("lmsysorg/sglang:v0.4.5-cu124", "0.4.5"),
        ("registry.local:5000/sglang:0.5.9.post1", "0.5.9.post1"),
        ("lmsysorg/sglang:latest", None),
        ("mine/my-sglang:1.2.3", None),
    ],
)
def test_the_tag_of_sglangs_image_tells_the_version(image: str, version: str | None) -> None:
    target = box(launch=f"docker run --gpus all {image} python3 -m sglang.launch_server --model-path /m --tp 8\n")
    if version is None:
        with pytest.raises(NotRecorded):
            run(ServerVersion(), target)
        return
    facts = facts_of(run(ServerVersion(), target))
    assert (facts.text("engine.version"), facts.text("engine.source")) == (version, "image tag")


def test_what_is_installed_counts_before_the_images_tag() -> None:
    target = box(launch="docker run lmsysorg/sglang:v0.4.5 python3 -m sglang.launch_server --tp 8", version="0.5.9")
    assert facts_of(run(ServerVersion(), target)).text("engine.version") == "0.5.9"


def test_a_version_file_may_carry_a_name_and_must_carry_a_version() -> None:
    assert run(ServerVersion(), box(version="sglang 0.5.10.post1\n"))[0].facts["engine.version"] == "0.5.10.post1"
    with pytest.raises(ToolError, match="is no version"):
        run(ServerVersion(), box(version="unknown\n"))
    with pytest.raises(NotRecorded):
        run(ServerVersion(), box(packages="torch==2.9\n"))


def test_a_model_that_wraps_a_text_model_shows_both() -> None:
    config = {"architectures": ["Outer"], "text_config": {"num_hidden_layers": 61, "architectures": ["Inner"]},
              "vision_config": {"depth": 27}}  # fmt: skip
    facts = facts_of(run(Model(), box(model_config=json.dumps(config))))
    assert facts.number("model.num_hidden_layers") == 61
    assert facts.items("model.architectures") == ["Outer"]
    assert "model.vision_config" not in facts


@pytest.mark.parametrize("text", ["[]", "{}", "{"])
def test_a_config_that_is_none_is_a_tool_error(text: str) -> None:
    with pytest.raises(ToolError, match="model_config.json of box"):
        run(Model(), box(model_config=text))


def test_a_flood_of_options_is_no_launch_command() -> None:
    target = box(launch="sglang serve m " + "--x " * 5000, version="0.5.10")
    with pytest.raises(ToolError, match="more than SGLang has flags"):
        run(Launch(), target)


REAL_LOG = Path(__file__).parents[2] / "evals" / "incidents" / "lab-spread-pp4-0510" / "hosts" / "box" / "server.log"


def test_where_nothing_states_the_version_the_settings_in_the_log_tell_it() -> None:
    log = REAL_LOG.read_text(encoding="utf-8")
    facts = facts_of(run(ServerVersion(), box(server_log=log)))
    assert facts.text("engine.version") == "0.5.10"
    assert facts.items("engine.alike") == ["0.5.10", "0.5.10.post1"]

    stated = facts_of(run(ServerVersion(), box(server_log=log, version="0.5.11\n")))
    assert stated.text("engine.version") == "0.5.11" and "engine.alike" not in stated


def test_settings_that_were_cut_off_tell_no_version() -> None:
    line = next(line for line in REAL_LOG.read_text(encoding="utf-8").splitlines() if "server_args=" in line)
    with pytest.raises(NotRecorded, match="version was not recorded"):
        run(ServerVersion(), box(server_log=line[:-200] + "\n"))
