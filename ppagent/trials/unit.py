"""A server that a systemd unit runs, stopped and started through systemd, its command changed by a drop-in.

The drop-in of a trial lies below /run, so that even a reboot in the middle goes back to the old launch. A launch that
is kept moves below /etc, where `systemctl edit` would have put it.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ppagent.errors import ToolError
from ppagent.trials.machine import Launched, Look, Started, Stopped
from ppagent.trials.unit_file import NAME, TRIAL_NAME, drop_in

if TYPE_CHECKING:
    from ppagent.targets.remote.link import Link, Ran
    from ppagent.targets.remote.servers import Server

ANSWER_S = 30.0
STARTED_WITHIN_S = 20.0
LARGEST_LOOK = 1 << 18
_SHOWN = "MainPID,ActiveState,Type,ExecStart,NeedDaemonReload,InvocationID"


@dataclass
class UnitMachine:
    """Deeds on one unit. `user`: one of the account's own manager; `home` is then where its units are configured."""

    link: "Link"
    unit: str
    user: bool = False
    uid: int = 0
    home: str = "/root"
    log: str = ""
    """The file that its output goes to; empty for the journal."""
    content: str = field(default="", repr=False)

    @property
    def trial_file(self) -> str:
        """The drop-in while a trial runs."""
        return f"{self._runtime}/{self.unit}.d/{TRIAL_NAME}"

    @property
    def kept_file(self) -> str:
        """The drop-in of a launch that is kept."""
        base = f"{self.home}/.config/systemd/user" if self.user else "/etc/systemd/system"
        return f"{base}/{self.unit}.d/{NAME}"

    @property
    def word(self) -> str:
        """How a person calls systemctl for it."""
        return "systemctl --user" if self.user else "systemctl"

    def prepare(self, argv: Sequence[str], env: Mapping[str, str]) -> Launched:
        """Makes the drop-in, and writes nothing yet."""
        self.content = self.planned(argv, env)
        return Launched(self.trial_file, tuple(argv), "", self.log or "the journal", "systemd")

    def planned(self, argv: Sequence[str], env: Mapping[str, str]) -> str:
        """The drop-in for a launch, with the variables of one that was kept before."""
        return drop_in(argv, env, self.run(["cat", "--", self.kept_file]).text)

    def note(self) -> dict[str, object]:
        """What brings it back after a crash."""
        return {"unit": self.unit, "user": self.user, "uid": self.uid, "home": self.home, "log": self.log}

    @property
    def changed(self) -> bool:
        """Whether a trial's drop-in is in force."""
        return self.run(["test", "-e", self.trial_file]).ok

    def stop(self, pid: int, patience_s: float) -> Stopped:
        """Stops the unit; systemd ends what will not end by itself. Raises ToolError where it does not stop."""
        begin = time.monotonic()
        self._do(["stop", "--", self.unit], patience_s + 120)
        state = self.shown()["ActiveState"]
        if state not in ("inactive", "failed"):
            raise ToolError(f"{self.unit} does not stop: it is {state}")
        return Stopped(0, time.monotonic() - begin)

    def start(self, folder: str, which: str) -> Started:
        """Starts the unit with the `new` command, or as it was."""
        if which == "new":
            put = ["install", "-D", "-m", "0644", "/dev/stdin", self.trial_file]
            self._well(self.run(put, self.content.encode()), f"{self.trial_file} cannot be written")
        else:
            self._take_out()
        offset = self._log_size()
        self._do(["daemon-reload"])
        self._systemctl(["reset-failed", "--", self.unit])
        self._do(["start", "--no-block", "--", self.unit])
        return self._started(offset)

    def look(self, started: Started, offset: int) -> Look:
        """Whether that very process is there, and what it logged from `offset` on. systemd may start a server that
        died once more: that is another process."""
        shown = self.shown()
        alive = shown["MainPID"] == str(started.pid) and shown["ActiveState"] in ("active", "activating", "reloading")
        if self.log:
            ran = self.run(["tail", "-c", f"+{offset + 1}", "--", self.log])
            text = ran.stdout[:LARGEST_LOOK]
        else:
            journal = ["journalctl", *(["--user"] if self.user else []), f"_SYSTEMD_INVOCATION_ID={started.log}"]
            ran = self.run([*journal, "-o", "cat", "-q", "--no-pager"])
            text = ran.stdout[offset : offset + LARGEST_LOOK]
        from ppagent.targets.remote.link import End

        if ran.end is not End.CUT:  # the ready line stands at the beginning, so that much is enough
            self._well(ran, "the log cannot be read")
        whole = text[: text.rfind(b"\n") + 1] or text
        return Look(alive, offset + len(whole), whole.decode("utf-8", errors="replace"))

    def keep(self) -> None:
        """Moves the trial's drop-in to where it stays, the server running on."""
        put = ["install", "-D", "-m", "0644", self.trial_file, self.kept_file]
        self._well(self.run(put), f"{self.kept_file} cannot be written")
        self._take_out()
        self._do(["daemon-reload"])

    def shown(self) -> dict[str, str]:
        """Properties of the unit. Raises ToolError."""
        ran = self._systemctl(["show", f"--property={_SHOWN}", "--", self.unit])
        self._well(ran, f"{self.unit} cannot be looked at")
        told = {name: value for name, _, value in (line.partition("=") for line in ran.text.splitlines())}
        return {name: told.get(name, "") for name in _SHOWN.split(",")}

    def environment_files(self) -> list[str]:
        """Its EnvironmentFile= settings. Raises ToolError."""
        ran = self._systemctl(["show", "--property=EnvironmentFiles", "--value", "--", self.unit])
        self._well(ran, f"{self.unit} cannot be looked at")
        return [line.rpartition(" (ignore_errors=")[0] for line in ran.text.splitlines() if line]

    @property
    def _runtime(self) -> str:
        return f"/run/user/{self.uid}/systemd/user" if self.user else "/run/systemd/system"

    def _started(self, offset: int) -> Started:
        until = time.monotonic() + STARTED_WITHIN_S
        while True:
            shown = self.shown()
            if shown["MainPID"] not in ("", "0"):
                return Started(int(shown["MainPID"]), shown["InvocationID"], offset)
            if time.monotonic() > until or shown["ActiveState"] == "failed":
                return Started(-1, shown["InvocationID"], offset)
            time.sleep(0.2)

    def _take_out(self) -> None:
        """Removes the trial's drop-in, and its folder where nothing else is in it."""
        self._well(self.run(["rm", "-f", self.trial_file]), f"{self.trial_file} cannot be removed")
        self.run(["rmdir", "--ignore-fail-on-non-empty", self.trial_file.removesuffix(f"/{TRIAL_NAME}")])

    def _log_size(self) -> int:
        ran = self.run(["stat", "-c", "%s", "--", self.log]) if self.log else None
        return int(ran.text) if ran is not None and ran.ok else 0

    def _do(self, words: Sequence[str], timeout_s: float = ANSWER_S) -> None:
        self._well(self._systemctl(words, timeout_s), f"{self.word} {' '.join(words)} failed")

    def _systemctl(self, words: Sequence[str], timeout_s: float = ANSWER_S) -> "Ran":
        own = ["env", f"XDG_RUNTIME_DIR=/run/user/{self.uid}", "systemctl", "--user"] if self.user else ["systemctl"]
        return self.run([*own, *words], timeout_s=timeout_s)

    def run(self, argv: Sequence[str], stdin: bytes = b"", timeout_s: float = ANSWER_S) -> "Ran":
        """Runs a command on its host."""
        from ppagent.targets.remote.link import run

        return run(self.link, argv, timeout_s=timeout_s, stdin=stdin)

    def _well(self, ran: "Ran", wrong: str) -> None:
        if not ran.ok:
            raise ToolError(f"{wrong} on {self.link.name}: {ran.complaint}")


def unit_of(link: "Link", server: "Server") -> UnitMachine:
    """The unit that runs a server, with the account that would act on it. Raises ToolError."""
    from ppagent.targets.remote.link import run

    who = run(link, ["sh", "-c", 'id -u; printf %s "$HOME"'], timeout_s=ANSWER_S)
    uid, _, home = who.text.partition("\n")
    if not who.ok or not uid.isdecimal():
        raise ToolError(f"the account on {link.name} cannot be told: {who.complaint}")
    user = f"/user@{uid}.service/" in server.launcher.groups
    to = server.launcher.outputs.get(2, "")
    return UnitMachine(link, server.unit, user, int(uid), home, to if to.startswith("/") and "/dev/" not in to else "")
