"""The session in a real terminal."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.chat.conftest import SEED
from tests.chat.slow_plugin import LEFT_BEHIND, SLEEPS_S
from tests.chat.terminal import PATIENCE_S, TMUX, Terminal

pytestmark = pytest.mark.skipif(TMUX is None, reason="tmux is not there")

QUESTION = (
    "gpu util at 150/200 out of 600, makes no sense, seems like we're not properly pushing data into the pipeline?"
)
SLEEPS = f"61.{os.getpid()}"
PROMPT = r"(?m)^>\s*$"

Open = Callable[..., Terminal]


@pytest.fixture
def window(tmp_path: Path) -> Iterator[Open]:
    """Opens `ppagent chat` in a terminal."""
    opened: list[Terminal] = []

    def open_window(
        *argv: str,
        columns: int = 80,
        rows: int = 24,
        plugins: Path | None = None,
        module: str = "ppagent",
        in_shell: bool = False,
    ) -> Terminal:
        folder = tempfile.mkdtemp(prefix="pp")  # a socket's path must be short
        terminal = Terminal(Path(folder) / "s", columns, rows)
        opened.append(terminal)
        env = {"XDG_STATE_HOME": str(tmp_path / "state"), "XDG_CONFIG_HOME": str(tmp_path / "config")}
        env |= {"PYTHONPATH": str(plugins), SLEEPS_S: SLEEPS} if plugins is not None else {}
        terminal.open([module, "chat", *argv], env, tmp_path, in_shell=in_shell)
        return terminal

    yield open_window
    for terminal in opened:
        terminal.close()


@pytest.fixture
def slow(tmp_path: Path) -> Path:
    """A folder in which the slow plugin is installed."""
    site = tmp_path / "site"
    info = site / "ppagent_slow-0.1.dist-info"
    info.mkdir(parents=True)
    source = (Path(__file__).parent / "slow_plugin.py").read_text()
    (site / "ppagent_slow.py").write_text(source)
    (info / "METADATA").write_text("Metadata-Version: 2.4\nName: ppagent-slow\nVersion: 0.1\n")
    (info / "entry_points.txt").write_text("[ppagent.tools]\nslow = ppagent_slow:tools\n")
    return site


def sleepers() -> list[int]:
    """Processes that the slow tool of this test run has started and nobody has ended."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:  # it has just ended
            continue
        if words[:2] == [b"sleep", SLEEPS.encode()]:
            found.append(int(path.parent.name))
    return found


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (200, 50)])
def test_the_seeds_conversation_to_the_relaunch(columns: int, rows: int, window: Open, tmp_path: Path) -> None:
    terminal = window(str(SEED), columns=columns, rows=rows)
    terminal.wait_for(PROMPT)
    terminal.type(QUESTION)
    answer = terminal.wait_for(r"/propose P1 shows the command")
    assert "You are right about the pipeline's slots." in answer
    assert answer.count("DIAGNOSED") == 1
    assert "TRY NOW, live, reversible  (P1: PP001)" in terminal.screen()

    terminal.type("/propose P2")
    terminal.wait_for(r"(?m)^\s+back:\s+restart with the command that ran")
    terminal.type("/copy P2")
    terminal.wait_for(r"P2 is .*on the clipboard")

    (file,) = (tmp_path / "state" / "ppagent" / "copied").iterdir()
    command = file.read_text().strip()
    assert command.endswith("--port 30000 --pp-max-micro-batch-size 1")
    assert terminal.clipboard().strip() == command
    assert f"    {command}\n" in terminal.scrollback()
    terminal.press("C-d")
    terminal.wait_for(r"kept: ppagent chat --resume")


def test_a_denied_approval_runs_nothing(window: Open, slow: Path, tmp_path: Path) -> None:
    terminal = window("ssh://gpu-box", plugins=slow, module="tests.chat.fake_live")
    terminal.wait_for(PROMPT)
    terminal.type("why is it slow?")
    terminal.wait_for(r"FURTHER  slow\.profile \(disturbs the server\)")
    terminal.type("go on")
    shown = terminal.wait_for(r"allow it\?")
    assert "slow.profile  asks to run  (grade 3: disturbs the server)" in shown
    assert "Profiles the schedulers for a minute." in shown

    terminal.type("n 64 users are on it")

    after = terminal.wait_for(r"NOT DONE\s+slow\.profile \(disturbs the server\): not allowed: 64 users are on\s+it")
    assert "NOT ENOUGH EVIDENCE" in after
    assert sleepers() == []
    assert not (tmp_path / LEFT_BEHIND).exists()


def test_ctrl_c_ends_a_long_tool_and_its_process_and_the_second_asks_to_leave(window: Open, slow: Path) -> None:
    terminal = window(str(SEED), plugins=slow)
    terminal.wait_for(PROMPT)
    terminal.type("why is it slow?")
    terminal.wait_for(r"slow\.profile: .* [12]\.\d s  \(Ctrl-C stops it\)")
    assert len(sleepers()) == 1

    terminal.type("typed meanwhile")
    assert "typed meanwhile" not in terminal.scrollback()
    terminal.press("C-c")

    shown = terminal.wait_for(r"Stopped\. What was found by then is kept")
    assert "Ctrl-C stops it" not in shown
    assert sleepers() == []
    terminal.type("is it the kv cache?")
    terminal.wait_for(r"KV pool exhausted \(KV001\) is ruled out")
    terminal.press("C-c")
    terminal.wait_for(r"leave\? \[y\]es, \[n\]o >")
    terminal.press("C-c")
    terminal.wait_for(r"kept: ppagent chat --resume")


def test_after_kill_9_a_session_goes_on_with_the_same_board(window: Open, slow: Path, tmp_path: Path) -> None:
    terminal = window(str(SEED), plugins=slow)
    terminal.wait_for(PROMPT)
    terminal.type("why is it slow?")
    terminal.wait_for(r"slow\.profile: ")
    assert len(sleepers()) == 1
    os.kill(terminal.pid(), signal.SIGKILL)
    until = time.monotonic() + PATIENCE_S
    while sleepers() and time.monotonic() < until:
        time.sleep(0.05)
    assert sleepers() == []
    (file,) = (tmp_path / "state" / "ppagent" / "sessions").iterdir()
    found = re.findall(r'"id": "(E\d+)"', file.read_text())

    again = window("--resume")
    shown = again.wait_for(PROMPT)

    assert len(found) > 20
    assert f"Resumed: {len(found)} pieces of evidence, 1 message; approvals begin anew." in shown
    assert 'last      "why is it slow?"' in shown
    again.type("go on")
    again.wait_for(r"DIAGNOSED  Micro-batches unfilled \(PP001\)")
    assert "slow.profile" not in again.scrollback()


def test_a_signal_to_end_at_the_prompt_keeps_the_session_and_leaves_the_terminal_as_it_was(window: Open) -> None:
    terminal = window(str(SEED), in_shell=True)
    terminal.wait_for(PROMPT)
    assert "-icanon" in terminal.modes()
    terminal.type("is it the kv cache?")
    terminal.wait_for(r"KV pool exhausted \(KV001\) is ruled out")
    os.kill(terminal.child(), signal.SIGTERM)

    shown = terminal.wait_for(rf"ended with {128 + signal.SIGTERM}")
    assert "kept: ppagent chat --resume" in shown
    assert "Traceback" not in shown and "leave?" not in shown
    assert not {"-icanon", "-echo", "-isig"} & set(terminal.modes().split())


def test_a_signal_to_end_in_the_middle_of_a_tool_ends_the_tool_and_keeps_what_was_found(
    window: Open, slow: Path
) -> None:
    terminal = window(str(SEED), plugins=slow)
    terminal.wait_for(PROMPT)
    terminal.type("why is it slow?")
    terminal.wait_for(r"slow\.profile: ")
    assert len(sleepers()) == 1
    os.kill(terminal.pid(), signal.SIGTERM)

    shown = terminal.wait_for(r"kept: ppagent chat --resume")
    assert "Told to end. What was found by then is kept." in shown
    assert "Traceback" not in shown
    assert terminal.exit_status() == 128 + signal.SIGTERM
    assert sleepers() == []

    again = window("--resume")
    assert re.search(r"Resumed: [1-9]\d+ pieces of evidence, 1 message", again.wait_for(PROMPT))


def test_a_secret_does_not_stay_on_the_screen(window: Open, tmp_path: Path) -> None:
    terminal = window(str(SEED))
    terminal.wait_for(PROMPT)
    terminal.type("is it the kv cache? password=hunter2hunter2")
    shown = terminal.wait_for(r"KV pool exhausted \(KV001\) is ruled out")

    assert "> is it the kv cache? password=[masked]" in shown
    assert "hunter2" not in shown
    assert not [file for file in (tmp_path / "state").rglob("*") if file.is_file() and "hunter2" in file.read_text()]


LIBRARIES = "import prompt_toolkit.shortcuts, pydantic, rich.console, rich.markdown"
MOST_TIMES_ITS_LIBRARIES = 5.0
"""Computing until the first prompt, over that of a Python that only imports what a terminal and the files need."""


@pytest.mark.bench
def test_the_first_prompt_costs_little_more_than_its_libraries(window: Open) -> None:
    """Both as the process's own time, which a busy machine does not stretch: 0.6 s against 0.2 s on a 2020s core."""
    terminal = window(str(SEED))
    terminal.wait_for(PROMPT)
    ticks = [int(part) for part in Path(f"/proc/{terminal.pid()}/stat").read_text().rpartition(")")[2].split()[11:13]]
    before = os.times()
    subprocess.run([sys.executable, "-c", LIBRARIES], check=True)
    after = os.times()
    libraries_s = after.children_user + after.children_system - before.children_user - before.children_system

    assert sum(ticks) / os.sysconf("SC_CLK_TCK") < MOST_TIMES_ITS_LIBRARIES * libraries_s


def test_what_only_a_diagnosis_needs_is_not_loaded_for_the_first_prompt(window: Open) -> None:
    terminal = window(str(SEED))
    terminal.wait_for(PROMPT)
    maps = Path(f"/proc/{terminal.pid()}/maps").read_text()
    assert "orjson" not in maps and "ormsgpack" not in maps, "langgraph was loaded before it was needed"


def test_nothing_that_was_printed_is_painted_over(window: Open) -> None:
    terminal = window(str(SEED), rows=12)
    terminal.wait_for(PROMPT)
    for command in ("/board", "/evidence", "why is it slow?"):
        terminal.type(command)
        time.sleep(0.2)
    text = terminal.wait_for(r"/propose P1 shows the command")

    assert [text.count(line) for line in ("causes, ", "E12  server.version", "DIAGNOSED  Micro")] == [1, 1, 1]
    assert text.index("reconstructed from a report") < text.index("causes, ") < text.index("DIAGNOSED")
