"""docs/contributing-a-case.md can be followed to the letter: every command in it is run here, in its order."""

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from ppagent.cli.main import COMMANDS, main
from tests.fixtures.fake_server import FakeServer

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "contributing-a-case.md").read_text(encoding="utf-8")
MAY_FAIL = {"diagnose": {0, 3}, "grep": {0, 1}}
"""Exit statuses that are answers: not enough evidence, and no line found."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[FakeServer]:
    running = FakeServer(tmp_path / "server").start()
    yield running
    running.stop()


def blocks() -> list[tuple[str, str]]:
    """Those of the recorded case; the last part of the page is for a checkout."""
    recorded = PAGE.partition("\n## Or write it")[0]
    return re.findall(r"^```(\w+)\n(.*?)^```", recorded, re.MULTILINE | re.DOTALL)


def commands(text: str) -> list[list[str]]:
    return [shlex.split(line) for line in text.replace("\\\n", " ").splitlines() if line.strip()]


def run(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Exit status and output. `ppagent` in this process, so that it is quick."""
    if words[0] == "ppagent":
        status = main(words[1:])
        shown = capsys.readouterr()
        return status, shown.out + shown.err
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_every_command_of_the_page_works_in_its_order(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    ran: list[str] = []
    for kind, text in blocks():
        if kind == "yaml":
            assert yaml.safe_load(text)["causes"]
            (folder / "my-case" / "answer.yaml").write_text(text)
            continue
        for words in commands(text):
            here = [str(server.port) if word == "30000" else "1" if word == "10" else word for word in words]
            status, said = run(here, capsys)
            name = words[1] if words[0] == "ppagent" else words[0]
            assert status in MAY_FAIL.get(name, {0}), f"{words}: {said}"
            ran.append(" ".join(words[:2]))
    assert ran == [
        "ppagent record", "ppagent record", "grep -rniE", "ppagent diagnose", "ppagent eval", "ppagent eval",
        "ppagent record", "ppagent diagnose",
    ]  # fmt: skip


def test_every_program_named_in_a_sentence_is_one_that_is_there() -> None:
    named = set(re.findall(r"`ppagent (\w+)", PAGE))
    assert named <= set(COMMANDS)
