"""How long one look at a host takes against plain `ssh` with the same commands, without and with added latency.

    python scripts/bench_round_trips.py [--latency-ms 150] [--rounds 3] [--whole] [--no-plain] [--plain-rounds 3]

A real sshd and a stand-in for an SGLang server run on loopback; a relay in front of the sshd holds every byte back for
half the latency each way. One look: connect, survey, what is installed, log, state, load, one scrape of the metrics;
nothing that waits on purpose. Plain ssh runs every command of these by itself, first with a new connection each, then
over one shared connection (ControlMaster). `--whole` measures a whole `ppagent diagnose` as a process of its own, with
the time in which it watches metrics and cards. Times are medians; ratios are of the same run. The number of round trips
that stand one after another is (shortest time with latency - shortest time without) / latency; of a real line it is one
more, since the relay takes the connection itself.

What is measured is said as it comes, and the table is printed after each round: one takes two minutes on an idle
machine, nearly all of it plain ssh (`--plain-rounds 1` measures that once).

Measured on two cores, "before" while others used them too, so that its seconds are rough; it fetched one thing after
another. The round trips of a look now were counted at 1000 ms, where the machine's own time matters least (8.8 s); 4 of
the 8 are the log-in, 1 opens channels, 1 starts their shells, 1 is the survey, 1 all the rest.

                            0 ms    150 ms    round trips
    one look, before       1.6 s     5.1 s             23
    one look, now          1.0 s     1.9 s              8
    ssh, one connection    7.8 s    20.5 s             85
    ssh, new each time    15.0 s    56.1 s            274
    diagnose, before      29.1 s    33.3 s             28
    diagnose, now         11.3 s    12.5 s              9 (the rest passes while metrics are watched)

At 80 ms, on the same two cores without others (30 November 2026, two rounds, plain ssh in one):

                            0 ms     80 ms    round trips
    one look               0.65 s    1.21 s             7
    ssh, one connection    5.1 s    12.8 s             96
    ssh, new each time    13.2 s    35.1 s            274
    diagnose              11.2 s    12.0 s              9
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
from collections.abc import Callable, Iterator, Sequence
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

Times = dict[str, float]
LONGEST_S = 300.0
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
    host = LiveHost(link, port=port, windows=Windows(cpu_s=0, gpu_s=0, scrapes=1), ahead=True)
    host.look()
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


def ended(
    words: list[str], env: dict[str, str] | None = None, check: bool = False
) -> "subprocess.CompletedProcess[bytes]":
    """Runs a command without input; one that does not end is named and ends the benchmark."""
    try:
        return subprocess.run(
            words, env=env, check=check, capture_output=True, stdin=subprocess.DEVNULL, timeout=LONGEST_S
        )
    except subprocess.TimeoutExpired as error:
        raise SystemExit(f"it did not end within {LONGEST_S:g} s: {' '.join(words)[:200]}") from error


def by_ssh(config: Path, commands: list[str], *options: str) -> None:
    for command in commands:
        ended(["ssh", "-F", str(config), *options, "box", command])


@contextmanager
def shared_connection(config: Path, folder: Path) -> Iterator[tuple[str, ...]]:
    options = ("-o", f"ControlPath={folder}/mux")
    subprocess.run(["ssh", "-F", str(config), *options, "-o", "ControlMaster=yes", "-fN", "box"], check=True)
    yield options
    subprocess.run(["ssh", "-F", str(config), *options, "-O", "exit", "box"], check=True, capture_output=True)


def whole_diagnosis(config: Path, port: int) -> None:
    """`ppagent diagnose`, from the start of its process to its end."""
    roots = [str(Path(__file__).parents[1] / name) for name in ("", "tools", "prompts", "evals")]
    env = {**os.environ, "PPAGENT_SSH_CONFIG": str(config), "PYTHONPATH": os.pathsep.join(roots)}
    alias = config.name.removeprefix("config-")
    words = [sys.executable, "-m", "ppagent", "diagnose", f"ssh://{alias}", "--port", str(port), "--format", "json"]
    done = ended(words, env)
    if not done.stdout:
        raise SystemExit(done.stderr.decode(errors="replace"))


def timed_s(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def measure(
    sshd: Sshd, server: FakeServer, latency_ms: float, folder: Path, args: argparse.Namespace, plain: bool
) -> Times:
    """One time for each way, through a relay of that latency."""
    relay = Relay(sshd.port, latency_ms / 2000)
    own, sshd.port = sshd.port, relay.port
    config = sshd.ssh_config("box", "HostKeyAlias box")
    sshd.port = own
    commands = same_by_hand(server.port, server.log)

    def with_master() -> None:
        with shared_connection(config, folder) as options:
            by_ssh(config, commands, *options)

    ways = {"ppagent, one look": lambda: one_look(config, server.port)}
    if args.whole:
        ways["ppagent diagnose"] = lambda: whole_diagnosis(config, server.port)
    if plain:
        ways |= {"ssh, one connection": with_master, "ssh, new each time": lambda: by_ssh(config, commands)}
    times: Times = {}
    try:
        for name, way in ways.items():
            times[name] = timed_s(way)
            print(f"{name}, {latency_ms:g} ms: {times[name]:.2f} s", file=sys.stderr, flush=True)
    finally:
        relay.close()
    return times


def table(pairs: Sequence[tuple[Times, Times]], latency_ms: float) -> Iterator[str]:
    """A line for each way."""
    yield f"{'':22}{'0 ms':>9}{'ratio':>8}{f'{latency_ms:g} ms':>10}{'ratio':>8}{'round trips':>13}"
    near, far = (
        {way: [pair[side][way] for pair in pairs if way in pair[side]] for way in pairs[0][0]} for side in (0, 1)
    )
    first_near, first_far = (statistics.median(next(iter(side.values()))) for side in (near, far))
    for way, near_s in near.items():
        at_once, later = statistics.median(near_s), statistics.median(far[way])
        trips = (min(far[way]) - min(near_s)) / latency_ms * 1000
        yield (f"{way:22}{at_once:8.2f}s{at_once / first_near:8.1f}{later:9.2f}s{later / first_far:8.1f}{trips:13.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency-ms", type=float, default=150.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--whole", action="store_true", help="a whole ppagent diagnose too")
    parser.add_argument("--plain-rounds", type=int, default=3, help="in how many of the rounds plain ssh is measured")
    parser.add_argument("--no-plain", action="store_true", help="leave plain ssh out")
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
            pairs: list[tuple[Times, Times]] = []
            for number in range(args.rounds):
                plain = not args.no_plain and number < args.plain_rounds
                near, far = (measure(sshd, server, ms, folder, args, plain) for ms in (0, args.latency_ms))
                pairs.append((near, far))
                show(pairs, args.latency_ms)
        finally:
            sshd.stop()
            server.stop()


def show(pairs: Sequence[tuple[Times, Times]], latency_ms: float) -> None:
    """What the rounds so far come to."""
    count = len(same_by_hand(0, Path("log")))
    print(
        f"\none look: {count} commands and requests; latency added: {latency_ms:g} ms a round trip; round {len(pairs)}"
    )
    print("\n".join(table(pairs, latency_ms)), flush=True)


if __name__ == "__main__":
    main()
