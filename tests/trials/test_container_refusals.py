"""Containers that are left alone, with the reason, and the commands that are told instead."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from ppagent.errors import ToolError
from ppagent.targets.remote.containers import Contained
from ppagent.trials.way import way_of
from tests.trials.contained import ARGV, SECRET, launch, prepared, server, way
from tests.trials.fake_engine import FakeEngine


def _compose(engine: FakeEngine) -> None:
    engine.old["Config"]["Labels"]["com.docker.compose.project"] = "stack"


def _removed_when_stopped(engine: FakeEngine) -> None:
    engine.old["HostConfig"]["AutoRemove"] = True


def _script(engine: FakeEngine) -> None:
    engine.old.update(Path="/start.sh", Args=[])


def _unknown(engine: FakeEngine) -> None:
    engine.old["HostConfig"]["SomethingNew"] = 1


def _changed_inside(engine: FakeEngine) -> None:
    engine.diff = "C /usr\nA /usr/lib/mine.py\n"


def _not_allowed(engine: FakeEngine) -> None:
    engine.refuses = "permission denied while trying to connect to the Docker daemon socket"


def _secret_label(engine: FakeEngine) -> None:
    engine.old["Config"]["Labels"]["vault.token"] = SECRET


def _several_lines(engine: FakeEngine) -> None:
    engine.old["Config"]["Env"].append("NOTE=one\nLD_PRELOAD=/tmp/x.so")


def _odd_state(engine: FakeEngine) -> None:
    engine.old["State"]["Running"] = "yes"


def _odd_setting(engine: FakeEngine) -> None:
    engine.old["HostConfig"]["Ulimits"] = [{"name": "memlock"}]


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (_compose, "Compose runs it (stack)"),
        (_removed_when_stopped, "--rm"),
        (_script, "not the server's word for word"),
        (_unknown, "cannot be carried over: HostConfig.SomethingNew"),
        (_changed_inside, "would lack what was changed in it: /usr/lib/mine.py"),
        (_not_allowed, "permission denied"),
        (_secret_label, "--label vault.token holds a secret, which making a new one would show"),
        (_several_lines, "the variable NOTE (no value, several lines, or no text)"),
        (_odd_state, "has another State.Running than is known"),
        (_odd_setting, "cannot be carried over: HostConfig.Ulimits"),
    ],
)
def test_a_container_that_cannot_be_exchanged_safely_is_left_alone_and_the_commands_are_told(
    spoil: Callable[[FakeEngine], None], says: str
) -> None:
    engine = FakeEngine()
    spoil(engine)
    found = way(engine)
    assert says in found.reason
    assert f"container {engine.old['Id'][:12]}" in found.reason
    assert SECRET not in found.reason + "".join(found.lines)
    assert found.prepare is None
    assert any("--pp-max-micro-batch-size 1" in line for line in found.lines)
    assert not [line for line in engine.ran if line.split()[1] not in ("inspect", "diff", "update")]


def test_by_hand_a_container_is_told_with_its_image_and_compose_by_its_file() -> None:
    engine = FakeEngine()
    _script(engine)
    assert any("docker run OPTIONS lmsysorg/sglang:v0.5.11" in line for line in way(engine).lines)
    _compose(engine)
    assert way(engine).lines[0].startswith("in the compose file")


def test_the_podman_of_another_account_is_not_asked() -> None:
    engine = FakeEngine("podman")
    groups = f"0::/user.slice/user-1002.slice/user@1002.service/libpod-{engine.old['Id']}.scope"
    theirs = server(engine, groups=groups)
    theirs = replace(theirs, launcher=replace(theirs.launcher, user="joe", contained=Contained(looked_by=0)))
    found = way_of(engine, theirs, launch())
    assert found.reason == (f"container {engine.old['Id'][:12]} is kept by the podman of joe, which tells nobody else")
    assert found.prepare is None
    assert not engine.ran


def test_the_folder_that_a_container_works_in_is_made_by_its_engine() -> None:
    engine = FakeEngine()
    engine.old["Config"]["WorkingDir"] = "/sgl-workspace"
    engine.diff = "A /sgl-workspace\n"
    assert way(engine).reason == ""
    engine.diff += "A /sgl-workspace/mine.py\n"
    assert "would lack what was changed in it: /sgl-workspace/mine.py" in way(engine).reason


def test_a_podman_that_cannot_change_restart_policies_is_told_only_where_there_is_one() -> None:
    engine = FakeEngine("podman", policies_change=False)
    assert way(engine).reason == ""
    engine.old["HostConfig"]["RestartPolicy"]["Name"] = "always"
    assert "cannot change its restart policy (always)" in way(engine).reason


def test_pods_and_several_hosts_are_told_by_their_commands() -> None:
    engine = FakeEngine()
    pod = way_of(engine, server(engine, groups=f"0::/kubepods.slice/cri-containerd-{'b' * 64}.scope"), launch())
    assert pod.lines[0].startswith("kubectl edit")
    assert "Kubernetes" in pod.reason
    several = way_of(engine, server(engine, (*ARGV, "--nnodes", "2")), launch())
    assert "several hosts" in several.reason


def test_a_new_variable_of_several_lines_is_refused_and_not_made_two() -> None:
    found = way(FakeEngine(), SGLANG_NOTE="one\nLD_PRELOAD=/tmp/x.so")
    assert found.prepare is None
    assert "the variable SGLANG_NOTE (no value, several lines, or no text)" in found.reason
    assert "/tmp/x.so" not in found.reason


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "[",
        "null",
        "[]",
        "{}",
        "[[]]",
        "[1, 2]",
        "[{}]",
        '[{"Id": 5}]',
        "[" * 100_000,
        '[{"Id": "x", "Config": []}]',
    ],
)
def test_an_inspect_that_is_cut_or_lies_is_no_crash(answer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = FakeEngine()
    machine = prepared(engine)
    monkeypatch.setattr(FakeEngine, "_deed", lambda self, deed, words, stdin: (0, answer, ""))
    found = way(engine)
    assert found.prepare is None
    assert "docker does not tell how it was made: " in found.reason
    with pytest.raises(ToolError, match="cannot be read"):
        machine.shown(machine.old)
