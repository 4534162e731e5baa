"""Logs that another program keeps: Kubernetes, systemd. The real kubectl and the real journalctl, where they are."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ppagent.errors import NotRecorded, ToolError
from ppagent.targets.remote.local_link import LocalLink
from ppagent.targets.remote.log_place import LogPlace, log_place
from ppagent.targets.remote.log_stream import read_log
from ppagent.targets.remote.pods import Pod, pod_of
from ppagent.targets.remote.processes import Process
from ppagent.targets.remote.sections import Section, Sections, script
from ppagent.targets.remote.servers import Server
from tests.fixtures.kube_api import CONTAINER, NAMESPACE, POD, KubeApi

ID = "0123456789abcdef" * 4
IN_POD = f"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podffff.slice/cri-containerd-{ID}.scope"
LINES = [b"[2026-11-29 20:03:%02d] line %d\n" % (number % 60, number) for number in range(500)]
LISTED = f"coredns-x_kube-system_coredns-{'9' * 64}.log\n{POD}_{NAMESPACE}_{CONTAINER}-{ID}.log\n"


def server(groups: str = IN_POD, namespace: str = "", unit_age_s: float = 60, **env: str) -> Server:
    launcher = Process(77, 1, ("python", "-m", "sglang.launch_server"), groups=groups, env=env, namespace=namespace,
                       outputs={1: "pipe:[5]", 2: "pipe:[5]"}, age_s=unit_age_s)  # fmt: skip
    return Server(launcher, (), 30000, "127.0.0.1")


def survey(listed: str) -> Sections:
    return Sections({"pods": Section(listed.encode(), 0, "")}, "")


def place_of(one: Server, listed: str = "") -> LogPlace:
    return log_place(one, {}, "me", pod_of(one, survey(listed)))


# which pod it is


def test_the_node_names_the_pod_of_a_container() -> None:
    log = f"/var/log/containers/{POD}_{NAMESPACE}_{CONTAINER}-{ID}.log"
    assert pod_of(server(), survey(LISTED)) == Pod(POD, NAMESPACE, CONTAINER, log)
    assert place_of(server(), LISTED).by_hand == f"kubectl logs -n {NAMESPACE} {POD} -c {CONTAINER}"


def test_within_a_pod_its_own_name_is_known() -> None:
    inside = server("0::/", NAMESPACE, HOSTNAME=POD, KUBERNETES_SERVICE_HOST="10.0.0.1")
    assert pod_of(inside, survey("")) == Pod(POD, NAMESPACE)
    assert place_of(inside).by_hand == f"kubectl logs -n {NAMESPACE} {POD}"


def test_what_is_not_known_of_a_pod_is_left_to_the_reader() -> None:
    assert place_of(server()).by_hand == "kubectl logs -n NAMESPACE POD"


@pytest.mark.parametrize(
    ("groups", "keeper"),
    [(f"0::/docker/{ID}", "docker"), (f"0::/kubepods/podf/docker-{ID}.scope", "docker"),
     (f"0::/machine.slice/libpod-{ID}.scope/container", "podman")],
)  # fmt: skip
def test_what_docker_or_podman_keeps_is_asked_of_them(groups: str, keeper: str) -> None:
    place = place_of(server(groups), LISTED)
    assert (place.kind, place.name, place.by_hand) == (keeper, ID, f"sudo {keeper} logs {ID[:12]}")
    assert server(groups).enter == (keeper, "exec", "-i", ID)


def test_a_container_that_neither_keeps_is_entered_by_its_mounts() -> None:
    assert server().enter == ("nsenter", "-t", "77", "-m", "-r", "--")
    assert server("0::/user.slice").enter == ()


AS_ROOT = os.getuid() == 0 and shutil.which("nsenter") is not None and shutil.which("unshare") is not None


@pytest.mark.skipif(not AS_ROOT, reason="needs root and nsenter")
def test_entering_by_mounts_sees_the_files_of_the_container(tmp_path: Path) -> None:
    from ppagent.targets.remote.link import run

    script = f"mount -t tmpfs none {tmp_path} && echo inside > {tmp_path}/file && exec sleep 60"
    with subprocess.Popen(["unshare", "-m", "sh", "-c", script], stdout=subprocess.DEVNULL) as there:
        try:
            enter = Server(Process(there.pid, 1, (), groups=IN_POD), (), 1, "").enter
            until = time.monotonic() + 10
            while not (ran := run(LocalLink(), [*enter, "cat", f"{tmp_path}/file"], timeout_s=5)).ok:
                assert time.monotonic() < until, ran.complaint
                time.sleep(0.1)
            assert ran.text == "inside\n"
            assert not (tmp_path / "file").exists()
        finally:
            there.kill()


# reading it


def test_the_log_on_the_node_comes_without_what_its_runtime_wrote_around_it(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    path.write_bytes(
        b"2026-11-29T20:03:38.1Z stderr F [2026-11-29 20:03:38] one\n"
        b"2026-11-29T20:03:38.2Z stdout P half of \n"
        b"2026-11-29T20:03:38.3Z stdout F a line\n"
        b"2026-11-29T20:03:38.4Z stderr F \n"
    )
    place = LogPlace("pod", ID, "", more=(str(path), NAMESPACE, POD, CONTAINER))
    assert list(read_log(LocalLink(), place)) == [b"[2026-11-29 20:03:38] one\n", b"half of a line\n", b"\n"]


KUBECTL = pytest.mark.skipif(shutil.which("kubectl") is None, reason="there is no kubectl")


@pytest.fixture
def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[KubeApi]:
    running = KubeApi(ID, b"".join(LINES).decode())
    monkeypatch.setenv("KUBECONFIG", str(running.config(tmp_path / "kubeconfig")))
    monkeypatch.setenv("HOME", str(tmp_path))
    yield running
    running.stop()


@KUBECTL
def test_kubectl_gives_the_log_of_a_pod_that_is_known_and_writes_nothing(api: KubeApi, tmp_path: Path) -> None:
    place = LogPlace("pod", ID, "", more=("", NAMESPACE, POD, CONTAINER))
    assert list(read_log(LocalLink(), place)) == LINES
    assert any(f"/pods/{POD}/log?container={CONTAINER}" in path for path in api.asked)
    assert [path.name for path in tmp_path.iterdir()] == ["kubeconfig"]


@KUBECTL
def test_kubectl_finds_the_pod_of_a_container(api: KubeApi) -> None:
    place = LogPlace("pod", ID, "", more=("/nowhere", "", "", ""))
    assert list(read_log(LocalLink(), place)) == LINES
    assert any(f"fieldSelector=spec.nodeName%3D{os.uname().nodename}" in path for path in api.asked)
    with pytest.raises(ToolError, match="its pod is not known; `kubectl logs -n NAMESPACE POD` would give it"):
        list(read_log(LocalLink(), LogPlace("pod", "f" * 64, Pod("", "").command, more=("", "", "", ""))))


@KUBECTL
def test_what_kubectl_refuses_is_said_with_the_command(api: KubeApi) -> None:
    place = LogPlace("pod", ID, Pod("other", "x", "c").command, more=("", "x", "other", "c"))
    with pytest.raises(ToolError, match=r"cannot be read: .+; `kubectl logs -n x other -c c` would give it"):
        list(read_log(LocalLink(), place))


def test_without_kubectl_the_command_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("sh", "head", "timeout", "cat", "sleep", "kill"):
        (tmp_path / name).symlink_to(shutil.which(name) or f"/bin/{name}")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match=f"kubectl is not there; `kubectl logs -n {NAMESPACE} {POD}` would give it"):
        list(read_log(LocalLink(), place_of(server("0::/", NAMESPACE, HOSTNAME=POD, KUBERNETES_SERVICE_HOST="x"))))


# systemd


WRITER = Path("/lib/systemd/systemd-journal-remote")
JOURNAL = pytest.mark.skipif(
    shutil.which("journalctl") is None or not WRITER.exists(),
    reason="there is no journalctl, or nothing to write for it",
)


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A real journal, read by the real journalctl, which is only told where it lies."""
    now_us = int(time.time() * 1e6)
    rows = []
    for number in range(300):
        for unit in ("sglang.service", "other.service"):
            rows.append(
                _entry(now_us - (300 - number) * 1_000_000, number, f"_SYSTEMD_UNIT={unit}", f"{unit} {number}")
            )
    rows.append(_entry(now_us, 400, "_SYSTEMD_UNIT=user@7.service\n_SYSTEMD_USER_UNIT=mine.service", "my own"))
    export = tmp_path / "export"
    export.write_text("\n".join((*rows, "")))
    folder = tmp_path / "journal"
    folder.mkdir()
    subprocess.run([WRITER, "-o", folder / "x.journal", export], check=True, capture_output=True)
    program = tmp_path / "bin" / "journalctl"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shutil.which("journalctl")} -D {folder} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")


def _entry(at_us: int, number: int, fields: str, message: str) -> str:
    return (f"__REALTIME_TIMESTAMP={at_us}\n__MONOTONIC_TIMESTAMP={number * 1_000_000 + 1}\n_BOOT_ID={'1' * 32}\n"
            f"{fields}\nMESSAGE={message}\n")  # fmt: skip


@JOURNAL
def test_the_journal_of_a_unit_is_read_from_the_start_of_the_server_on(journal: None) -> None:
    units = "0::/system.slice/sglang.service"
    place = place_of(_to_journal(units, 95.0))
    lines = list(read_log(LocalLink(), place))
    assert lines[-1] == b"sglang.service 299\n"
    assert 90 <= len(lines) <= 101
    assert all(line.startswith(b"sglang.service ") for line in lines)


@JOURNAL
def test_a_unit_of_a_persons_own_manager_is_found(journal: None) -> None:
    place = place_of(_to_journal("0::/user.slice/user-7.slice/user@7.service/app.slice/mine.service", 900.0))
    assert list(read_log(LocalLink(), place)) == [b"my own\n"]
    assert place.by_hand == "sudo journalctl --user-unit mine.service"


@JOURNAL
def test_a_journal_that_is_read_long_after_the_look_at_the_host_still_begins_with_the_launch(journal: None) -> None:
    found = _to_journal("0::/system.slice/sglang.service", 95.0)
    looked_at_long_ago = replace(found, launcher=replace(found.launcher, age_s=1.0))
    assert len(list(read_log(LocalLink(), place_of(looked_at_long_ago)))) >= 90


@pytest.mark.parametrize(
    ("mode", "kind", "says"),
    [
        (0o644, NotRecorded, r"of local is not kept: the journal holds nothing of it since"),
        pytest.param(
            0, ToolError, "Permission denied: the journal is for root .*; `sudo journalctl -u x.service` would give it",
            marks=pytest.mark.skipif(os.getuid() == 0, reason="root may read everything"),
        ),
    ],
)  # fmt: skip
def test_an_empty_journal_is_told_from_one_that_may_not_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int, kind: type[ToolError], says: str
) -> None:
    """journalctl prints nothing and ends with status 0 in both cases (systemd 252)."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "journalctl").symlink_to("/bin/true")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    held = tmp_path / "journal" / "id" / "system.journal"
    held.parent.mkdir(parents=True)
    held.touch(mode)
    there = script("log.sh").replace("/var/log/journal", f"{tmp_path}/journal").replace("/run/log/journal", "/none")
    monkeypatch.setattr("ppagent.targets.remote.log_stream.script", lambda name: there)
    with pytest.raises(kind, match=says):
        list(read_log(LocalLink(), place_of(_to_journal("0::/system.slice/x.service", 5.0))))


@pytest.mark.parametrize(
    ("lines", "goes_to_file"),
    [
        ("StandardOutput=append:{file}\nStandardError=append:{file}\n", True),
        ("StandardOutput=file:{file}\n", True),
        ("StandardOutput=file:{file}\nStandardError=inherit\n", True),
        ("StandardOutput=append:/other\n[Service]\nStandardOutput=truncate:{file}\n", True),
        ("StandardOutput=append:{file}\nStandardError=journal\n", False),
        ("", False),
    ],
)
def test_a_log_whose_place_only_its_unit_tells_is_read_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: str, goes_to_file: bool
) -> None:
    """Seen from an account that may not look into the process: `systemctl cat` tells what `systemctl show` does not,
    which gives the word `append` without the file (systemd 252)."""
    log = tmp_path / "sgl.log"
    log.write_text("in the file\n")
    unit = f"# /etc/systemd/system/x.service\n[Service]\nExecStart=/x\n{lines.format(file=log)}"
    for name, says in (("systemctl", unit), ("journalctl", "in the journal\n")):
        (tmp_path / name).write_text(f"#!/bin/sh\ncat <<'END'\n{says}END\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    place = LogPlace("journal", "x.service", "journalctl -u x.service", 0, ("_SYSTEMD_UNIT", "hidden"))
    assert list(read_log(LocalLink(), place)) == [b"in the file\n" if goes_to_file else b"in the journal\n"]
    seen = replace(place, more=("_SYSTEMD_UNIT",))
    assert list(read_log(LocalLink(), seen)) == [b"in the journal\n"]
    if goes_to_file:
        log.unlink()
        with pytest.raises(ToolError, match=f"its unit writes it to {log}, which .*; `sudo cat {log}` would give it$"):
            list(read_log(LocalLink(), place))


def _to_journal(groups: str, age_s: float) -> Server:
    up_s = float(Path("/proc/uptime").read_text().split()[0])
    launcher = Process(77, 1, ("python",), groups=groups, outputs={2: "socket:[9]"}, started_s=up_s - age_s)
    return Server(launcher, (), 30000, "127.0.0.1")


def test_a_file_with_a_blank_or_a_quote_in_its_name_is_one_word_of_the_command_by_hand() -> None:
    assert LogPlace("file", "/proc/1/fd/2", "/logs/it's $(mine).log").by_hand == (
        "sudo cat '/logs/it'\"'\"'s $(mine).log'"
    )
    assert LogPlace("file", "/proc/1/fd/2", "/logs/server.log").by_hand == "sudo cat /logs/server.log"
