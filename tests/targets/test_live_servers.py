"""Which servers run on a host, out of what the survey reads in /proc."""

import shlex
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.errors import NotRecorded, ToolError, UserError
from ppagent.targets.remote.choice import choose
from ppagent.targets.remote.forms import environment_text, launch_text, processes_text, titles
from ppagent.targets.remote.inside import interpreter
from ppagent.targets.remote.log_place import LogPlace, log_place
from ppagent.targets.remote.processes import Process, Thread, outputs_of_others, parents_of, read_processes
from ppagent.targets.remote.sections import Section, Sections
from ppagent.targets.remote.servers import Server, find_servers, launches, option

LAUNCH = "/venv/bin/python -m sglang.launch_server --model-path /models/m --port 30100 --pp-size 2"
ME = "alice"


def process(pid: int, line: str = LAUNCH, ppid: int = 1, **more: object) -> Process:
    return replace(Process(pid, ppid, tuple(shlex.split(line))), **more)


def server(**more: object) -> Server:
    return Server(process(10, **more), (process(11, "sglang::scheduler_PP0", 10),), 30100, "127.0.0.1")


@pytest.mark.parametrize(
    "line",
    [
        LAUNCH,
        "python3 -m sglang.launch_server",
        "python -X faulthandler -u -m sglang.launch_server --tp 2",
        "/usr/bin/python3.12 /opt/venv/bin/sglang serve --model-path m",
        "python -m sglang.cli.main serve --model-path m",
        "python3 python/sglang/launch_server.py --model-path m",
        "sglang serve m",
    ],
)
def test_a_launch_is_recognised_however_it_is_written(line: str) -> None:
    assert launches(shlex.split(line))


@pytest.mark.parametrize(
    "line",
    [
        "",
        "bash -c 'python -m sglang.launch_server --port 1'",
        "docker run lmsysorg/sglang python3 -m sglang.launch_server",
        "python -m sglang.bench_serving --backend sglang",
        "vim launch_server.py",
        "tail -f sglang",
        "sglang generate",
        "python tool.py sglang serve",
        "sglang::scheduler_PP0",
        "grep sglang.launch_server",
    ],
)
def test_what_only_speaks_of_a_launch_is_none(line: str) -> None:
    assert not launches(shlex.split(line))


def test_a_server_has_its_workers_and_not_those_of_another() -> None:
    found = [
        process(10),
        process(11, "sglang::data_parallel_controller", 10),
        process(12, "sglang::scheduler_DP0_PP0", 11),
        process(20, LAUNCH.replace("30100", "30200")),
        process(21, "sglang::scheduler_PP0", 20),
        process(30, "bash -c 'python -m sglang.launch_server'", 1),
    ]
    servers = find_servers(found, {p.pid: p.ppid or 0 for p in found}, "")
    assert [(s.port, [w.pid for w in s.workers]) for s in servers] == [(30100, [11, 12]), (30200, [21])]
    assert titles(servers[0]) == {10: "sglang.launch_server", 11: "sglang::data_parallel_controller",
                                  12: "sglang::scheduler_DP0_PP0"}  # fmt: skip


def test_whatever_started_schedulers_is_their_server() -> None:
    found = [process(10, "python serve_my_engine.py"), process(11, "sglang::scheduler_PP0", 10)]
    servers = find_servers(found, {10: 1, 11: 10}, "")
    assert [s.launcher.pid for s in servers] == [10]


def test_a_port_that_was_not_given_is_the_one_it_listens_on() -> None:
    line = "python -m sglang.launch_server --model-path m"
    listening = "0100007F:7531 555\n0100007F:0016 1\n"
    assert find_servers([process(10, line, sockets=frozenset(["socket:[555]"]))], {}, listening)[0].port == 0x7531
    assert find_servers([process(10, line)], {}, listening)[0].port == 30000


@pytest.mark.parametrize(
    ("given", "address"),
    [("0.0.0.0", "127.0.0.1"), ("::", "::1"), ("10.1.2.3", "10.1.2.3"), ("localhost", "127.0.0.1")],
)
def test_a_server_is_asked_where_it_listens(given: str, address: str) -> None:
    assert find_servers([process(10, f"{LAUNCH} --host {given}")], {}, "")[0].address == address


def test_several_servers_are_listed_and_chosen_by_port() -> None:
    servers = [server(), replace(server(), port=30200)]
    with pytest.raises(UserError, match="2 SGLang servers run on box .port 30100: .*port 30200") as caught:
        choose(servers, None, "box")
    assert caught.value.advice == "Choose one with --port."
    assert choose(servers, 30200, "box").port == 30200
    with pytest.raises(UserError, match="No SGLang server on box has port 1"):
        choose(servers, 1, "box")
    with pytest.raises(NotRecorded):
        choose([], 30000, "box")


@pytest.mark.parametrize(
    ("groups", "container", "unit"),
    [
        ("0::/", "", ""),
        (f"0::/system.slice/docker-{'ab' * 32}.scope", "ab" * 32, ""),
        (f"12:memory:/docker/{'cd' * 32}", "cd" * 32, ""),
        (f"0::/kubepods.slice/kubepods-besteffort.slice/cri-containerd-{'ef' * 32}.scope", "ef" * 32, ""),
        (f"0::/machine.slice/libpod-{'ab' * 32}.scope/container", "ab" * 32, ""),
        (f"0::/system.slice/llm.service/libpod-payload-{'ab' * 32}", "ab" * 32, "llm.service"),
        ("0::/system.slice/sglang@kimi.service", "", "sglang@kimi.service"),
        ("9:name=systemd:/system.slice/llm.service\n8:pids:/\n4:memory:/process/x\n0::/", "", "llm.service"),
        ("2:cpu:/\n1:name=systemd:/user.slice/user-7.slice/user@7.service/llm.service\n0::/", "", "llm.service"),
        ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/llm.service", "", "llm.service"),
        ("0::/user.slice/user-1000.slice/user@1000.service/init.scope", "", ""),
    ],
)
def test_containers_and_units_are_told_by_the_control_group(groups: str, container: str, unit: str) -> None:
    found = server(groups=groups)
    assert (found.container, found.unit) == (container, unit)


@pytest.mark.parametrize("line", ["--port=1", "--port 1", "--a b --port 1 --c", "--p_ort=0 --port 1"])
def test_an_option_is_found_in_each_spelling(line: str) -> None:
    assert option(line.split(), "--port") == "1"


def test_an_option_with_underscores_is_the_same() -> None:
    assert option(["--node_rank", "3"], "--node-rank") == "3"
    assert option(["--node-rank"], "--node-rank") == ""


def test_the_python_is_the_one_of_that_very_process() -> None:
    assert interpreter(server()) == "/venv/bin/python"
    in_path = Process(10, 1, ("python3", "-m", "sglang.launch_server"), env={"PATH": "/conda/bin"})
    assert interpreter(replace(server(), launcher=in_path)) == "python3"
    bare = Process(10, 1, ("python3", "-m", "sglang.launch_server"), user="sgl")
    assert interpreter(replace(server(), launcher=replace(bare, exe="/usr/bin/python3.12"))) == "/usr/bin/python3.12"
    with pytest.raises(ToolError, match="sudo readlink /proc/10/exe"):
        interpreter(replace(server(), launcher=bare))


# where the log goes


def test_a_redirected_log_is_read_through_the_process_itself() -> None:
    place = log_place(server(outputs={1: "/logs/out", 2: "/logs/server.log (deleted)"}), {}, ME)
    assert place == LogPlace("file", "/proc/10/fd/2", "/logs/server.log (deleted)")


def test_a_log_behind_tee_is_found() -> None:
    others = {77: {0: "pipe:[5]", 1: "/dev/pts/0", 3: "/logs/tee.log"}, 78: {0: "pipe:[6]", 3: "/wrong"}}
    place = log_place(server(outputs={1: "pipe:[5]", 2: "pipe:[5]"}), others, ME)
    assert place == LogPlace("file", "/proc/77/fd/3", "/logs/tee.log")


def test_a_named_log_file_counts_first() -> None:
    found = replace(server(), launcher=process(10, f"{LAUNCH} --log-file out/s.log", cwd="/srv", outputs={2: "/a"}))
    assert log_place(found, {}, ME).name == "/srv/out/s.log"


def test_journals_and_containers_keep_logs_too() -> None:
    unit = server(groups="0::/system.slice/llm.service", outputs={2: "socket:[9]"}, age_s=100.0, started_s=7000.5)
    assert log_place(unit, {}, ME) == LogPlace(
        "journal", "llm.service", "journalctl -u llm.service", 7000, ("_SYSTEMD_UNIT",)
    )
    theirs = server(groups="0::/system.slice/llm.service", outputs={})
    assert log_place(theirs, {}, ME).more == ("_SYSTEMD_UNIT", "hidden")
    docker = server(groups=f"0::/docker/{'ab' * 32}", outputs={2: "pipe:[9]"})
    assert log_place(docker, {}, ME).kind == "docker"


@pytest.mark.parametrize(
    ("outputs", "kind", "says"),
    [
        ({2: "/dev/pts/3"}, NotRecorded, "tee FILE"),
        ({2: "/dev/null"}, NotRecorded, "/dev/null"),
        ({2: "pipe:[1]"}, ToolError, "reader cannot be seen by alice"),
        ({}, ToolError, "sudo ls -l /proc/10/fd/2"),
    ],
)
def test_a_log_kept_nowhere_or_hidden_is_said(outputs: dict[int, str], kind: type[ToolError], says: str) -> None:
    with pytest.raises(kind, match=says):
        log_place(server(outputs=outputs), {}, ME)


# the forms of a recording


def test_the_launch_has_its_variables_and_no_secret() -> None:
    env = {"NCCL_DEBUG": "INFO", "CUDA_VISIBLE_DEVICES": "0,1", "HF_TOKEN": "[masked]", "PATH": "/bin",
           "CUDA_VERSION": "12.9", "SGLANG_X": "a b"}  # fmt: skip
    found = replace(server(), launcher=process(10, f"{LAUNCH} --api-key s3cret-key", env=env))
    text = launch_text(found)
    assert text.startswith("CUDA_VISIBLE_DEVICES=0,1 NCCL_DEBUG=INFO SGLANG_X='a b' /venv/bin/python -m")
    assert "s3cret" not in text
    assert "--api-key '[masked]'" in text
    assert "HF_TOKEN" not in text


def test_an_environment_that_may_not_be_read_names_the_command_that_would() -> None:
    with pytest.raises(ToolError, match="process 10 .of bob. may not be read by alice; `sudo cat /proc/10/environ`"):
        environment_text(server(user="bob"), ME)
    shown = environment_text(server(env={"HF_TOKEN": "hf_x", "OMP_NUM_THREADS": "4"}, env_read=True), ME)
    assert shown == "HF_TOKEN=[masked]\nOMP_NUM_THREADS=4\n"


def test_processes_are_a_list_of_objects_one_a_line() -> None:
    import json

    busy = process(11, "sglang::scheduler_PP0", 10, cpu_percent=98.5, threads=(Thread(12, "nccl", 50.0),))
    found = json.loads(processes_text(replace(server(cpu_percent=3.0), workers=(busy,))))
    assert found[0]["pid"] == 10
    assert found[1] == {"pid": 11, "ppid": 10, "cmdline": ["sglang::scheduler_PP0"], "cpu_percent": 98.5,
                        "threads": [{"tid": 12, "name": "nccl", "cpu_percent": 50.0}]}  # fmt: skip


def test_what_the_survey_reads_becomes_processes() -> None:
    stat = "{pid} (sglang::sch) edul) S 1 1 1 0 -1 0 0 0 0 0 {ticks} 50 0 0 20 0 9 0 1000 0 0\n"
    parts = {
        "words": "/proc/10/cmdline:python\0/proc/10/cmdline:-c\0/proc/10/cmdline:a\nb\0"
                 "/proc/11/cmdline:sglang::scheduler_PP0\0/proc/11/cmdline:\0/proc/11/cmdline:\0",
        "ticks1": "100.0 0\n100\n" + stat.format(pid=10, ticks=100) + stat.format(pid=11, ticks=0),
        "ticks2": "102.0 0\n100\n" + stat.format(pid=10, ticks=300) + stat.format(pid=11, ticks=10),
        "tasks1": "100.0 0\n" + "10 " + stat.format(pid=12, ticks=0),
        "tasks2": "102.0 0\n" + "10 " + stat.format(pid=12, ticks=100),
        "owners": "/proc/10/. bob\n",
        "variables": "/proc/10/environ:NCCL_DEBUG=INFO\0/proc/10/environ:ODD=a=b\0",
        "links": "/proc/10/exe\t/usr/bin/python3\0/proc/10/fd/2\t/logs/a b\0/proc/10/fd/9\tsocket:[5]\0"
                 "/proc/99/fd/0\tpipe:[1]\0",
        "groups": "/proc/10/cgroup:1:x:/a\n/proc/10/cgroup:0::/b\n",
        "status": "/proc/10/status:Cpus_allowed_list:\t0-3\n",
        "tree": "  10    1 python\n  11   10 sglang::sch\n",
    }  # fmt: skip
    survey = Sections({name: Section(text.encode(), 0, "") for name, text in parts.items()}, "")
    first, second = read_processes(survey)
    assert first.cmdline == ("python", "-c", "a\nb")
    assert (first.user, first.exe, first.affinity) == ("bob", "/usr/bin/python3", "0-3")
    assert first.outputs == {2: "/logs/a b"}
    assert first.env == {"NCCL_DEBUG": "INFO", "ODD": "a=b"}
    assert first.sockets == {"socket:[5]"}
    assert (first.cpu_percent, first.age_s, first.started_s) == (100.0, 90.0, 10.0)
    assert first.threads == (Thread(12, "sglang::sch) edul", 50.0),)
    assert (second.title, second.cpu_percent, second.env_read) == ("sglang::scheduler_PP0", 5.0, False)
    assert second.cmdline == ("sglang::scheduler_PP0",)
    assert parents_of(survey)[11] == 1
    assert outputs_of_others(survey)[99] == {0: "pipe:[1]"}


NAMES = ("words", "ticks1", "ticks2", "tasks1", "tasks2", "owners", "variables", "links", "groups", "status", "tree")


@given(
    st.dictionaries(st.sampled_from(NAMES), st.text(alphabet="/proc12cmdlinestatfd: ().\0\t\nS\u00b2-", max_size=200))
)
def test_no_odd_output_of_the_survey_breaks_the_reading(parts: dict[str, str]) -> None:
    survey = Sections({name: Section(text.encode(), 0, "") for name, text in parts.items()}, "")
    found = read_processes(survey)
    find_servers(found, parents_of(survey), "0: 1\n")
    assert [process.pid for process in found] == sorted(process.pid for process in found)


def test_a_survey_that_lost_most_of_itself_still_names_the_processes() -> None:
    survey = Sections({"words": Section(b"/proc/10/cmdline:python\0", 0, "")}, "the connection was lost")
    assert read_processes(survey) == (Process(10, None, ("python",)),)
