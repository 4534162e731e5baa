"""A connection that breaks off, or falls silent, after any number of bytes: what came by then is told, the rest is
missing, nothing waits for ever and nothing is left on the host."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ppagent.agent.investigation import Investigation, investigate
from ppagent.brains.rules import RulesBrain
from ppagent.changes.plan import make_plan
from ppagent.cli.main import main
from ppagent.errors import ExitStatus, UserError
from ppagent.plugins import discover
from ppagent.record.folder import prepare
from ppagent.record.incident import Words
from ppagent.record.outcome import End
from ppagent.record.recorder import Recorder
from ppagent.targets.live import LiveTarget
from ppagent.targets.live_host import LiveHost, Windows
from ppagent.targets.recording import Recording
from ppagent.targets.remote import ssh_pulse
from ppagent.targets.remote.address import Address
from ppagent.targets.remote.link import run, speaks_of_loss
from ppagent.targets.remote.ssh_link import SshLink
from tests.fixtures.fake_server import FakeServer
from tests.fixtures.relay import Relay
from tests.fixtures.sshd import Sshd, processes, running

SHORT = Windows(cpu_s=0.1, gpu_s=0.2, scrapes=2, scrape_gap_s=0.05)


@dataclass
class Far:
    """An sshd behind a relay, with the configuration that leads there."""

    sshd: Sshd
    relay: Relay

    @property
    def config(self) -> Path:
        own, self.sshd.port = self.sshd.port, self.relay.port
        config = self.sshd.ssh_config("box", "HostKeyAlias box")
        self.sshd.port = own
        return config


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    with running(tmp_path_factory.mktemp("sshd")) as server:
        server.known_hosts.write_text(f"box {server.known_hosts.read_text().split(' ', 1)[1]}")
        yield server


@pytest.fixture
def far(known: Sshd, request: pytest.FixtureRequest) -> Iterator[Far]:
    after, freeze = getattr(request, "param", (None, False))
    relay = Relay(known.port, after, freeze=freeze)
    yield Far(known, relay)
    relay.close()


def target_of(far: Far, server: FakeServer) -> LiveTarget:
    link = SshLink.to(Address("box"), config=far.config)
    return LiveTarget({"box": LiveHost(link, port=server.port, windows=SHORT, ahead=True)}, "ssh")


def diagnosed(target: LiveTarget) -> Investigation:
    return investigate(target, discover(), brain=RulesBrain(), planner=make_plan)


def left_of(far: Far, pids: set[int]) -> set[int]:
    """Which of those processes still run, some seconds later."""
    until = time.monotonic() + 10
    while (left := pids & {pid for pid, _, _ in processes()}) and time.monotonic() < until:
        time.sleep(0.05)
    return left


def beneath(sshd: Sshd) -> set[int]:
    """Every process that serves a connection of an sshd, and what it runs."""
    if sshd.process is None:
        return set()
    found, grown = {sshd.process.pid}, True
    while grown:
        more = {pid for pid, parent, _ in processes() if parent in found} - found
        found |= more
        grown = bool(more)
    return found - {sshd.process.pid}


@pytest.mark.parametrize("far", [(size, False) for size in (3500, 5500, 9000, 40_000)], indirect=True)
def test_a_line_that_is_cut_leaves_a_report_of_what_came(far: Far, fake_server: FakeServer) -> None:
    try:
        target = target_of(far, fake_server)
    except UserError as error:  # not every sshd is equally wordy until then
        assert "ended the log-in" in error.wrong
        return
    target.look()
    time.sleep(0.05)
    ran = beneath(far.sshd)
    found = diagnosed(target)
    target.close()
    assert far.relay.over_at is not None
    assert found.status == "finished"
    assert any(speaks_of_loss(each.why) for each in found.missing)
    assert left_of(far, ran) == set()


@pytest.mark.parametrize("far", [(6000, False), (30_000, False)], indirect=True)
def test_a_recording_of_it_is_whole_and_says_what_it_lacks(far: Far, fake_server: FakeServer, tmp_path: Path) -> None:
    target = target_of(far, fake_server)
    outcome = Recorder(target, prepare(tmp_path / "r", force=False), Words(), window_s=1, watch=lambda _: None).record()
    target.close()
    assert outcome.end is End.LOST
    assert any(speaks_of_loss(lack.why) for lack in outcome.lacks)
    for host in Recording(tmp_path / "r").hosts:
        for path in (tmp_path / "r/hosts" / host).glob("*.json"):
            json.loads(path.read_text())


@pytest.mark.parametrize("far", [(size, True) for size in (5000, 20_000)], indirect=True)
def test_a_line_that_falls_silent_is_noticed(
    far: Far, fake_server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ssh_pulse, "EVERY_S", 0.2)
    monkeypatch.setattr(ssh_pulse, "SILENT_S", 1.5)
    target = target_of(far, fake_server)
    found = diagnosed(target)
    ended = time.monotonic()
    ran = beneath(far.sshd)
    target.close()
    far.relay.close()
    assert far.relay.over_at is not None
    assert ended - far.relay.over_at < 30
    assert any(speaks_of_loss(each.why) for each in found.missing)
    assert left_of(far, ran) == set()


def test_a_slow_command_and_a_quiet_connection_are_not_taken_for_lost(
    far: Far, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ssh_pulse, "EVERY_S", 0.1)
    monkeypatch.setattr(ssh_pulse, "SILENT_S", 1.0)
    link = SshLink.to(Address("box"), config=far.config)
    time.sleep(2.5)
    assert run(link, ["sh", "-c", "sleep 2.5; echo done"], timeout_s=20).text == "done\n"
    link.close()


@pytest.mark.parametrize(
    ("far", "status"),
    [((500, False), ExitStatus.FAILURE), ((7000, False), ExitStatus.NOT_ENOUGH_EVIDENCE)],
    indirect=["far"],
)
def test_the_exit_status_says_what_it_came_to(
    far: Far,
    status: ExitStatus,
    fake_server: FakeServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PPAGENT_SSH_CONFIG", str(far.config))
    assert main(["diagnose", "ssh://box", "--port", str(fake_server.port), "--format", "json"]) == status
    told = capsys.readouterr()
    if status is ExitStatus.FAILURE:
        assert "box does not speak SSH with us: it hung up" in told.err or "ended the log-in" in told.err
    else:
        assert json.loads(told.out)["verdict"] == "not_enough_evidence"
