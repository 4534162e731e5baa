"""A server in a container: what is done by way of the engine, and what comes back. The engine is a stand-in that
behaves as the real ones were seen to; `test_real_podman.py` runs the same against a real one."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from ppagent.errors import ToolError
from ppagent.trials import relaunch
from ppagent.trials.bring_back import bring_back, keeper_in
from ppagent.trials.container import ContainerMachine
from ppagent.trials.note import RestoreNote
from ppagent.trials.phase import Phase
from ppagent.trials.relaunch import Site, run_relaunch
from ppagent.trials.watch import StartFailed
from tests.trials.contained import ENGINES, NEW, prepared, ready, way
from tests.trials.fake_engine import FakeEngine


@pytest.mark.parametrize("program", ENGINES)
def test_the_new_container_has_the_old_ones_name_and_the_old_one_is_put_aside(program: str) -> None:
    engine = FakeEngine(program)
    machine = prepared(engine, SGLANG_X="1")
    assert engine.states() == {"llm": True}
    machine.stop(101, 60)
    ready(machine, "new")
    assert engine.states() == {machine.put_aside: False, "llm": True}
    made = engine.named("llm")
    assert (made["Path"], *made["Args"]) == NEW
    assert {"SGLANG_X=1", "HF_TOKEN=hunter2"} <= set(made["Config"]["Env"])
    assert f"{program} stop -t 60 {engine.old['Id']}" in engine.ran


def test_variables_reach_the_engine_on_its_standard_input_alone() -> None:
    engine = FakeEngine()
    machine = prepared(engine)
    machine.start("", "new")
    assert not [line for line in engine.ran if "hunter2" in line]
    assert b"HF_TOKEN=hunter2\n" in engine.given[-1]
    assert "hunter2" not in repr(machine.copy) + json.dumps(machine.note())


def test_while_a_trial_runs_only_the_old_container_is_started_by_a_reboot_and_later_only_the_new_one() -> None:
    engine = FakeEngine()
    machine = prepared(engine)
    machine.stop(101, 60)
    ready(machine, "new")

    def policies() -> list[str]:
        return [engine.named(name)["HostConfig"]["RestartPolicy"]["Name"] for name in (machine.put_aside, "llm")]

    assert policies() == ["unless-stopped", "no"]
    machine.keep()
    assert policies() == ["no", "unless-stopped"]
    turned = [line.split()[2] for line in engine.ran if " update " in line]
    assert turned == ["--restart=no", "--restart=unless-stopped"]


@pytest.mark.parametrize("program", ENGINES)
def test_the_old_container_comes_back_as_it_was(program: str) -> None:
    engine = FakeEngine(program)
    machine = prepared(engine)
    before = json.dumps(engine.old["HostConfig"])
    machine.stop(101, 60)
    ready(machine, "new")
    machine.keep()
    assert machine.changed
    machine.stop(102, 60)
    ready(machine, "old")
    assert engine.states() == {"llm": True}
    assert json.dumps(engine.old["HostConfig"]) == before
    assert not machine.changed


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 4])
def test_wherever_ppagent_was_killed_the_note_brings_the_old_container_back(steps: int) -> None:
    engine = FakeEngine()
    machine = prepared(engine)
    done: list[Callable[[], Any]] = [
        lambda: machine.stop(101, 60),
        lambda: machine._call(machine.old, machine.put_aside),
        lambda: machine._make(machine.name),
        lambda: machine.start("", "new"),
    ]
    if steps == 4:
        done[1:3] = []
    for step in done[:steps]:
        step()
    told = json.loads(json.dumps({"folder": "x", "target": "ssh://box", **machine.note()}))
    note = RestoreNote("relaunch", "ssh://box/30000", launch=told, pid=1, pid_started="0")
    back = keeper_in(note.launch, engine)
    serves = engine.old["State"]["Running"]
    words = bring_back(note, back, lambda: bool(engine.old["State"]["Running"]), 5, lambda sentence: None)
    assert words.startswith("ssh://box/30000 serves" if serves else "ssh://box/30000 serves again")
    assert engine.states() == {"llm": True}
    assert "serves" in bring_back(note, back, lambda: True, 5, lambda sentence: None)


def test_after_a_reboot_in_the_middle_the_old_container_that_runs_already_gets_its_name_back() -> None:
    engine = FakeEngine()
    machine = prepared(engine)
    machine.stop(101, 60)
    machine.start("", "new")
    engine.named("llm")["State"].update(Running=False, Pid=0)
    engine.run(engine.old["Id"])
    pid = engine.old["State"]["Pid"]
    note = RestoreNote("relaunch", "ssh://box/30000", launch=machine.note() | {"folder": "x"}, pid=1, pid_started="0")
    assert f"process {pid}" in bring_back(note, machine, lambda: True, 5, lambda sentence: None)
    assert engine.states() == {"llm": True}


def test_a_container_that_would_not_be_the_same_is_found_out_before_anything_is_touched() -> None:
    engine = FakeEngine(unlike="Runtime")
    found = way(engine)
    assert found.prepare is not None
    with pytest.raises(ToolError, match=r"HostConfig\.Runtime would differ; nothing was changed"):
        found.prepare()
    assert engine.states() == {"llm": True}
    assert not [line for line in engine.ran if " stop " in line or " rename " in line]


def test_what_the_engine_does_not_start_is_a_failed_start_and_the_old_one_comes_back() -> None:
    engine = FakeEngine(start_fails=True)
    machine = prepared(engine)
    machine.stop(101, 60)
    with pytest.raises(StartFailed, match="could not select device driver"):
        machine.start("", "new")
    machine.stop(-1, 60)
    ready(machine, "old")
    assert engine.states() == {"llm": True}


def test_a_container_that_ends_or_is_started_once_more_is_not_alive() -> None:
    engine = FakeEngine()
    machine = prepared(engine)
    started = machine.start("", "new")
    assert machine.look(started, 0).alive
    engine.named("llm")["State"]["StartedAt"] = "2026-11-30T08:00:00Z"
    assert not machine.look(started, 0).alive
    engine.named("llm")["State"].update(Running=False)
    assert not machine.look(started, 0).alive


def test_the_log_of_this_start_is_read_on_from_where_it_was() -> None:
    engine = FakeEngine()
    machine = prepared(engine)
    machine.stop(101, 60)
    started = machine.start("", "old")
    seen = machine.look(started, started.offset)
    assert seen.text.startswith("start 2\n")
    assert machine.look(started, seen.offset).text == ""


def test_a_container_that_does_not_stop_is_an_error_and_one_that_was_made_to_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = FakeEngine()
    machine = prepared(engine)
    change = FakeEngine._change

    def stubborn(self: FakeEngine, deed: str, words: list[str]) -> tuple[int, str, str]:
        return (0, "", "") if deed == "stop" else change(self, deed, words)

    monkeypatch.setattr(FakeEngine, "_change", stubborn)
    with pytest.raises(ToolError, match="does not stop"):
        machine.stop(101, 1)
    engine.old["State"].update(Running=False, ExitCode=137)
    assert machine.stop(101, 1).killed == 1


def test_the_plan_shows_names_settings_and_command_but_no_variable_of_the_old_one() -> None:
    engine = FakeEngine()
    shown = "\n".join(way(engine, SGLANG_X="1").lines)
    for part in (
        "docker stop -t 60 llm",
        "llm-before-ppagent-",
        "--gpus all",
        "--pp-max-micro-batch-size 1",
        "SGLANG_X=1",
        "takes over its restart policy (unless-stopped)",
        "docker rm llm-before-ppagent-",
    ):
        assert part in shown
    assert "hunter2" not in shown


def test_a_reboot_is_promised_to_bring_the_old_container_back_only_where_it_does() -> None:
    engine = FakeEngine()
    assert "reboot" not in "\n".join(way(engine).lines)
    engine.old["HostConfig"]["RestartPolicy"]["Name"] = "always"
    assert "started, which a reboot in the middle does too" in "\n".join(way(engine).lines)


def test_a_tag_that_means_another_image_by_now_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = FakeEngine()
    engine.old["Config"]["Image"] = "sglang:gone"
    deed = FakeEngine._deed

    def gone(self: FakeEngine, what: str, words: list[str], stdin: bytes) -> tuple[int, str, str]:
        return (1, "[]", "No such image") if words[-1:] == ["sglang:gone"] else deed(self, what, words, stdin)

    monkeypatch.setattr(FakeEngine, "_deed", gone)
    assert f"{engine.old['Image']} python3 -m sglang.launch_server" in "\n".join(way(engine).lines)


def test_a_launch_that_is_kept_tells_where_the_old_container_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relaunch, "ITSELF_S", 0)
    monkeypatch.setattr(relaunch, "_measured", lambda label, *_, **more: Phase(label, 100, 0.01, 1, None, None))
    engine = FakeEngine()
    found = way(engine)
    assert found.prepare is not None
    machine, launched = found.prepare()
    answers = iter([False, True])
    site = Site("ssh://box/30000", machine, 101, launched, "ssh://box", lambda: next(answers))
    outcome = run_relaunch(site, _no_meter, seconds=1, start_limit_s=5, keep="always")
    assert outcome.kept
    assert isinstance(machine, ContainerMachine)
    assert f"docker rm {machine.put_aside}" in outcome.remarks[-1]
    assert engine.states() == {machine.put_aside: False, "llm": True}


def _no_meter() -> Any:
    return None


@pytest.mark.parametrize("program", ENGINES)
def test_labels_with_shell_characters_and_terminal_sequences_are_words_and_no_lines_of_the_plan(program: str) -> None:
    engine = FakeEngine(program)
    odd = "$(reboot); `x` 'y' --rm é\n  way back   none is needed\x1b[2J"
    if program == "docker":
        engine.old["Config"]["Labels"]["note"] = odd
    else:
        engine.old["Config"]["CreateCommand"][2:2] = ["--label", f"note={odd}"]
    found = way(engine)
    assert not any("\n" in line or "\x1b" in line for line in found.lines)
    assert any("$(reboot)" in line for line in found.lines)
    machine = prepared(engine)
    assert machine.copy is not None
    assert f"note={odd}" in machine.copy.options


def test_where_the_old_container_was_removed_the_new_one_is_left_running() -> None:
    engine = FakeEngine()
    machine = prepared(engine)
    machine.stop(101, 1)
    ready(machine, "new")
    del engine.containers[machine.old]
    for deed in (lambda: machine.stop(0, 1), lambda: machine.start("", "old")):
        with pytest.raises(ToolError, match="somebody removed container"):
            deed()
    assert engine.states() == {machine.name: True}
    note = RestoreNote("relaunch", "box", launch={"folder": "x", **machine.note()}, pid_started="")
    assert bring_back(note, keeper_in(note.launch, engine), lambda: True, 5, lambda sentence: None).startswith(
        "box serves."
    )


def test_a_container_that_somebody_else_is_at_work_on_is_not_stopped() -> None:
    engine = FakeEngine()
    first, second = prepared(engine), prepared(engine)
    first.stop(101, 1)
    ready(first, "new")
    with pytest.raises(ToolError, match="somebody else is at work on it"):
        second.stop(101, 1)
    assert engine.named(first.name)["State"]["Running"]
