"""How long one look at a host takes against plain `ssh` with the same commands, without and with added latency.

    python scripts/bench_round_trips.py [--latency-ms 80] [--rounds 3]

A real sshd and a stand-in for an SGLang server run on loopback; a relay in front of the sshd holds every byte back for
half the latency each way. One look: connect, survey, what is installed, log, state, load, one scrape of the metrics;
nothing that waits on purpose. Plain ssh runs every command of these by itself, first with a new connection each, then
over one shared connection (ControlMaster). Times are medians; ratios are of the same run. (Time with latency - time
without) / latency is the number of round trips that stand one after another.
"""

import argparse
import os
import queue
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1])]

from ppagent.targets.live_host import LiveHost, Windows  # noqa: E402
from ppagent.targets.remote.address import Address  # noqa: E402
from ppagent.targets.remote.sections import script  # noqa: E402
from ppagent.targets.remote.ssh_link import SshLink  # noqa: E402
from ppagent.targets.target import Artifact  # noqa: E402
from tests.fixtures.fake_server import FakeServer  # noqa: E402
from tests.fixtures.sshd import MISSING, Sshd  # noqa: E402

ARTIFACTS = (Artifact.LAUNCH, Artifact.PROCESSES, Artifact.ENVIRONMENT, Artifact.HOST, Artifact.VERSION,
             Artifact.PACKAGES, Artifact.MODEL_CONFIG, Artifact.SERVER_INFO, Artifact.LOADS)  # fmt: skip


class Relay:
    """Passes on what comes in on a port of its own, each way later by `delay_s`."""

    def __init__(self, to_port: int, delay_s: float) -> None:
        self._to_port, self._delay_s = to_port, delay_s
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self._to_port))
            for one, other in ((near, far), (far, near)):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._pass_on(one, other)

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        held: queue.Queue[tuple[float, bytes]] = queue.Queue()

        def read() -> None:
            piece = b"x"
            while piece:
                try:
                    piece = source.recv(1 << 16)
                except OSError:
                    piece = b""
                held.put((time.monotonic() + self._delay_s, piece))

        def write() -> None:
            while True:
                due, piece = held.get()
                time.sleep(max(0.0, due - time.monotonic()))
                try:
                    if not piece:
                        sink.shutdown(socket.SHUT_WR)
                        return
                    sink.sendall(piece)
                except OSError:
                    return

        for work in (read, write):
            threading.Thread(target=work, daemon=True).start()

    def close(self) -> None:
        self._listener.close()


def one_look(config: Path, port: int) -> None:
    """What ppagent does."""
    link = SshLink.to(Address(config.name.removeprefix("config-")), config=config)
    host = LiveHost(link, port=port, windows=Windows(cpu_s=0, scrapes=1))
    for artifact in ARTIFACTS:
        host.text(artifact)
    host.scrapes()
    if sum(1 for _ in host.log()) < 50:
        raise SystemExit("the log was not read")
    host.close()


def same_by_hand(port: int, log: Path) -> list[str]:
    """The commands of such a look, one by one, as somebody types them after ssh."""
    text = script("survey.sh")
    functions = text[: text.index("\ns who ")]
    lines = re.findall(r"(?m)^s \w+ (.+)$", text)
    commands = [f"{functions}\n{line}" for line in lines]
    python = f"{sys.executable} -I -B -c 'import importlib.metadata as m; print([d.name for d in m.distributions()])'"
    fetch = [f"curl -s http://127.0.0.1:{port}{path}" for path in ("/server_info", "/v1/loads", "/metrics")]
    return [*commands, python, *fetch, f"cat {log}"]


def by_ssh(config: Path, commands: list[str], *options: str) -> None:
    for command in commands:
        subprocess.run(["ssh", "-F", str(config), *options, "box", command], check=False, capture_output=True)


@contextmanager
def shared_connection(config: Path, folder: Path) -> Iterator[tuple[str, ...]]:
    options = ("-o", f"ControlPath={folder}/mux")
    subprocess.run(["ssh", "-F", str(config), *options, "-o", "ControlMaster=yes", "-fN", "box"], check=True)
    yield options
    subprocess.run(["ssh", "-F", str(config), *options, "-O", "exit", "box"], check=True, capture_output=True)


def timed_s(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def measure(sshd: Sshd, server: FakeServer, latency_ms: float, folder: Path) -> dict[str, float]:
    """One time for each way, through a relay of that latency."""
    relay = Relay(sshd.port, latency_ms / 2000)
    own, sshd.port = sshd.port, relay.port
    config = sshd.ssh_config("box", "HostKeyAlias box")
    sshd.port = own
    commands = same_by_hand(server.port, server.log)

    def with_master() -> None:
        with shared_connection(config, folder) as options:
            by_ssh(config, commands, *options)

    try:
        return {
            "ppagent": timed_s(lambda: one_look(config, server.port)),
            "ssh, one connection": timed_s(with_master),
            "ssh, new each time": timed_s(lambda: by_ssh(config, commands)),
        }
    finally:
        relay.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency-ms", type=float, default=80.0)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    if MISSING:
        raise SystemExit(MISSING)
    os.environ.pop("SSH_AUTH_SOCK", None)
    with tempfile.TemporaryDirectory(prefix="ppagent-bench-") as name:
        folder = Path(name)
        sshd, server = Sshd(folder / "sshd").start(), FakeServer(folder / "server").start()
        known = sshd.known_hosts.read_text()
        sshd.known_hosts.write_text(known + "box " + known.split(" ", 1)[1])
        try:
            one_look(sshd.ssh_config("warm-up"), server.port)
            pairs = [[measure(sshd, server, ms, folder) for ms in (0, args.latency_ms)] for _ in range(args.rounds)]
        finally:
            sshd.stop()
            server.stop()
    near, far = ({way: statistics.median(pair[side][way] for pair in pairs) for way in pairs[0][0]} for side in (0, 1))
    count = len(same_by_hand(0, folder))
    print(f"one look: {count} commands and requests; latency added: {args.latency_ms:g} ms a round trip\n")
    print(f"{'':22}{'0 ms':>9}{'ratio':>8}{f'{args.latency_ms:g} ms':>10}{'ratio':>8}{'round trips':>13}")
    for way, near_s in near.items():
        trips = (far[way] - near_s) / args.latency_ms * 1000
        print(f"{way:22}{near_s:8.2f}s{near_s / near['ppagent']:8.1f}{far[way]:9.2f}s{far[way] / far['ppagent']:8.1f}"
              f"{trips:13.0f}")  # fmt: skip


if __name__ == "__main__":
    main()
