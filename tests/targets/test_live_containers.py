"""Servers in containers: by which port of the host each is reached, who may ask its engine, and where its log is."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.errors import NotRecorded, ToolError, UserError
from ppagent.targets.remote.choice import choose
from ppagent.targets.remote.containers import Contained, ended_in
from ppagent.targets.remote.inside import interpreter
from ppagent.targets.remote.log_place import LogPlace, log_place
from ppagent.targets.remote.processes import Process, parents_of, read_processes
from ppagent.targets.remote.sections import Section, Sections
from ppagent.targets.remote.servers import Server, find_servers

ONE, TWO = "6882d526db8a" + "0" * 52, "3a93cdc40189" + "1" * 52
LAUNCH = "python3 -m sglang.launch_server --model-path m --host 0.0.0.0 --port 30000"
ROOTLESS = "0::/user.slice/user-1002.slice/user@1002.service/user.slice/libpod-{}.scope"


def survey(**parts: str) -> Sections:
    return Sections({name: Section(text.encode(), 0, "") for name, text in parts.items()}, "")


def two(ports: str, second: str = "172.17.0.3") -> Sections:
    """Two containers of one port in networks of their own; `second`: the other one's address."""
    line = "".join(f"/proc/{{pid}}/cmdline:{word}\0" for word in LAUNCH.split())
    return survey(
        words=line.format(pid=10) + line.format(pid=20),
        groups=f"/proc/10/cgroup:0::/system.slice/docker-{ONE}.scope\n/proc/20/cgroup:0::/system.slice/docker-{TWO}.scope\n",
        addresses=f"/proc/self/net:10.78.0.2\n/proc/10/net:172.17.0.2\n/proc/20/net:{second}\n",
        status="/proc/10/status:NSpid:\t10\t1\n/proc/20/status:NSpid:\t20\t1\n",
        firsts="/proc/10/status\n/proc/20/status\n",
        tree="   10    5 python3\n   20    6 python3\n",
        ports=ports,
        uid="1000\n",
    )


def servers_in(look: Sections) -> tuple[Server, ...]:
    return find_servers(read_processes(look), parents_of(look), "")


# ports


FORWARDERS = """\
/usr/bin/docker-proxy -proto tcp -host-ip 0.0.0.0 -host-port 31001 -container-ip 172.17.0.2 -container-port 30000
/usr/bin/docker-proxy -proto tcp -host-ip :: -host-port 31001 -container-ip 172.17.0.2 -container-port 30000
/usr/bin/docker-proxy -proto tcp -host-ip 10.78.0.2 -host-port 31002 -container-ip 172.17.0.3 -container-port 30000 \
-use-listen-fd
/usr/bin/docker-proxy -proto udp -host-ip :: -host-port 9 -container-ip 172.17.0.2 -container-port 30000
"""
TOLD = f"""\
{ONE} one 0.0.0.0:31001->30000/tcp, :::31001->30000/tcp
{TWO} two,other 10.78.0.2:31002->30000/tcp, 8000/tcp
"""


@pytest.mark.parametrize("ports", [FORWARDERS, TOLD, TOLD + FORWARDERS])
def test_a_container_is_chosen_by_the_port_it_publishes(ports: str) -> None:
    found = servers_in(two(ports))
    assert [(server.port, server.address) for server in found] == [(31001, "127.0.0.1"), (31002, "10.78.0.2")]
    assert choose(found, 31002, "box").launcher.pid == 20
    assert found[0].listens == ("127.0.0.1", 30000)


def test_a_port_that_the_engine_tells_counts_where_the_networks_are_not_known() -> None:
    look = two(TOLD)
    without = survey(**{name: look[name].text for name in look if name != "addresses"})
    assert [server.port for server in servers_in(without)] == [31001, 31002]


def test_ports_that_are_published_as_a_row_are_matched_one_by_one() -> None:
    row = f"{ONE} one 0.0.0.0:31000-31002->29999-30001/tcp\n"
    assert servers_in(two(row))[1].port == 31001
    assert servers_in(two(row))[0].launcher.pid == 20


def test_two_that_cannot_be_told_apart_by_a_port_are_told_with_what_would_help() -> None:
    found = servers_in(two(f"{ONE} one 31000/tcp\n{TWO} two \n"))
    with pytest.raises(UserError, match=r"2 SGLang.*port 30000 .container one.: .*container two") as caught:
        choose(found, None, "box")
    assert "-p 31001:30000" in str(caught.value.advice)
    with pytest.raises(UserError):
        choose(found, 30000, "box")


def test_where_the_engine_tells_this_account_nothing_two_are_left_to_one_that_it_tells() -> None:
    with pytest.raises(UserError) as caught:
        choose(servers_in(two("")), 31001, "box")
    assert caught.value.advice == (
        "Choose one with --port, as an account that may ask which port leads to which (`sudo docker ps`)."
    )


def test_a_port_of_the_host_is_none_of_a_container_that_has_it_in_its_own_network() -> None:
    """The one runs on the host itself, the other in a network of its own."""
    found = servers_in(two("", second="10.78.0.2"))
    assert {server.port for server in found} == {30000}
    assert choose(found, 30000, "box").launcher.pid == 20
    assert {server.launcher.pid: server.address for server in found} == {10: "172.17.0.2", 20: "127.0.0.1"}


def test_the_port_within_a_container_does_where_it_is_one_servers_alone() -> None:
    only = servers_in(two(TOLD))[:1]
    assert choose(only, 30000, "box").port == 31001
    with pytest.raises(UserError, match="has port 5") as caught:
        choose(only, 5, "box")
    assert "port 31001 (30000 in container one)" in str(caught.value.advice)


def test_a_port_of_which_the_engine_tells_this_account_nothing_is_believed() -> None:
    """Podman tells nobody else; the one container there is may well be published at any port."""
    (only,) = servers_in(two(""))[:1]
    assert choose([only], 31002, "box") is only


@given(st.text(alphabet="docker-proxy ->:0123456789/tcpabcdef,\n", max_size=200))
def test_no_odd_list_of_ports_breaks_the_reading(ports: str) -> None:
    assert len(servers_in(two(ports))) == 2


# who may ask


def podman(looked_by: int | None, groups: str = ROOTLESS.format(ONE), user: str = "joe") -> Server:
    launcher = Process(77, 1, tuple(LAUNCH.split()), user=user, groups=groups, contained=Contained(looked_by=looked_by))
    return Server(launcher, (), 30000, "127.0.0.1")


def test_podman_is_asked_by_its_own_account_alone() -> None:
    """For any other it makes folders, and knows nothing."""
    assert podman(1002).enter == ("podman", "exec", "-i", ONE)
    assert podman(0).enter == ("nsenter", "-t", "77", "-U", "-m", "-r", "--")
    with pytest.raises(ToolError, match="kept by the podman of joe, which tells nobody else; log in as joe"):
        podman(1001).enter  # noqa: B018
    with pytest.raises(ToolError, match=rf"`sudo -iu joe podman logs {ONE[:12]}` would give its log"):
        log_place(podman(1001), {}, "ann")
    with pytest.raises(ToolError, match="podman of 1002,"):
        log_place(podman(0, user="232071"), {}, "root")


def test_the_podman_of_root_is_root_s() -> None:
    groups = f"0::/machine.slice/libpod-{ONE}.scope/container"
    assert podman(0, groups, "root").enter[0] == "podman"
    with pytest.raises(ToolError, match=rf"`sudo podman logs {ONE[:12]}`"):
        log_place(podman(1001, groups, "root"), {}, "ann")


def test_docker_is_asked_by_whoever_it_lets() -> None:
    assert podman(1001, f"0::/system.slice/docker-{ONE}.scope").enter == ("docker", "exec", "-i", ONE)


def test_the_python_of_a_container_needs_no_path_where_its_engine_knows_it() -> None:
    docker = podman(1001, f"0::/system.slice/docker-{ONE}.scope")
    assert interpreter(docker) == "python3"
    with pytest.raises(ToolError, match="cannot be told"):
        interpreter(podman(1001))


# logs


def in_docker(to: str, **contained: object) -> Server:
    server = podman(0, f"0::/system.slice/docker-{ONE}.scope", "root")
    known = replace(Contained(looked_by=0, first=70), **contained)  # type: ignore[arg-type]
    return replace(server, launcher=replace(server.launcher, outputs={2: to} if to else {}, contained=known))


def test_what_the_container_was_started_with_logs_to_its_engine() -> None:
    by_engine = LogPlace("docker", ONE, f"docker logs {ONE[:12]}")
    assert log_place(in_docker("pipe:[5]"), {70: {2: "pipe:[5]"}}, "root") == by_engine
    assert log_place(in_docker("/dev/pts/0"), {70: {2: "/dev/pts/0"}}, "root") == by_engine
    assert (
        log_place(in_docker("pipe:[6]"), {70: {2: "pipe:[5]"}, 71: {0: "pipe:[6]", 1: "pipe:[5]"}}, "root") == by_engine
    )
    assert log_place(in_docker(""), {}, "bob") == by_engine


@pytest.mark.parametrize("to", ["pipe:[5]", "/dev/null", "/dev/pts/1", ""])
def test_a_server_that_was_started_in_a_running_container_is_not_in_its_log(to: str) -> None:
    with pytest.raises(
        NotRecorded, match=f"docker exec.*none of its lines; it writes to {to or 'a place'}".replace("[", r"\[")
    ):
        log_place(in_docker(to, entered=True, first=None), {}, "root")


def test_a_terminal_of_its_own_is_none_of_the_container_s() -> None:
    with pytest.raises(NotRecorded, match="logs to a terminal"):
        log_place(in_docker("/dev/pts/1"), {70: {2: "/dev/pts/0"}}, "root")


def test_a_file_in_a_container_is_read_there() -> None:
    within = log_place(in_docker("/var/log/a b.log", within=True), {}, "bob")
    assert within.enter == ("docker", "exec", "-i", ONE)
    assert within.name == "/var/log/a b.log"
    assert within.by_hand == f"sudo docker exec {ONE[:12]} cat '/var/log/a b.log'"
    assert log_place(in_docker("/var/log/a.log"), {}, "root").name == "/proc/77/fd/2"


def test_who_entered_a_container_is_told_by_the_numbers_of_its_processes() -> None:
    look = two("")
    assert [p.contained.entered for p in read_processes(look)] == [False, False]
    entered = survey(**{**{name: look[name].text for name in look}, "firsts": "/proc/20/status\n"})
    assert [p.contained.entered for p in read_processes(entered)] == [True, False]
    assert [p.contained.first for p in read_processes(entered)] == [None, 20]


# servers that are gone


def test_a_container_that_ended_is_told_where_no_server_runs() -> None:
    look = survey(ended='docker one\tExited (137) 2 minutes ago\t"python -m sglang.launch_server"\n')
    with pytest.raises(
        NotRecorded, match=r"be seen on box; container one exited \(137\) 2 minutes ago .*docker logs one"
    ):
        choose([], None, "box", ended_in(look))
    assert ended_in(survey(ended="odd\n\t\t\n")) == ""
