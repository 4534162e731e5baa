"""A server that systemd runs: the drop-in, and systemctl as it behaves, by a stand-in that keeps a unit's state."""

import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.errors import ToolError
from ppagent.targets.remote.link import End, Ran
from ppagent.targets.remote.processes import Process
from ppagent.targets.remote.servers import Server
from ppagent.trials import unit
from ppagent.trials.bring_back import bring_back, keeper_in
from ppagent.trials.launches import NewLaunch
from ppagent.trials.machine import Started
from ppagent.trials.note import RestoreNote
from ppagent.trials.unit import UnitMachine, unit_of
from ppagent.trials.unit_file import drop_in
from ppagent.trials.unit_trouble import unit_trouble
from ppagent.trials.way import Node, way_of
from tests.trials.fake_engine import FakeLink

ARGV = ("/usr/bin/python3", "-m", "sglang.launch_server", "--model-path", "/models/x", "--pp-size", "4")
GROUPS = "0::/system.slice/sglang.service"
PLACE = "/run/systemd/system/sglang.service.d/zzzz-ppagent-trial.conf"
KEPT = "/etc/systemd/system/sglang.service.d/zzz-ppagent.conf"


@dataclass
class FakeHost(FakeLink):
    """A host with one unit, `sglang.service`, that systemctl starts and stops; files are a dictionary."""

    uid: int = 0
    exec_start: str = " ".join(ARGV)
    type: str = "simple"
    main_pid: int = 100
    state: str = "active"
    reload_needed: str = "no"
    environment_files: tuple[str, ...] = ()
    dies: bool = False
    """Whether the command of a drop-in ends at once, and systemd starts it again and again."""
    files: dict[str, str] = field(default_factory=dict)
    loaded: dict[str, str] = field(default_factory=dict)
    """The files as systemd read them last."""
    ran: list[str] = field(default_factory=list)
    log: str = ""
    starts: int = 0

    def answer(self, argv: Sequence[str], stdin: bytes) -> tuple[int, str, str]:
        words = [word for word in argv if word != "env" and not word.startswith("XDG_RUNTIME_DIR=")]
        self.ran.append(shlex.join(words))
        match words:
            case ["sh", "-c", _, "sh", pattern, files]:
                hit = [file for file in files.split("\n") if re.search(pattern, self.files.get(file, ""), re.M)]
                return int(not hit), "".join(f"{file}\n" for file in hit), ""
            case ["cat", "--", path]:
                return (0, self.files[path], "") if path in self.files else (1, "", f"cat: {path}: No such file")
            case ["sh", "-c", *_]:
                return 0, f"{self.uid}\n/home/me", ""
            case ["install", *_, "/dev/stdin", to]:
                self.files[to] = stdin.decode()
            case ["install", *_, source, to]:
                self.files[to] = self.files[source]
            case ["rm", "-f", path]:
                self.files.pop(path, None)
            case ["test", "-e", path]:
                return int(path not in self.files), "", ""
            case ["stat", *_]:
                return 0, str(len(self.log)), ""
            case ["tail", _, place, *_]:
                return 0, self.log[int(place.lstrip("+")) - 1 :], ""
            case ["journalctl", *_]:
                return 0, self.log, ""
            case ["systemctl", *rest]:
                return self.systemctl([word for word in rest if word != "--user"])
            case _:
                return 127, "", f"{argv[0]}: not found"
        return 0, "", ""

    def systemctl(self, words: list[str]) -> tuple[int, str, str]:
        match words[0]:
            case "show" if "--value" in words:
                return 0, "".join(f"{file} (ignore_errors=no)\n" for file in self.environment_files), ""
            case "show":
                shown = {
                    "MainPID": self.main_pid,
                    "ActiveState": self.state,
                    "Type": self.type,
                    "ExecStart": f"{{ path={ARGV[0]} ; argv[]={self.exec_start} ; ignore_errors=no ; pid=0 }}",
                    "NeedDaemonReload": self.reload_needed,
                    "InvocationID": f"inv{self.starts}",
                }
                return 0, "".join(f"{name}={value}\n" for name, value in shown.items()), ""
            case "stop":
                self.main_pid, self.state = 0, "inactive"
            case "daemon-reload":
                self.loaded = dict(self.files)
            case "start":
                self.starts += 1
                self.main_pid, self.state = 100 + self.starts, "active"
                self.log += f"start {self.starts} {'with ' + '/'.join(self.loaded) if self.loaded else 'as it was'}\n"
        return 0, "", ""


def server(**more: Any) -> Server:
    known: dict[str, Any] = {"groups": GROUPS, "outputs": {2: "socket:[5]"}}
    return Server(Process(100, 1, ARGV, **{**known, **more}), (), 30000, "127.0.0.1")


def launch(**env: str) -> NewLaunch:
    argv = (*ARGV, "--pp-max-micro-batch-size", "1")
    return NewLaunch(shlex.join(ARGV), shlex.join(argv), "+ --pp-max-micro-batch-size 1", argv, env)


def test_the_drop_in_empties_the_command_before_it_sets_it() -> None:
    text = drop_in(launch().argv, {"SGLANG_PP_LAYER_PARTITION": "8,8,5"})
    assert text.splitlines()[1:] == [
        "[Service]",
        "ExecStart=",
        "ExecStart=/usr/bin/python3 -m sglang.launch_server --model-path /models/x --pp-size 4 "
        "--pp-max-micro-batch-size 1",
        "Environment=SGLANG_PP_LAYER_PARTITION=8,8,5",
    ]


def test_words_that_systemd_would_read_otherwise_are_escaped() -> None:
    (line,) = [
        line for line in drop_in(["/bin/x", '{"a": 1}', "50%", "$HOME", ";", ""], {}).splitlines() if "/bin/x" in line
    ]
    assert line == r'ExecStart=/bin/x "{\"a\": 1}" "50%%" $$HOME ";" ""'


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=12), max_size=5))
def test_a_command_is_one_line_whatever_is_in_it(words: list[str]) -> None:
    assert len(drop_in(["/bin/x", *words], {}).split("\n")) == 5


def test_a_new_launch_is_started_by_a_drop_in_that_a_reboot_removes_and_kept_where_it_stays() -> None:
    host = FakeHost()
    machine = unit_of(host, server())
    machine.prepare(launch().argv, {})
    assert host.files == {}
    machine.stop(100, 1)
    started = machine.start(PLACE, "new")
    assert (started.pid, list(host.loaded)) == (101, [PLACE])
    assert machine.changed
    machine.keep()
    assert host.ran[-1] == "systemctl daemon-reload"
    assert list(host.files) == [KEPT]
    assert not machine.changed
    assert host.state == "active"


def test_a_trial_after_a_launch_that_was_kept_counts_before_it() -> None:
    machine = unit_of(FakeHost(), server())
    assert Path(machine.trial_file).name > Path(machine.kept_file).name


def test_a_second_launch_that_is_kept_keeps_the_variables_of_the_first() -> None:
    host = FakeHost()
    for env in ({"A": "1", "B": "two words"}, {"A": "3"}):
        machine = unit_of(host, server())
        machine.prepare(launch().argv, env)
        machine.start(PLACE, "new")
        machine.keep()
    assert [line for line in host.files[KEPT].splitlines() if line.startswith("Environment")] == [
        'Environment="B=two words"',
        "Environment=A=3",
    ]
    assert list(host.files) == [KEPT]


def test_a_variable_that_an_environment_file_sets_is_not_set_in_vain() -> None:
    """A drop-in's Environment= counts less than any EnvironmentFile= (seen with systemd 252)."""
    host = FakeHost(environment_files=("/etc/a.env", "/etc/b.env"))
    host.files = {"/etc/a.env": "OTHER=1\n", "/etc/b.env": "# NCCL_DEBUG=INFO\nNCCL_DEBUG=WARN\n"}
    way = way_of(host, server(), launch(NCCL_DEBUG="INFO"))
    assert "/etc/b.env, its EnvironmentFile=, sets NCCL_DEBUG too and counts more" in way.reason
    assert way.prepare is None
    assert way_of(host, server(), launch(NCCL_ALGO="Ring")).prepare is not None
    assert way_of(host, server(), launch()).prepare is not None


def test_the_old_launch_comes_back_without_the_drop_in() -> None:
    host = FakeHost()
    machine = unit_of(host, server())
    machine.prepare(launch().argv, {})
    machine.start(PLACE, "new")
    machine.stop(101, 1)
    machine.start(PLACE, "old")
    assert (host.files, host.loaded) == ({}, {})
    assert host.log.endswith("as it was\n")


def test_a_server_that_systemd_starts_once_more_is_not_the_one_that_was_started() -> None:
    host = FakeHost(main_pid=101)
    machine = unit_of(host, server())
    assert machine.look(Started(101, "inv1", 0), 0).alive
    host.main_pid = 102
    assert not machine.look(Started(101, "inv1", 0), 0).alive


@pytest.mark.parametrize("outputs", [{2: "/var/log/sglang.log"}, {2: "socket:[5]"}])
def test_the_log_is_read_on_from_where_it_was(outputs: dict[int, str]) -> None:
    host = FakeHost(log="before\n" if outputs[2].startswith("/") else "")
    machine = unit_of(host, server(outputs=outputs))
    machine.prepare(launch().argv, {})
    started = machine.start(PLACE, "new")
    seen = machine.look(started, started.offset)
    assert seen.text == f"start 1 with {PLACE}\n"
    host.log += "ready\n"
    assert machine.look(started, seen.offset).text == "ready\n"


@pytest.mark.parametrize(
    ("host", "says"),
    [
        (FakeHost(uid=1000), "takes root"),
        (FakeHost(exec_start="/usr/bin/python3 -m sglang.launch_server --model-path ${MODEL}"), "word for word"),
        (FakeHost(exec_start="/opt/start.sh", main_pid=99), "through another program"),
        (FakeHost(type="forking"), "type forking"),
        (FakeHost(reload_needed="yes"), "was changed since"),
    ],
)
def test_a_unit_that_does_more_than_start_it_is_left_alone_and_the_commands_are_told(host: FakeHost, says: str) -> None:
    assert says in unit_trouble(unit_of(host, server()), server(), {})
    way = way_of(host, server(), launch())
    assert says in way.reason
    assert way.prepare is None
    asked = "sudo systemctl" if host.uid else "systemctl"
    assert way.lines[0].startswith(f"{asked} edit sglang.service ")
    assert f"{asked} restart sglang.service" in way.lines
    assert any("--pp-max-micro-batch-size 1" in line for line in way.lines)
    assert host.files == {}


@pytest.mark.parametrize("nodes", [("--nnodes", "2"), ("--nnodes", "2", "--node-rank", "1")])
def test_a_unit_of_a_server_over_several_hosts_is_told_by_systemctl_edit(nodes: tuple[str, ...]) -> None:
    """Whatever is started beside the unit is gone at its next restart."""
    running = Server(Process(100, 1, (*ARGV, *nodes), groups=GROUPS), (), 30000, "127.0.0.1")
    found = way_of(FakeHost(), running, NewLaunch("", "", "", (*ARGV, *nodes, "--pp-max-micro-batch-size", "1"), {}))
    assert "several hosts" in found.reason
    assert found.prepare is None
    rank = running.node_rank
    assert found.lines == (
        "# the 2 nodes start together: stop node 0 and then the others, and start all of them",
        f"# on box (node {rank}):",
        "systemctl edit sglang.service        # put in:",
        "    [Service]",
        "    ExecStart=",
        f"    ExecStart={' '.join(ARGV)} {' '.join(nodes)} --pp-max-micro-batch-size 1",
        "systemctl restart sglang.service",
        "systemctl edit sglang.service        # the way back: take it out again, and restart",
        f"# on node {1 - rank}: the same change in the command of its own",
    )


def test_all_nodes_that_were_named_are_told_with_their_own_commands_the_first_one_first() -> None:
    def node(rank: int, name: str) -> Node:
        words = (*ARGV, "--nnodes", "2", "--node-rank", str(rank))
        env = {"NCCL_DEBUG": "INFO", "PATH": "/bin", "HF_TOKEN": "hf_0123456789abcdefghijklmn"}
        process = Process(100, 1, words, groups=GROUPS if rank else "", env=env)
        running = Server(process, (), 30000, "127.0.0.1")
        new = (*words, "--pp-max-micro-batch-size", "1")
        host = FakeHost()
        host.name = name
        return Node(host, running, NewLaunch(shlex.join(words), shlex.join(new), "", new, {}))

    second, first = node(1, "b"), node(0, "a")
    for one, other in ((second, first), (first, second)):
        lines = way_of(one.link, one.server, one.launch, (other,)).lines
        heads = [place for place, line in enumerate(lines) if line.startswith("# on ")]
        assert [lines[place] for place in heads] == ["# on a (node 0):", "# on b (node 1):"]
        assert lines[heads[0] + 1] == f"NCCL_DEBUG=INFO {first.launch.new}"
        assert f"    ExecStart={second.launch.new}" in lines[heads[1] :]
        assert not any("node 0" in line and "--node-rank 1" in line for line in lines)


def test_the_plan_shows_the_whole_drop_in_and_where_it_goes() -> None:
    way = way_of(FakeHost(), server(), launch(SGLANG_X="1"))
    shown = "\n".join(way.lines)
    for part in (PLACE, "ExecStart=/usr/bin/python3", "Environment=SGLANG_X=1", "daemon-reload", KEPT):
        assert part in shown
    assert way.reason == ""


def test_the_deeds_go_over_a_link_that_outlives_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a line that breaks in the middle would leave the trial in force."""
    before, after = FakeHost(), FakeHost()
    monkeypatch.setattr("ppagent.trials.way.lasting", lambda link: after)
    prepare = way_of(before, server(), launch()).prepare
    assert prepare is not None
    assert prepare()[0].link is after


def test_a_unit_of_the_account_itself_needs_no_root() -> None:
    host = FakeHost(uid=1000)
    own = server(groups="0::/user.slice/user-1000.slice/user@1000.service/app.slice/sglang.service")
    machine = unit_of(host, own)
    assert unit_trouble(machine, own, {}) == ""
    assert machine.trial_file == "/run/user/1000/systemd/user/sglang.service.d/zzzz-ppagent-trial.conf"
    assert machine.kept_file == "/home/me/.config/systemd/user/sglang.service.d/zzz-ppagent.conf"


def test_what_a_killed_trial_left_in_force_is_taken_out_though_the_server_serves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ppagent.trials.watch.READY", "as it was")
    host = FakeHost()
    machine = unit_of(host, server())
    machine.prepare(launch().argv, {})
    machine.start(PLACE, "new")
    told = json.loads(json.dumps({"folder": PLACE, "target": "ssh://box", **machine.note()}))
    note = RestoreNote("relaunch", "ssh://box/30000", launch=told, pid=1, pid_started="0")
    back = keeper_in(note.launch, host)
    assert isinstance(back, UnitMachine)
    assert "old launch, process 102" in bring_back(note, back, lambda: True, 5, lambda sentence: None)
    assert host.files == {}
    assert "serves" in bring_back(note, back, lambda: True, 5, lambda sentence: None)
    assert host.starts == 2


def test_a_unit_that_does_not_stop_is_an_error() -> None:
    class Stubborn(FakeHost):
        def systemctl(self, words: list[str]) -> tuple[int, str, str]:
            return (0, "", "") if words[0] == "stop" else super().systemctl(words)

    with pytest.raises(ToolError, match="does not stop"):
        unit_of(Stubborn(), server()).stop(100, 1)


def test_a_command_that_is_not_found_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing(FakeHost):
        def systemctl(self, words: list[str]) -> tuple[int, str, str]:
            answer = super().systemctl(words)
            if words[0] == "start":
                self.main_pid, self.state = 0, "failed"
            return answer

    machine = unit_of(Failing(), server())
    machine.prepare(launch().argv, {})
    started = machine.start(PLACE, "new")
    assert started.pid == -1
    assert not machine.look(started, started.offset).alive
    assert unit.STARTED_WITHIN_S > 0


def test_a_host_that_does_not_answer_is_an_error(tmp_path: Path) -> None:
    class Mute(FakeHost):
        def answer(self, argv: Sequence[str], stdin: bytes) -> tuple[int, str, str]:
            return 255, "", "gone"

    with pytest.raises(ToolError, match="gone"):
        unit_of(Mute(), server())
    assert Ran(("x",), End.EXITED, 255, b"", b"gone", 0.1).complaint == "gone"


def test_a_unit_whose_name_begins_with_a_dash_is_no_option() -> None:
    host = FakeHost()
    machine = UnitMachine(host, "-rm.service")
    machine.prepare((*ARGV, "--pp-max-micro-batch-size", "1"), {})
    machine.stop(100, 1)
    machine.start("", "new")
    told = [shlex.split(line) for line in host.ran if line.startswith("systemctl") and "-rm.service" in line]
    assert len(told) >= 4
    assert all(words[-2:] == ["--", "-rm.service"] for words in told)


def test_a_systemd_that_tells_less_is_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    host = FakeHost()
    monkeypatch.setattr(host, "systemctl", lambda words: (0, "MainPID=100\n", ""))
    machine = UnitMachine(host, "sglang.service")
    assert machine.shown()["ActiveState"] == ""
    with pytest.raises(ToolError, match="does not stop"):
        machine.stop(100, 1)


def test_a_unit_with_an_escape_in_its_name_is_one_word_of_the_commands_by_hand() -> None:
    host = FakeHost(type="forking")
    named = Server(Process(100, 1, ARGV, groups="0::/system.slice/sglang-a\\x2db.service"), (), 30000, "127.0.0.1")
    found = way_of(host, named, NewLaunch("", "", "", ARGV, {}))
    assert "systemctl restart 'sglang-a\\x2db.service'" in found.lines
