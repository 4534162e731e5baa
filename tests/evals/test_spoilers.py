"""What happens to a recording before somebody looks at it, line by line."""

import shutil
from pathlib import Path

import pytest

from ppagent_evals.spoilers import LOG_SPOILERS, spoilers_of_folder

LINES = [
    "[2026-01-31 20:00:00] server_args=ServerArgs()\n",
    "[2026-01-31 20:00:01] The server is fired up and ready to roll!\n",
    *(f"[2026-01-31 20:01:{n % 60:02}] line {n}\n" for n in range(300)),
]


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    place = tmp_path / "case"
    for host in ("a", "b"):
        (place / "hosts" / host / "metrics").mkdir(parents=True)
        (place / "hosts" / host / "server.log").write_text("".join(LINES))
        (place / "hosts" / host / "server_info.json").write_text("{}")
        for n in (1, 2, 3):
            (place / "hosts" / host / "metrics" / f"{n}.prom").write_text("x 1\n")
    (place / "incident.yaml").write_text("id: case\n")
    return place


def spoiled(recording: Path, label: str) -> set[str]:
    """The files that are left of a copy."""
    copy = recording.parent / "copy"
    shutil.copytree(recording, copy)
    dict(spoilers_of_folder(recording))[label](copy)
    return {path.relative_to(copy).as_posix() for path in copy.rglob("*") if path.is_file()}


def test_a_rotated_log_begins_after_the_ready_line() -> None:
    assert LOG_SPOILERS["rotated, its start gone"](LINES) == LINES[2:]


def test_a_rotated_log_without_a_ready_line_loses_its_first_third() -> None:
    assert LOG_SPOILERS["rotated, its start gone"](LINES[2:]) == LINES[102:]


def test_the_tail_is_the_last_two_hundred_lines() -> None:
    assert LOG_SPOILERS["last 200 lines"](LINES) == LINES[-200:]


@pytest.mark.parametrize("name", ["ranks interleaved", "shuffled"])
def test_mixing_loses_no_line(name: str) -> None:
    mixed = LOG_SPOILERS[name](LINES)
    assert mixed != LINES and sorted(mixed) == sorted(LINES)


def test_interleaving_moves_no_line_far() -> None:
    mixed = LOG_SPOILERS["ranks interleaved"](LINES)
    assert max(abs(mixed.index(line) - place) for place, line in enumerate(LINES)) < 8


def test_another_zone_moves_every_stamp_by_nine_hours_and_over_midnight() -> None:
    moved = LOG_SPOILERS["in another time zone"](LINES)
    assert moved[0].startswith("[2026-02-01 05:00:00]")
    assert all(line.startswith("[2026-02-01 05:0") for line in moved)


def test_every_line_comes_twice_and_ends_as_under_windows() -> None:
    assert LOG_SPOILERS["every line twice"](LINES[:2]) == [LINES[0], LINES[0], LINES[1], LINES[1]]
    assert all(line.endswith("\r\n") for line in LOG_SPOILERS["CRLF"](LINES))


def test_a_silent_server_leaves_log_and_question(recording: Path) -> None:
    left = spoiled(recording, "the server silent over HTTP")
    assert left == {"incident.yaml", "hosts/a/server.log", "hosts/b/server.log"}


def test_a_single_scrape_is_the_first_of_each_host(recording: Path) -> None:
    left = spoiled(recording, "a single scrape of metrics")
    assert {name for name in left if "metrics" in name} == {"hosts/a/metrics/1.prom", "hosts/b/metrics/1.prom"}


def test_the_log_alone_and_one_host_of_two(recording: Path) -> None:
    labels = [label for label, _ in spoilers_of_folder(recording)]
    assert labels[-2:] == ["without host a", "without host b"]
    assert spoiled(recording, "nothing but the log") == {"hosts/a/server.log", "hosts/b/server.log"}
