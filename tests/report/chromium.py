"""A headless Chromium for tests of a page: driven over its debugging pipe, with no network and a profile of its own."""

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PATIENCE_S = 20.0
NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--remote-debugging-pipe",
)


def find_chromium() -> str | None:
    """The browser's program; None where there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@dataclass
class Seen:
    """What the browser reported while a page was open."""

    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    blocked: list[str] = field(default_factory=list)
    """Why each request that was stopped was stopped."""


class Browser:
    """One tab. Messages are JSON objects, each closed by a NUL byte."""

    def __init__(self, commands: int, answers: int) -> None:
        self._commands, self._answers = commands, answers
        self._rest, self._serial, self._session = b"", 0, ""
        self.seen = Seen()
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self._call(f"{domain}.enable")

    def open(
        self, path: Path, *, width: int = 1200, height: int = 900, dark: bool = False, script: bool = True
    ) -> Seen:
        """Loads a file as somebody with that screen would see it, and says what was asked for and complained about."""
        self.seen = Seen()
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self._call("Emulation.setEmulatedMedia", features=scheme)
        self._call("Emulation.setScriptExecutionDisabled", value=not script)
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._call("Emulation.setDeviceMetricsOverride", **size)
        self._call("Page.navigate", url=path.as_uri())
        self._wait_for("Page.loadEventFired")
        return self.seen

    def open_anchor(self, path: Path, anchor: str) -> None:
        """Goes to a place of the page that is open, as a click on its link would."""
        self._call("Page.navigate", url=f"{path.as_uri()}#{anchor}")

    def allow_clipboard(self) -> None:
        """Lets the page read back what it copied; that it may write is a person's click."""
        granted = ["clipboardReadWrite", "clipboardSanitizedWrite"]
        self._call("Browser.grantPermissions", permissions=granted)
        self._call("Page.bringToFront")

    def value(self, expression: str) -> Any:
        """What `expression` comes to in the page; a promise is awaited."""
        found = self._call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, userGesture=True
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def screenshot(self) -> bytes:
        """The whole page as PNG."""
        return base64.b64decode(self._call("Page.captureScreenshot", captureBeyondViewport=True)["data"])

    def print_pdf(self) -> bytes:
        """The page as it is printed."""
        return base64.b64decode(self._call("Page.printToPDF", printBackground=True)["data"])

    def close(self) -> None:
        self._session = ""
        self._call("Browser.close")

    def _call(self, method: str, **params: Any) -> dict[str, Any]:
        self._serial += 1
        message = {"id": self._serial, "method": method, "params": params}
        message |= {"sessionId": self._session} if self._session else {}
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._serial:
            continue
        assert "error" not in answer, f"{method}: {answer.get('error')}"
        return dict(answer["result"])

    def _wait_for(self, event: str) -> None:
        while self._next().get("method") != event:
            continue

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            assert select.select([self._answers], [], [], PATIENCE_S)[0], "the browser does not answer"
            read = os.read(self._answers, 1 << 16)
            assert read, "the browser ended"
            self._rest += read
        message, self._rest = self._rest.split(b"\0", 1)
        found: dict[str, Any] = json.loads(message)
        self._note(found.get("method", ""), found.get("params", {}))
        return found

    def _note(self, method: str, params: dict[str, Any]) -> None:
        match method:
            case "Network.requestWillBeSent":
                self.seen.requests.append(params["request"]["url"])
            case "Network.loadingFailed":
                self.seen.blocked.append(params.get("blockedReason", ""))
            case "Runtime.exceptionThrown":
                self.seen.complaints.append(params["exceptionDetails"]["text"])
            case "Log.entryAdded":
                self.seen.complaints.append(params["entry"]["text"])
            case "Runtime.consoleAPICalled":
                self.seen.complaints.append(str([each.get("value") for each in params["args"]]))


@contextmanager
def running(program: str, profile: Path) -> Iterator[Browser]:
    """The browser with a fresh profile, ended at the end. It reads commands from its descriptor 3, answers on 4."""
    (to_read, commands), (answers, to_write) = _pipe(), _pipe()
    words = [program, *FLAGS, f"--user-data-dir={profile}"]
    silence = (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)
    joined = [(os.POSIX_SPAWN_DUP2, to_read, 3), (os.POSIX_SPAWN_DUP2, to_write, 4)]
    process = os.posix_spawn(program, words, os.environ, file_actions=[silence, *joined])
    os.close(to_read)
    os.close(to_write)
    try:
        browser = Browser(commands, answers)
        yield browser
        browser.close()
    finally:
        os.close(commands)
        os.close(answers)
        _end(process)


def _pipe() -> tuple[int, int]:
    """A pipe whose ends lie above the descriptors that are given to the browser."""
    low = os.pipe()
    high = tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in low)
    for end in low:
        os.close(end)
    return high[0], high[1]


def _end(process: int) -> None:
    """Waits a little for the browser to go by itself, then ends it."""
    for _ in range(100):
        if os.waitpid(process, os.WNOHANG)[0]:
            return
        time.sleep(0.05)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
