"""A real terminal for tests: ppagent in a tmux of its own, keys sent, the screen read."""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
TMUX = shutil.which("tmux")
PATIENCE_S = 60.0


@dataclass
class Terminal:
    """One window. `close` ends the tmux server that it runs in, and no other."""

    socket: Path
    columns: int = 80
    rows: int = 24

    def open(self, argv: Sequence[str], env: dict[str, str], cwd: Path, *, in_shell: bool = False) -> None:
        """Starts a Python module in a new window, from a shell where wanted; the window stays when it has ended."""
        path = os.pathsep.join(str(ROOT / part) for part in (".", "tools", "evals", "prompts"))
        path = os.pathsep.join(part for part in (path, env.get("PYTHONPATH", "")) if part)
        wanted = {**env, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        words = ["env", *(f"{name}={value}" for name, value in wanted.items()), sys.executable, "-m", *argv]
        words = ["sh", "-c", '"$@"; echo "ended with $?"; exec sleep 600', "sh", *words] if in_shell else words
        size = ["-x", str(self.columns), "-y", str(self.rows)]
        self._tmux("-f", "/dev/null", "new-session", "-d", *size, "-s", "t", "-c", str(cwd), "sleep 600")
        for option in (("set-clipboard", "on"), ("remain-on-exit", "on"), ("history-limit", "5000")):
            self._tmux("set-option", "-g", *option)
        self._tmux("respawn-window", "-k", "-t", "t", "-c", str(cwd), *words)

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-t", "t", "-l", text)
        self._tmux("send-keys", "-t", "t", "Enter")

    def press(self, key: str) -> None:
        self._tmux("send-keys", "-t", "t", key)

    def screen(self) -> str:
        return self._tmux("capture-pane", "-p", "-t", "t")

    def scrollback(self) -> str:
        """Everything that stands, lines that the terminal wrapped joined again."""
        return self._tmux("capture-pane", "-p", "-J", "-S", "-", "-t", "t")

    def clipboard(self) -> str:
        return self._tmux("show-buffer")

    def pid(self) -> int:
        return int(self._tmux("list-panes", "-t", "t", "-F", "#{pane_pid}"))

    def exit_status(self) -> int:
        """How the program has ended; a signal's number and 128 where one ended it. Raises AssertionError where it goes
        on."""
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            dead, status, by = (
                self._tmux("list-panes", "-F", "#{pane_dead}/#{pane_dead_status}/#{pane_dead_signal}")
                .strip()
                .split("/")
            )
            if dead == "1" and (status or by):
                return int(status) if status else 128 + int(by)
            ended = self._unreaped()
            if ended is not None:
                return ended if ended >= 0 else 128 - ended
            time.sleep(0.05)
        raise AssertionError("the program goes on")

    def _unreaped(self) -> int | None:
        """The exit code of a program that has ended and that tmux (3.3a) has not noticed; None where it goes on."""
        try:
            state, *fields = Path(f"/proc/{self.pid()}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return None
        return os.waitstatus_to_exitcode(int(fields[-1])) if state == "Z" else None

    def child(self) -> int:
        """The process that the window's shell has started."""
        return int(Path(f"/proc/{self.pid()}/task/{self.pid()}/children").read_text().split()[0])

    def modes(self) -> str:
        """The terminal's modes as stty tells them."""
        name = self._tmux("list-panes", "-F", "#{pane_tty}").strip()
        return subprocess.run(["stty", "-a", "-F", name], capture_output=True, text=True, check=True).stdout

    def wait_for(self, pattern: str) -> str:
        """The scrollback once it matches. Raises AssertionError with the screen where it never does."""
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            text = self.scrollback()
            if re.search(pattern, text):
                return text
            time.sleep(0.05)
        raise AssertionError(f"{pattern} never came:\n{self.scrollback()}")

    def close(self) -> None:
        subprocess.run([str(TMUX), "-S", str(self.socket), "kill-server"], capture_output=True, check=False)

    def _tmux(self, *words: str) -> str:
        done = subprocess.run([str(TMUX), "-S", str(self.socket), *words], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(f"tmux {words[0]}: {done.stderr}")
        return done.stdout
