"""One case from end to end: start, plant, load, record, try the alternatives, stop, write the answer."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from ppagent_lab.load import Clients, clients
from ppagent_lab.rows import Window, bench_row
from ppagent_lab.server import Server, await_refusal, command, environment, serving
from ppagent_lab.shapes import Alternative, Case, Load
from ppagent_lab.written import Result, without_the_lab, write_refused, write_words

RECORD_S = 10
HANG_RANK = 1
HANG_SEEN_S = 75.0
"""With `--watchdog-timeout` at its lab value, the neighbours have said by then what they wait for."""
SETTLE_S = 12.0
ALONE_WARM_S, ALONE_S = 6.0, 18.0
DROPPED = ("source", "dmesg.txt", "environment.txt")
"""A published version's source is in a store; the lab machine's kernel log and shell say nothing of the server."""


def take(case: Case, lab: Path, out: Path, port: int) -> None:
    """Writes the measured incident `out`. Raises UserError where the server does not start (or starts, refused)."""
    with tempfile.TemporaryDirectory(prefix="lab-") as scratch:
        log = Path(scratch) / "server.log"
        if case.trouble == "refused":
            await_refusal(case, lab, port, log)
            launch = shlex.join([*_shown_environment(case, lab), *command(case, lab, port)])
            write_refused(case, out, launch, log.read_text(encoding="utf-8", errors="replace"))
            return
        results = _measured(case, lab, out, port, log)
        results += [_relaunched(case, lab, port, Path(scratch), each) for each in case.alternatives if not each.live]
    write_words(case, out, results)


def _measured(case: Case, lab: Path, out: Path, port: int, log: Path) -> list[Result]:
    """The recording, and what was measured: the case as it is first, then its live alternatives."""
    with serving(case, lab, port, log) as server:
        results = [_alone(case.load, server)] if case.alone and case.load is not None else []
        return results + _loaded(case, out, port, server)


def _alone(load: Load, server: Server) -> Result:
    """One client of the load by itself."""
    single = replace(load, clients=1)
    with clients(server.url, single) as running:
        assert running is not None
        time.sleep(ALONE_WARM_S)
        start = time.monotonic()
        time.sleep(ALONE_S)
        return Result(None, bench_row(running.requests, Window(start, time.monotonic()), single))


def _loaded(case: Case, out: Path, port: int, server: Server) -> list[Result]:
    with clients(server.url, case.load) as running:
        time.sleep(case.warm_s)
        results = [] if running is None else [Result(None, _measure(case, running))]
        if case.trouble == "hang":
            os.kill(server.rank_pids()[HANG_RANK], signal.SIGSTOP)
            time.sleep(HANG_SEEN_S)
        _record(case, out, port)
        if running is not None:
            results += [_live(case, server, running, each) for each in case.alternatives if each.live]
        if case.trouble == "hang":
            os.kill(server.rank_pids()[HANG_RANK], signal.SIGCONT)
    return results


def _measure(case: Case, running: Clients) -> dict[str, object]:
    assert case.load is not None
    start = time.monotonic()
    time.sleep(case.measure_s)
    return bench_row(running.requests, Window(start, time.monotonic()), case.load)


def _live(case: Case, server: Server, running: Clients, change: Alternative) -> Result:
    server.set_slot_limit(int(change.set["--pp-max-micro-batch-size"]))
    time.sleep(SETTLE_S)
    return Result(change, _measure(case, running))


def _relaunched(case: Case, lab: Path, port: int, scratch: Path, change: Alternative) -> Result:
    """The case's server again with the change, under the same load."""
    arguments = _without(case.arguments, (*change.set, *change.unset))
    extra = [word for flag, value in change.set.items() for word in ((flag,) if value == "true" else (flag, value))]
    changed = replace(case, arguments=(*arguments, *extra), environment=case.environment | change.env)
    with (
        serving(changed, lab, port, scratch / "again.log", change.device) as server,
        clients(server.url, case.load) as running,
    ):
        assert running is not None
        time.sleep(case.warm_s)
        return Result(change, _measure(case, running))


def _without(arguments: tuple[str, ...], flags: tuple[str, ...]) -> tuple[str, ...]:
    """The arguments less these flags and their values."""
    kept: list[str] = []
    dropping = False
    for word in arguments:
        dropping = word in flags or (dropping and not word.startswith("--"))
        kept += [] if dropping else [word]
    return tuple(kept)


def _record(case: Case, out: Path, port: int) -> None:
    stated = [word for each in case.stated for word in ("--stated", each)]
    words = ["--question", case.question, "--title", case.title, *stated]
    done = subprocess.run(
        [sys.executable, "-m", "ppagent", "record", "local", "--port", str(port), "--seconds", str(RECORD_S)]
        + ["-o", str(out), "--force", *words],
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode not in (0, 3):
        raise RuntimeError(f"ppagent record ended with {done.returncode}: {done.stderr[-2000:]}{done.stdout[-2000:]}")
    for host in (out / "hosts").iterdir():
        for name in DROPPED:
            path = host / name
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        without_the_lab(host)
        host.rename(host.with_name("box"))


def _shown_environment(case: Case, lab: Path) -> list[str]:
    shown = environment(case, lab, case.device)
    return [f"{name}={value}" for name, value in shown.items() if name not in ("PATH", "HOME", "LANG")]
