"""A live server as a target: the same artifacts, in the same forms, as a recording of it would hold."""

import json
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ppagent.errors import NotRecorded, ToolError, UserError
from ppagent.plugins import ToolContext, discover
from ppagent.targets.live import LiveTarget
from ppagent.targets.live_host import LiveHost, Windows
from ppagent.targets.open import open_target
from ppagent.targets.open_live import open_live
from ppagent.targets.remote.address import Address
from ppagent.targets.remote.inspection import INSPECT_S
from ppagent.targets.remote.link import Link, Running
from ppagent.targets.remote.local_link import LocalLink
from ppagent.targets.remote.ssh_link import SshLink
from ppagent.targets.target import Artifact, Shared, Target
from tests.fixtures.fake_server import CONFIG, PACKAGE, FakeServer
from tests.fixtures.sshd import Sshd, free_port, processes

SHORT = Windows(cpu_s=0.1, gpu_s=0.2, scrapes=2, scrape_gap_s=0.05)


@pytest.fixture
def target(link: Link, fake_server: FakeServer) -> LiveTarget:
    return LiveTarget({"box": LiveHost(link, port=fake_server.port, windows=SHORT)}, link.kind)


def facts_of(target: Target) -> dict[str, object]:
    """Every fact that the built-in tools find."""
    facts: dict[str, object] = {}
    context = ToolContext(target)
    for source in discover():
        for tool in source.tools if source.origin == "built in" else ():
            if any(field.is_required() for field in tool.arguments.model_fields.values()):
                continue
            try:
                for finding in tool.run(context, tool.arguments()):
                    facts.update(finding.facts)
            except ToolError as error:
                facts[f"missing {tool.name}"] = str(error)
    return facts


def test_it_is_a_target_of_its_kind(target: LiveTarget, link: Link) -> None:
    assert isinstance(target, Target)
    assert (target.kind, target.name, target.hosts) == (link.kind, "box", ("box",))


def test_the_tools_answer_from_it_as_from_a_recording(target: LiveTarget, fake_server: FakeServer) -> None:
    facts = facts_of(target)
    assert facts["launch.pp_size"] == 2
    assert facts["launch.port"] == fake_server.port
    assert facts["env.NCCL_DEBUG"] == "WARN"
    assert facts["engine.version"] == "0.5.10"
    assert facts["model.num_hidden_layers"] == CONFIG["num_hidden_layers"]
    assert facts["args.pp_size"] == 2
    assert facts["internal.slot_limit"] == 4
    assert facts["loads.running"] == 3
    assert facts["decode.lines"] == 50
    assert facts["start.ready"] is True
    assert facts["metrics.running_reqs"] == 3
    assert facts["metrics.generation_rate"] > 0
    assert str(facts["source.slots_at"]).endswith("scheduler_pp_mixin.py: init_pp_loop_state, line 6")
    assert set(facts["host.scheduler_cpu_percent"]) == {"sglang::scheduler_PP0", "sglang::scheduler_PP1"}
    assert facts["host.threads"] == os.cpu_count()
    assert "\npydantic==" in target.text("box", Artifact.PACKAGES)
    assert "missing bench.results" in facts


def test_a_recording_made_of_it_gives_the_same_facts(target: LiveTarget, tmp_path: Path) -> None:
    folder = tmp_path / "hosts" / "box"
    for artifact in Artifact:
        try:
            text = target.text("box", artifact)
        except ToolError:
            continue
        (folder / artifact.value).parent.mkdir(parents=True, exist_ok=True)
        (folder / artifact.value).write_text(text)
    tree = target.source("box")
    for path in tree.files():
        (folder / "source" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "source" / path).write_text(tree.read(path))
    for name, text in target.scrapes("box"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)

    live, recorded = facts_of(target), facts_of(open_target(str(tmp_path)))

    told = {name for name in live if not name.startswith("missing")}
    assert told <= set(recorded)
    assert {name for name in told if recorded[name] != live[name]} == set()


def test_no_secret_is_in_anything_that_a_target_gives(target: LiveTarget) -> None:
    for artifact in Artifact:
        try:
            assert "hf_0123456789" not in target.text("box", artifact)
        except ToolError:
            continue
    assert '"HF_TOKEN": "[masked]"' in target.text("box", Artifact.PROCESSES)
    assert "HF_TOKEN=[masked]\n" in target.text("box", Artifact.ENVIRONMENT)


def test_the_package_is_the_one_of_that_very_process(target: LiveTarget) -> None:
    tree = target.source("box")
    assert "sglang/srt/managers/scheduler_pp_mixin.py" in tree.files()
    assert tree.read("sglang/version.py") == (PACKAGE / "sglang" / "version.py").read_text()
    (hit,) = tree.grep(r"self\.pp_loop_size: int", "sglang/srt")
    assert (hit.path, hit.line) == ("sglang/srt/managers/scheduler_pp_mixin.py", 6)
    assert tree.grep("no such words") == ()


@pytest.mark.parametrize("path", ["../x", "sglang/../../etc/passwd", "/etc/passwd", "other/x.py", ""])
def test_no_path_leads_out_of_the_package(target: LiveTarget, path: str) -> None:
    tree = target.source("box")
    with pytest.raises(ToolError):
        tree.read(path)
    with pytest.raises(ToolError):
        tree.grep("x", path)


def test_nothing_is_written_and_no_process_is_left(sshd: Sshd, tmp_path: Path) -> None:
    server = FakeServer(tmp_path / "server").start()
    link = SshLink.to(Address("box"), config=sshd.ssh_config())
    try:
        time.sleep(0.1)
        before, running = _files(tmp_path, PACKAGE, Path.home() / ".ssh"), {pid for pid, _, _ in processes()}
        target = LiveTarget({"box": LiveHost(link, port=server.port, windows=SHORT)}, "ssh")
        facts_of(target)
        target.source("box").grep("pp_loop_size")
        list(target.log("box"))
        target.close()
        assert _files(tmp_path, PACKAGE, Path.home() / ".ssh") == before
        until = time.monotonic() + 5
        while (left := _of_ours(running, server)) and time.monotonic() < until:
            time.sleep(0.05)
        assert left == set()
    finally:
        server.stop()


def _files(*folders: Path) -> dict[str, tuple[int, int]]:
    found = (path for folder in folders if folder.exists() for path in folder.rglob("*") if path.is_file())
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in found}


def _of_ours(before: set[int], server: FakeServer) -> set[tuple[int, str]]:
    """Processes that are new, lead back to an sshd, a shell of ours or a timeout, and still run."""
    new = {pid: (parent, name) for pid, parent, name in processes() if pid not in before}
    names = ("sh", "timeout", "cat", "find", "grep")
    return {(pid, name) for pid, (_, name) in new.items() if name in names and b"ppagent" in _line(pid)}


def _line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


@pytest.mark.parametrize("survived", [0, 1, 2, 3, 5])
def test_a_connection_that_is_cut_at_any_point_keeps_what_was_collected(
    own_sshd: Sshd, fake_server: FakeServer, survived: int
) -> None:
    own_sshd.start()
    link = _CutAfter(SshLink.to(Address("box"), config=own_sshd.ssh_config()), own_sshd, survived)
    target = LiveTarget({"box": LiveHost(link, port=fake_server.port, windows=SHORT)}, "ssh")
    facts = facts_of(target)
    missing = [reason for name, reason in facts.items() if name.startswith("missing")]
    assert any("lost" in str(reason) for reason in missing)
    assert ("host.threads" in facts) is (survived >= 1)
    assert ("engine.version" in facts) is (survived >= 2)
    again = facts_of(target)
    assert again.get("host.threads") == facts.get("host.threads")
    target.close()


class _CutAfter:
    """A link whose connection is cut when it is used once more than so many times."""

    kind = "ssh"

    def __init__(self, link: SshLink, server: Sshd, survived: int) -> None:
        self.name = link.name
        self._link, self._server, self._left = link, server, survived

    def start(self, argv: list[str], *, timeout_s: float, stdin: bytes = b"") -> Running:
        self._use()
        return self._link.start(argv, timeout_s=timeout_s, stdin=stdin)

    def open_tcp(self, address: str, port: int, *, timeout_s: float) -> object:
        self._use()
        return self._link.open_tcp(address, port, timeout_s=timeout_s)

    def close(self) -> None:
        self._link.close()

    def _use(self) -> None:
        self._left -= 1
        if self._left == -1:
            self._server.cut()
            time.sleep(0.2)


AS_ROOT = os.getuid() == 0 and shutil.which("setpriv") is not None


@pytest.mark.skipif(not AS_ROOT, reason="needs root and setpriv to look as nobody")
def test_what_may_not_be_read_is_said_with_the_command_that_would_give_it(fake_server: FakeServer) -> None:
    target = LiveTarget({"box": LiveHost(_AsNobody(), port=fake_server.port, windows=SHORT)}, "local")
    assert "sglang.launch_server" in target.text("box", Artifact.LAUNCH)
    pid = fake_server.pid
    for artifact, command in {
        Artifact.ENVIRONMENT: f"sudo cat /proc/{pid}/environ",
        Artifact.SERVER_LOG: f"sudo ls -l /proc/{pid}/fd/2",
        Artifact.DMESG: "sudo dmesg",
    }.items():
        if artifact is Artifact.DMESG and Path("/proc/sys/kernel/dmesg_restrict").read_text().strip() == "0":
            continue
        with pytest.raises(ToolError, match=f"nobody.*`{command}`"):
            target.text("box", artifact)
    assert json.loads(target.text("box", Artifact.SERVER_INFO))["pp_size"] == 2


class _AsNobody(LocalLink):
    def start(self, argv: list[str], *, timeout_s: float, stdin: bytes = b"") -> Running:
        words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *argv]
        return super().start(words, timeout_s=timeout_s, stdin=stdin)


# naming targets


def test_several_servers_on_a_host_are_listed_and_chosen_by_port(fake_server: FakeServer, tmp_path: Path) -> None:
    other = FakeServer(tmp_path, words=("--pp-size", "1")).start()
    try:
        with pytest.raises(UserError, match="SGLang servers run on local") as caught:
            open_live("local").text("local", Artifact.LAUNCH)
        assert f"port {fake_server.port}: " in caught.value.wrong
        assert f"port {other.port}: " in caught.value.wrong
        assert f"--port {other.port}" in open_target("local", port=other.port).text("local", Artifact.LAUNCH)
    finally:
        other.stop()


def test_a_port_where_nothing_runs_is_said() -> None:
    target = open_live("local", port=free_port(), windows=SHORT)
    with pytest.raises((ToolError, UserError)):
        target.text("local", Artifact.SERVER_INFO)


@pytest.fixture
def configured(sshd: Sshd, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    config = sshd.ssh_config("box")
    both = config.with_name("config-both")
    both.write_text(config.read_text() + config.read_text().replace("Host box", "Host second")
                    + f"Host dead\n  HostName 127.0.0.1\n  Port {free_port()}\n")  # fmt: skip
    monkeypatch.setenv("PPAGENT_SSH_CONFIG", str(both))
    yield both


def test_hosts_are_named_as_the_ssh_configuration_has_them(configured: Path, fake_server: FakeServer) -> None:
    for name in ("ssh://box", "box"):
        target = open_target(name, port=fake_server.port)
        assert (target.kind, target.hosts) == ("ssh", ("box",))
        assert "--pp-size 2" in target.text("box", Artifact.LAUNCH)


def test_several_hosts_are_read_side_by_side_stage_0_first(configured: Path, tmp_path: Path) -> None:
    servers = [FakeServer(tmp_path / str(rank), words=("--nnodes", "2", "--node-rank", str(rank))) for rank in (1, 0)]
    hosts = {}
    for label, server in zip(("a", "b"), servers, strict=True):
        server.start()
        hosts[label] = LiveHost(_Slow(SshLink.to(Address("box"), config=configured)), port=server.port, windows=SHORT)
    target = LiveTarget(hosts, "ssh")
    try:
        assert target.hosts == ("b", "a")
        assert target.text("b", Artifact.VERSION) == target.text("a", Artifact.VERSION) == "0.5.10\n"
        assert _Slow.most_at_once == 2
        assert sum(1 for _ in target.log("a")) == sum(1 for _ in target.log("b")) > 50
    finally:
        target.close()
        for server in servers:
            server.stop()


class _Slow:
    """A link that takes its time, and counts how many are at work at once."""

    kind, name, slow_s = "ssh", "slow", 0.4
    at_once = most_at_once = 0
    lock = threading.Lock()

    def __init__(self, link: SshLink) -> None:
        self._link = link

    def start(self, argv: list[str], *, timeout_s: float, stdin: bytes = b"") -> Running:
        with _Slow.lock:
            _Slow.at_once += 1
            _Slow.most_at_once = max(_Slow.most_at_once, _Slow.at_once)
        time.sleep(self.slow_s)
        with _Slow.lock:
            _Slow.at_once -= 1
        return self._link.start(argv, timeout_s=timeout_s, stdin=stdin)

    def open_tcp(self, address: str, port: int, *, timeout_s: float) -> object:
        return self._link.open_tcp(address, port, timeout_s=timeout_s)

    def close(self) -> None:
        self._link.close()


def test_a_host_that_cannot_be_reached_stands_as_missing_beside_one_that_can(
    configured: Path, fake_server: FakeServer
) -> None:
    target = open_live("ssh://box,ssh://dead", port=fake_server.port, windows=SHORT)
    assert target.hosts == ("box", "dead")
    assert "--pp-size 2" in target.text("box", Artifact.LAUNCH)
    with pytest.raises(ToolError, match="dead .* cannot be reached: Connection refused"):
        target.text("dead", Artifact.LAUNCH)
    facts = facts_of(target)
    assert facts["launch.pp_size"] == 2
    assert "cannot be reached" in facts["tool.unread"][0]
    with pytest.raises(UserError, match="cannot be reached"):
        open_live("ssh://dead")


def test_a_host_named_twice_is_refused(configured: Path) -> None:
    with pytest.raises(UserError, match="names a host twice"):
        open_live("local,local")


def test_a_live_server_has_no_results_and_no_words_of_a_user(target: LiveTarget) -> None:
    for shared in Shared:
        with pytest.raises(NotRecorded):
            target.shared(shared)
    with pytest.raises(ToolError, match="no host 'x'"):
        target.text("x", Artifact.LAUNCH)


def test_help_loads_neither_paramiko_nor_httpx() -> None:
    program = (
        "import sys; import ppagent.targets.open, ppagent.targets.open_live, ppagent_tools.shell, ppagent.cli.main\n"
        "print([name for name in ('paramiko', 'httpx2', 'httpcore2', 'cryptography') if name in sys.modules])"
    )
    roots = Path(__file__).parents[2]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join((str(roots), str(roots / "tools")))}
    import sys

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=env, timeout=INSPECT_S)
    assert done.stdout.strip() == "[]", done.stderr
