"""How the program takes standard streams that are closed, full or of another encoding."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ppagent.errors import ExitStatus

ROOT = Path(__file__).parents[2]
LOG = "[2026-05-02 14:24:25 PP0] Decode batch, #running-req: 3, #token: 9, token usage: 0.01, cuda graph: True, "
LINE = LOG + "gen throughput (token/s): 95.50, #queue-req: 0\n"


def shell(command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    roots = os.pathsep.join(str(ROOT / name) for name in (".", "tools", "evals", "prompts"))
    known = {**os.environ, "PYTHONPATH": roots, "PP": f"{sys.executable} -m ppagent", **environment}
    return subprocess.run(["bash", "-c", command], env=known, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_is_no_reason_to_fail(closed: str, tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_text(LINE * 9, "utf-8")
    done = shell(f"$PP diagnose {log} -o {tmp_path / 'report.txt'} {closed}")
    assert done.returncode == ExitStatus.NOT_ENOUGH_EVIDENCE
    assert "Traceback" not in done.stderr
    assert "NOT ENOUGH EVIDENCE" in (tmp_path / "report.txt").read_text("utf-8")


def test_a_full_disk_is_said_in_a_sentence() -> None:
    done = shell("$PP tools > /dev/full")
    assert (done.returncode, done.stderr) == (
        ExitStatus.FAILURE,
        "ppagent: The output cannot be written: No space left on device.\n",
    )


def test_what_was_typed_cannot_steer_the_terminal() -> None:
    done = shell("$PP $'to\\e[31mols'; $PP tools $'--x\\e]0;owned\\a'; $PP diagnose $'/no\\e[2Jsuch'")
    assert "\x1b" not in done.stderr and "\x07" not in done.stderr
    assert done.stderr.count("ppagent") >= 3


@pytest.mark.parametrize("name", ["", "~nobody-of-that-name/x", "a" * 5000, "a\x01b"])
def test_a_name_that_can_be_no_file_is_wrong_usage(name: str) -> None:
    for command in ("diagnose", "check", "flags", "predict"):
        done = shell(f'$PP {command} "$NAME"', NAME=name)
        assert "Traceback" not in done.stderr
        assert done.returncode == ExitStatus.USAGE


def test_bytes_that_are_no_text_are_refused() -> None:
    done = shell("head -c 100000 /dev/urandom | $PP diagnose -")
    assert done.returncode == ExitStatus.USAGE
    assert "no text" in done.stderr
