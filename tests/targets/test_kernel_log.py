"""Where the kernel log is read from: what dmesg still holds, else the journal."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from ppagent.targets.remote.sections import script

WHOLE = "[    0.000000] Linux version 6.8\n[  812.5] NVRM: Xid (PCI:0000:01:00): 31, pid=1\n"
LATE = "[7654321.0] docker0: port 1(veth1) entered blocking state\n[7654322.0] NVRM: Xid (PCI:0000:01:00): 31, pid=1\n"
JOURNAL = (
    "2026-10-03T06:32:01-07:00 box kernel: Linux version 6.8\n"
    "2026-10-04T06:32:01-07:00 box kernel: NVRM: Xid (PCI:0000:02:00): 79, GPU has fallen off the bus.\n"
)


def kernel_log(folder: Path, dmesg: str | None, journal: str | None) -> subprocess.CompletedProcess[str]:
    """What the survey's part on the kernel log says on a host whose programs give these; None where rights lack."""
    for name, text in (("dmesg", dmesg), ("journalctl", journal)):
        program = folder / name
        (folder / f"{name}.txt").write_text(text or "")
        denied = f"echo '{name}: Operation not permitted' >&2; exit 1"
        program.write_text(f"#!/bin/sh\n{denied if text is None else f'cat {folder}/{name}.txt'}\n")
        program.chmod(0o755)
    part = re.search(r"^kernel_log\(\) \{.*?^\}", script("survey.sh"), re.DOTALL | re.MULTILINE)
    assert part is not None
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    words = ["sh", "-c", f"LC_ALL=C; export LC_ALL; {part[0]}; kernel_log"]
    return subprocess.run(words, env={"PATH": path}, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize(
    ("dmesg", "journal", "code", "lines"),
    [
        (WHOLE, JOURNAL, "31", 2),
        (LATE, JOURNAL, "79", 2),
        (LATE, "", "31", 2),
        (LATE, None, "31", 2),
        (None, JOURNAL, "79", 2),
    ],
)
def test_the_log_that_reaches_back_to_the_boot_is_read(
    tmp_path: Path, dmesg: str | None, journal: str | None, code: str, lines: int
) -> None:
    said = kernel_log(tmp_path, dmesg, journal).stdout.splitlines()
    assert len(said) == lines
    assert f"): {code}, " in said[-1]


def test_without_rights_it_is_empty_and_says_why(tmp_path: Path) -> None:
    ran = kernel_log(tmp_path, None, None)
    assert ran.stdout == ""
    assert "dmesg: Operation not permitted" in ran.stderr
