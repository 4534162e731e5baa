"""A real SGLang server of the lab: started with a fault, waited for, stopped with all its children."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2 as httpx

from ppagent.errors import UserError
from ppagent_lab.install import python_of
from ppagent_lab.shapes import Case, Device

READY = b"The server is fired up and ready to roll!"
START_LIMIT_S = 240.0
STOP_LIMIT_S = 6.0
DECODE_LOG_INTERVAL = 41
"""Not a multiple of any number of slots, so that the decode lines, one in so many forwards, visit all of them."""


@dataclass(frozen=True)
class Server:
    """A server that answers."""

    process: subprocess.Popen[bytes]
    port: int
    log: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def set_slot_limit(self, limit: int) -> None:
        """Raises UserError where the server did not take it."""
        body = {"server_args": {"pp_max_micro_batch_size": limit}}
        answer = httpx.post(f"{self.url}/set_internal_state", json=body, timeout=60)
        if answer.status_code != httpx.codes.OK or '"updated":false' in answer.text.replace(" ", "").lower():
            raise UserError(f"The server refused the slot limit {limit}: {answer.text[:200]}", "See its log.")

    def rank_pids(self) -> dict[int, int]:
        """PP rank to pid, by the titles that SGLang gives its schedulers (`sglang::scheduler_PP2`)."""
        ranks = {}
        for entry in Path("/proc").iterdir():
            title = _title(entry) if entry.name.isdigit() else ""
            if _group(entry) == self.process.pid and "scheduler" in title and "PP" in title:
                ranks[int("".join(c for c in title.split("PP")[1] if c.isdigit()) or 0)] = int(entry.name)
        return ranks


def command(case: Case, lab: Path, port: int, extra: Sequence[str] = ()) -> list[str]:
    """The launch command. A flag of `extra` or of the case replaces the lab's own."""
    own = {
        "--model-path": str(lab / "models" / f"tiny{case.layers}"),
        "--load-format": "dummy",
        "--device": "cpu",
        "--attention-backend": "torch_native",
        "--sampling-backend": "pytorch",
        "--grammar-backend": "none",
        "--dtype": "float32",
        "--host": "127.0.0.1",
        "--port": str(port),
        "--context-length": "4096",
        "--max-total-tokens": "16384",
        "--decode-log-interval": str(DECODE_LOG_INTERVAL),
        "--log-level-http": "warning",
        "--pp-size": str(case.pp),
    }
    given = (*case.arguments, *extra)
    kept = [word for flag, value in own.items() if flag not in given for word in (flag, value)]
    python = python_of(lab, case.version)
    return [str(python), "-m", "sglang.launch_server", *kept, "--disable-overlap-schedule", "--enable-metrics", *given]


def environment(case: Case, lab: Path, device: Device) -> dict[str, str]:
    """The lab's own variables and the case's, and nothing of the caller's but where programs and the user live."""
    cores = os.cpu_count() or 1
    bind = "|".join(str(rank % cores) for rank in range(case.pp)) if case.version != "0.5.10" else "all"
    mine = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return mine | {
        "PYTHONPATH": str(lab / "device"),
        "SGLANG_USE_CPU_ENGINE": "1",
        "SGLANG_CPU_OMP_THREADS_BIND": bind,
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
        **device.environment(),
        **case.environment,
    }


@contextmanager
def serving(
    case: Case, lab: Path, port: int, log: Path, device: Device | None = None, extra: Sequence[str] = ()
) -> Iterator[Server]:
    """Starts the server and stops its whole process group at the end, whatever happens.

    Raises UserError where it is not ready in time or ends before that.
    """
    with log.open("wb") as out:
        process = subprocess.Popen(
            command(case, lab, port, extra),
            env=environment(case, lab, device or case.device),
            stdout=out,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            cwd=lab,
            start_new_session=True,
        )
    try:
        _await(process, log)
        yield Server(process, port, log)
    finally:
        stop(process)


def await_refusal(case: Case, lab: Path, port: int, log: Path) -> None:
    """Runs a command that SGLang should refuse. Raises UserError where it starts all the same."""
    try:
        with serving(case, lab, port, log):
            raise UserError("The server started, though it should have been refused.", "Look at the planted fault.")
    except UserError as error:
        if "ended" not in str(error):
            raise


def stop(process: subprocess.Popen[bytes]) -> None:
    """SIGTERM to the group, then SIGKILL: a scheduler that waits for a stopped neighbour never ends by itself."""
    for number in (signal.SIGCONT, signal.SIGTERM):
        _signal(process.pid, number)
    until = time.monotonic() + STOP_LIMIT_S
    while time.monotonic() < until and process.poll() is None:
        time.sleep(0.2)
    _signal(process.pid, signal.SIGKILL)
    process.wait()
    time.sleep(1)


def _await(process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + START_LIMIT_S
    while time.monotonic() < until:
        if READY in log.read_bytes():
            return
        if process.poll() is not None:
            raise UserError(f"The server ended with status {process.returncode}.", f"See the end of {log}.")
        time.sleep(0.5)
    raise UserError(f"The server was not ready within {START_LIMIT_S:.0f} s.", f"See {log}.")


def _signal(group: int, number: signal.Signals) -> None:
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return


def _title(process: Path) -> str:
    try:
        return (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def _group(process: Path) -> int | None:
    try:
        return os.getpgid(int(process.name)) if process.name.isdigit() else None
    except OSError:
        return None
