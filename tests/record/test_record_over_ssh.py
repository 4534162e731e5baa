"""Recording over a real SSH connection: two hosts at once, and a connection that breaks off."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from ppagent.cli.main import main
from ppagent.errors import ExitStatus
from ppagent.record.folder import prepare
from ppagent.record.incident import Words
from ppagent.record.outcome import End
from ppagent.record.recorder import Recorder
from ppagent.targets.live import LiveTarget
from ppagent.targets.live_host import LiveHost, Windows
from ppagent.targets.recording import Recording
from ppagent.targets.remote.address import Address
from ppagent.targets.remote.ssh_link import SshLink
from tests.fixtures.fake_server import FakeServer
from tests.fixtures.sshd import MISSING, Sshd, free_port

SHORT = Windows(gpu_s=0.5, scrapes=2, scrape_gap_s=0.3)
WORDS = Words("why?")


@pytest.fixture
def sshd(tmp_path: Path) -> Iterator[Sshd]:
    if MISSING:
        pytest.skip(MISSING)
    running = Sshd(tmp_path / "sshd").start()
    yield running
    running.stop()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[FakeServer]:
    running = FakeServer(tmp_path / "one", words=("--nnodes", "2", "--node-rank", "1", "--enable-metrics")).start()
    yield running
    running.stop()


def host(sshd: Sshd, server: FakeServer) -> LiveHost:
    return LiveHost(SshLink.to(Address("box"), config=sshd.ssh_config()), port=server.port, windows=SHORT)


def test_two_hosts_are_recorded_side_by_side_in_their_order(sshd: Sshd, server: FakeServer, tmp_path: Path) -> None:
    first = FakeServer(tmp_path / "zero", words=("--nnodes", "2", "--node-rank", "0", "--enable-metrics")).start()
    target = LiveTarget({"10.0.0.1": host(sshd, server), "b": host(sshd, first)}, "ssh")
    folder = prepare(tmp_path / "r", force=False)
    try:
        outcome = Recorder(target, folder, WORDS, window_s=1, watch=lambda _: None).record()
    finally:
        target.close()
        first.stop()
    recorded = Recording(tmp_path / "r")
    assert [got.host for got in outcome.got if got.name == "source"] == ["b"]
    assert outcome.end is End.FINISHED
    assert recorded.hosts == ("b", "host-1")
    for name, running in (("b", first), ("host-1", server)):
        assert (recorded.root / "hosts" / name / "server.log").read_bytes() == running.log.read_bytes()
        assert len(recorded.scrapes(name)) == 2


def test_a_connection_that_breaks_off_leaves_a_whole_recording(sshd: Sshd, server: FakeServer, tmp_path: Path) -> None:
    target = LiveTarget({"box": host(sshd, server)}, "ssh")

    def watch(sentence: str) -> None:
        if sentence.startswith("metrics"):
            assert sshd.cut()

    outcome = Recorder(target, prepare(tmp_path / "r", force=False), WORDS, window_s=1, watch=watch).record()
    target.close()
    assert outcome.end is End.LOST
    assert "lost" in outcome.why
    assert {"metrics", "gpus.csv", "loads.json"} <= {lack.name for lack in outcome.lacks}
    assert (tmp_path / "r/hosts/box/server.log").read_bytes() == server.log.read_bytes()
    assert "ended early" in yaml.safe_load((tmp_path / "r/incident.yaml").read_text())["notes"][1]
    assert not list((tmp_path / "r").rglob("*.part"))


def test_a_host_that_cannot_be_reached_is_said_once_and_makes_no_whole_recording(
    sshd: Sshd,
    server: FakeServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    config = sshd.ssh_config()
    config.write_text(f"{config.read_text()}Host away\n  HostName 127.0.0.1\n  Port {free_port()}\n")
    monkeypatch.setenv("PPAGENT_SSH_CONFIG", str(config))
    words = ["record", "box,away", "--port", str(server.port), "-o", str(tmp_path / "r"), "--seconds", "1"]
    assert main(words) == ExitStatus.FAILURE
    told = capsys.readouterr()
    assert told.out.count("lacking  away") == 1
    assert "hosts/away" not in told.out
    assert "nothing of away was recorded" in told.err
    assert Recording(tmp_path / "r").hosts == ("box",)
