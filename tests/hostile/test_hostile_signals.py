"""Signals at any moment: the status that says which, one sentence, and nothing left behind."""

import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest
from hostile_runs import ROOT, environment

LINE = (
    "[2026-05-02 14:24:25 PP0] Decode batch, #running-req: 3, #token: 9, token usage: 0.01, cuda graph: True, "
    "gen throughput (token/s): 95.50, #queue-req: 0\n"
)


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A packed recording that takes seconds to read."""
    folder = tmp_path_factory.mktemp("signals")
    host = folder / "case" / "hosts" / "box"
    host.mkdir(parents=True)
    (host / "server.log").write_text(LINE * 100_000, "utf-8")
    with tarfile.open(folder / "case.tar", "w") as packed:
        packed.add(folder / "case", "case")
    return folder / "case.tar"


def told(words: list[str], number: signal.Signals, temporary: Path) -> tuple[int, str]:
    """Starts a command, sends the signal once its files are unpacked, and returns its status and its last words."""
    # Whoever runs the tests may have them ignore a signal, as nohup does, and a child would go on ignoring it.
    heard = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
    heard += " signal.signal(signal.SIGHUP, signal.SIG_DFL);"
    code = f"{heard} from ppagent.cli.main import main; sys.exit(main(sys.argv[1:]))"
    environ = environment(TMPDIR=str(temporary), XDG_STATE_HOME=str(temporary / "state"))
    with subprocess.Popen(
        [sys.executable, "-c", code, *words],
        env=environ,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        while process.poll() is None and not list(temporary.glob("ppagent-packed-*/case/hosts/box/server.log")):
            time.sleep(0.02)
        process.send_signal(number)
        _out, said = process.communicate()
    return process.returncode, said


@pytest.mark.parametrize(("number", "status"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_diagnosis_that_is_told_to_end_leaves_nothing(
    number: str, status: int, archive: Path, tmp_path: Path
) -> None:
    ended, said = told(["diagnose", str(archive)], signal.Signals[number], tmp_path)

    assert ended == status
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []


def test_a_signal_that_is_ignored_stays_ignored(tmp_path: Path) -> None:
    marker = "import os; os.kill(os.getpid(), signal.SIGHUP)"
    code = (
        "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN);"
        f"from ppagent.cli.ending import told_to_end\nwith told_to_end() as told:\n    {marker}\nprint(told)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(), cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "[]\n")


def test_a_signal_that_came_while_things_were_put_back_counts_afterwards() -> None:
    code = (
        "import os, signal\nfrom ppagent.cli.ending import told_to_end\n"
        "from ppagent.trials.signals import signals_as_interrupts, signals_put_off\n"
        "with told_to_end() as told:\n"
        "    try:\n"
        "        with signals_as_interrupts(), signals_put_off():\n"
        "            os.kill(os.getpid(), signal.SIGTERM)\n"
        "            print('put back')\n"
        "    except KeyboardInterrupt:\n"
        "        print(told)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(), cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stdout == f"put back\n[{int(signal.SIGTERM)}]\n", done.stderr
