"""Two nodes of one deployment, each a machine of its own behind a bastion, named as a newcomer names them."""

import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from ppagent.agent.investigation import investigate
from ppagent.bench.reach import reach
from ppagent.brains.rules import RulesBrain
from ppagent.changes.plan import make_plan
from ppagent.errors import NotRecorded, ToolError, UserError
from ppagent.plugins import discover
from ppagent.targets.live_host import Windows
from ppagent.targets.open import open_target
from ppagent.targets.open_live import open_live
from ppagent.targets.remote.link import Running
from ppagent.targets.remote.ssh_link import SshLink
from ppagent.targets.target import Artifact
from tests.fixtures.machine import Machine, cannot_be_had
from tests.fixtures.sshd import MISSING, Sshd

SHORT = Windows(cpu_s=0.1, gpu_s=0.2, scrapes=2, scrape_gap_s=0.05)
WHY_NOT = MISSING or cannot_be_had()

pytestmark = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT or "-")


@dataclass
class Cluster:
    """A bastion, and two nodes behind it."""

    bastion: Sshd
    nodes: tuple[Machine, Machine]
    config: Path


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    root = tmp_path_factory.mktemp("cluster")
    bastion = Sshd(root / "bastion").start()
    started = []
    for rank in (0, 1):
        words = ("--nnodes", "2", "--node-rank", str(rank), "--pp-size", "2", "--enable-metrics")
        started.append(Machine(root / f"node{rank}", words).start())
    yield Cluster(bastion, (started[0], started[1]), configured(root, bastion, started))
    for machine in started:
        machine.stop()
    bastion.stop()


def configured(root: Path, bastion: Sshd, machines: Sequence[Machine]) -> Path:
    """As it grows in a home: a file that includes others, one for the way in, one for what lies behind it."""
    folder = root / "conf.d"
    folder.mkdir()
    (folder / "10-bastion").write_text(bastion.ssh_config("bastion").read_text())
    text = ""
    for rank, machine in enumerate(machines):
        text += machine.sshd.ssh_config(f"node{rank}").read_text()
    (folder / "20-nodes").write_text(f"{text}Host node*\n  ProxyJump bastion\n")
    config = root / "config"
    config.write_text(f"# mine\nInclude {folder}/*\n\nHost *\n  ServerAliveInterval 30\n")
    return config


@pytest.fixture(autouse=True)
def at_home(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PPAGENT_SSH_CONFIG", str(cluster.config))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)


def test_a_newcomer_names_a_host_and_nothing_else(cluster: Cluster) -> None:
    target = open_target("node0", windows=SHORT, look=True)
    try:
        assert cluster.bastion.sessions()
        found = investigate(target, discover(), brain=RulesBrain(), planner=make_plan)
    finally:
        target.close()  # type: ignore[attr-defined]
    assert (found.target_kind, found.target_name, found.target_words) == ("ssh", "node0", "node0")
    assert found.facts.number("args.pp_size") == 2
    assert (found.facts.number("decode.lines") or 0) > 0


class Noted:
    """Notes when each host's commands begin and end, and makes them take a while."""

    slow_s = 0.3

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.spans: dict[str, list[tuple[float, float]]] = {}
        self._lock = threading.Lock()
        start = SshLink.start

        def noted(link: SshLink, argv: Sequence[str], *, timeout_s: float, stdin: bytes = b"") -> Running:
            began = time.monotonic()
            time.sleep(self.slow_s)
            running = start(link, argv, timeout_s=timeout_s, stdin=stdin)
            with self._lock:
                self.spans.setdefault(link.name, []).append((began, time.monotonic()))
            return running

        monkeypatch.setattr(SshLink, "start", noted)

    def overlap(self, one: str, other: str) -> bool:
        """Whether some command of one host was under way while one of the other was."""
        return any(a < d and c < b for a, b in self.spans[one] for c, d in self.spans[other])


def test_both_are_read_side_by_side_the_one_with_the_first_stage_first(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted = Noted(monkeypatch)
    target = open_live("node1,node0", windows=SHORT, ahead=True)
    try:
        assert target.hosts == ("node0", "node1")
        assert target.words == "node1,node0"
        ports = [f"--port {machine.server.port} " for machine in cluster.nodes]
        assert [port in target.text(host, Artifact.LAUNCH) for host, port in zip(target.hosts, ports, strict=True)]
        logs = [b"".join(target.log(host)) for host in target.hosts]
        assert logs == [machine.server.log.read_bytes() for machine in cluster.nodes]
        with cluster.nodes[0].server.log.open("ab") as log:
            log.write(b"one more line\n")
        assert b"".join(target.log("node0")) == logs[0] + b"one more line\n"
        assert noted.overlap("node0", "node1")
    finally:
        target.close()


def test_only_the_first_node_answers_for_the_server_and_the_other_is_not_taken_for_an_odd_one(cluster: Cluster) -> None:
    target = open_live("node0,node1", windows=SHORT)
    try:
        assert '"pp_size": 2' in target.text("node0", Artifact.SERVER_INFO)
        for artifact in (Artifact.SERVER_INFO, Artifact.LOADS):
            with pytest.raises(NotRecorded, match="node1 is node 1, which serves no API: node 0 answers for all"):
                target.text("node1", artifact)
        assert len(target.scrapes("node1")) == 2
    finally:
        target.close()


def test_a_load_or_a_trial_reaches_the_first_node_whatever_the_order_and_no_other(cluster: Cluster) -> None:
    reached = reach("node1,node0", None, {})
    try:
        assert reached.name == f"ssh://node0/{cluster.nodes[0].server.port}"
        assert [host.link.name for host in reached.beside] == ["node1"]
    finally:
        reached.close()
    with pytest.raises(UserError, match="node1 is node 1 of its deployment, and node 0 alone serves the API"):
        reach("node1", None, {})


def test_a_node_that_dies_in_between_is_missing_and_the_other_is_not(cluster: Cluster) -> None:
    target = open_live("node0,node1", windows=SHORT)
    try:
        assert "--node-rank 1" in target.text("node1", Artifact.LAUNCH)
        cluster.nodes[1].sshd.cut()
        with pytest.raises(ToolError, match="the connection to node1 is lost"):
            target.text("node1", Artifact.VERSION)
        assert target.text("node0", Artifact.VERSION) == "0.5.10\n"
    finally:
        target.close()
