"""Odd terminals: narrow, without colours, without width, closed, full, of another encoding."""

import os
import pty
import re
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile_cases import INCIDENTS
from hostile_runs import ROOT, environment

CASE = str(INCIDENTS / "kimi-k26-pp8")


def on_a_terminal(words: list[str], **environ: str) -> str:
    """What the command writes to a terminal, as bytes would reach it."""
    here, there = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "ppagent", *words], stdin=subprocess.DEVNULL, stdout=there, stderr=there, cwd=ROOT,
        env={**environment(), **environ},
    ) as process:  # fmt: skip
        shown = b"".join(_read(here, process))
    os.close(here)
    os.close(there)
    assert process.returncode == 0
    return shown.decode("utf-8").replace("\r\n", "\n")


def _read(handle: int, process: subprocess.Popen[bytes]) -> Iterator[bytes]:
    """All that is written. The other end is kept open by the caller meanwhile: once it is closed, the kernel may drop
    what was not read yet."""
    while True:
        ended = process.poll() is not None
        if select.select([handle], [], [], 0.1)[0]:
            yield os.read(handle, 1 << 16)
        elif ended:
            return


@pytest.mark.parametrize("kind", [{"TERM": "dumb"}, {"TERM": "xterm-256color", "NO_COLOR": "1"}, {"TERM": ""}])
def test_no_colours_where_none_are_wanted(kind: dict[str, str]) -> None:
    shown = on_a_terminal(["diagnose", CASE], COLUMNS="80", **kind)
    assert "DIAGNOSED" in shown
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]m", shown)


@pytest.mark.parametrize("lines", ["24", "0", ""])
@pytest.mark.parametrize("columns", ["40", "1", "0", "-5", "x", "99999999"])
def test_any_width_gives_the_whole_report(columns: str, lines: str) -> None:
    shown = on_a_terminal(["diagnose", CASE], COLUMNS=columns, LINES=lines, TERM="dumb")
    assert "micro-batches" in shown and "set_internal_state" in shown
    if columns == "40":
        verdict = shown[shown.index("DIAGNOSED") :].partition("\n\n")[0].splitlines()
        assert len(verdict) > 3 and max(map(len, verdict)) <= 40


def piped(command: str, **environ: str) -> subprocess.CompletedProcess[str]:
    known = environment(PP=f"{sys.executable} -m ppagent", CASE=CASE, **environ)
    return subprocess.run(
        ["bash", "-c", command], env=known, cwd=ROOT, capture_output=True, text=True, errors="replace", check=False
    )


@pytest.mark.parametrize(
    "command",
    ["diagnose $CASE", "diagnose $CASE --format html", "flags --version 0.5.10", "tools", "explain PP001", "--help"],
)
def test_a_reader_that_goes_away_is_no_traceback(command: str) -> None:
    done = piped(f"$PP {command} | head -c 10 >/dev/null")
    assert done.stderr == ""


@pytest.mark.parametrize(
    "command",
    ["diagnose $CASE", "diagnose $CASE --format json", "flags --version 0.5.10", "predict $CASE", "explain PP001"],
)
def test_a_full_disk_is_a_sentence(command: str) -> None:
    done = piped(f"$PP {command} > /dev/full")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "ppagent: The output cannot be written: No space left on device."


def test_a_file_on_a_full_disk_is_a_sentence(tmp_path: Path) -> None:
    done = piped(f"ulimit -f 8; trap '' XFSZ; $PP diagnose $CASE -o {tmp_path}/report.html")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr and "cannot be written: File too large" in done.stderr


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_a_terminal_without_the_characters_shows_escapes(encoding: str) -> None:
    done = piped("$PP diagnose $CASE && $PP tools", PYTHONIOENCODING=encoding, LC_ALL="C", PYTHONUTF8="0")
    assert done.returncode == 0 and "Traceback" not in done.stderr
