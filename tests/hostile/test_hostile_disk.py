"""Disks that are full or closed while a result is written: nothing that was there is lost, nothing half is left."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ppagent.cli.common import write_file
from ppagent.errors import ExitStatus, UserError
from tests.hostile.hostile_cases import INCIDENTS
from tests.hostile.hostile_runs import environment, ppagent

SMALL = INCIDENTS / "lab-pp8-b"


def with_little_room(words: list[str], kib: int) -> subprocess.CompletedProcess[str]:
    """Runs the command line where no file can grow above `kib`, as on a disk without room."""
    limited = ["bash", "-c", f'ulimit -f {kib}; exec "$@"', "limited", sys.executable, "-m", "ppagent", *words]
    return subprocess.run(limited, env=environment(), capture_output=True, text=True, check=False)


def test_a_disk_without_room_keeps_the_old_report_and_the_new_one_goes_to_the_output(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    report.write_text("the old report")
    done = with_little_room(["diagnose", str(SMALL), "--format", "json", "-o", str(report)], kib=8)
    assert done.returncode == ExitStatus.FAILURE
    assert (
        done.stderr
        == f"ppagent: {report} cannot be written: File too large. Make room there, or name a file elsewhere.\n"
    )
    assert report.read_text() == "the old report"
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]
    assert json.loads(done.stdout)["verdict"] == "diagnosed"


def test_scores_are_shown_though_they_cannot_be_saved(tmp_path: Path) -> None:
    done = with_little_room(["eval", str(SMALL), "--json", str(tmp_path / "run.json"), "--workers", "1"], kib=1)
    assert done.returncode == ExitStatus.FAILURE
    assert "run.json cannot be written: File too large." in done.stderr
    assert "1 incident: 1 measured" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_report_replaces_the_old_one_with_its_rights_and_through_a_link(tmp_path: Path) -> None:
    report, link = tmp_path / "report.txt", tmp_path / "latest"
    report.write_text("old")
    report.chmod(0o640)
    link.symlink_to(report)
    write_file(link, "new")
    assert link.is_symlink()
    assert report.read_text() == "new"
    assert report.stat().st_mode & 0o777 == 0o640


def test_a_pipe_is_written_into_and_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE, text=True) as reader:
        write_file(pipe, "through")
        assert reader.communicate()[0] == "through"
    assert pipe.is_fifo()


def test_a_file_of_ones_own_in_a_closed_folder_is_still_written(tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir()
    report = folder / "report.txt"
    report.write_text("old")
    folder.chmod(0o555)
    done = ppagent(["diagnose", str(SMALL), "-o", str(report)], unprivileged=True)
    folder.chmod(0o755)
    assert done.returncode == ExitStatus.OK
    assert report.read_text().startswith("lab-pp8-b")


def test_a_folder_that_is_not_there_is_said_to_be_so(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="No such file or directory. Name a file in a folder that exists"):
        write_file(tmp_path / "no" / "report", "text")
