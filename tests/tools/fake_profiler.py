"""A server whose profiler writes modelled traces, well or badly, and the live target that it is reached through."""

import gzip
import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from ppagent.bench.endpoint import parse_endpoint
from ppagent.bench.reach import Reached
from ppagent.plugins import ToolContext
from ppagent.targets.live import LiveTarget
from ppagent.targets.live_host import LiveHost
from ppagent.targets.remote.local_link import LocalLink
from ppagent_evals.writing.traces import Ring, traces
from ppagent_tools.live_server import _REACHED


@dataclass
class FakeProfiler:
    """Use as a context manager. `asked` are the paths and bodies of all POSTs."""

    ring: Ring = Ring((5.0, 5.0), filled=2, steps=16)
    status: int = 200
    text: str = "Start profiling.\n"
    version: str = "0.5.12"
    writes: bool = True
    waits_for_stop: bool = False
    """Whether nothing is written until the profiler is stopped, as where no forward runs."""
    without: int = 0
    """Traces that are never written."""
    spoil: Callable[[bytes], bytes] = lambda data: data
    running: int = 2
    """Requests that run, as `/v1/loads` says."""
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    folder: str = ""

    def __enter__(self) -> "FakeProfiler":
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def info(self) -> dict[str, Any]:
        return {"version": self.version, "pp_size": len(self.ring.stages_ms), "tp_size": self.ring.tp, "dp_size": 1}

    def post(self, path: str, body: dict[str, Any]) -> tuple[int, str]:
        self.asked.append((path, body))
        match path:
            case "/start_profile" if self.status != 200:
                return self.status, self.text
            case "/start_profile":
                self.folder = body["output_dir"]
                if self.writes and not self.waits_for_stop:
                    threading.Thread(target=self._write, daemon=True).start()
                return 200, self.text
            case "/stop_profile" if self.waits_for_stop and self.writes:
                self._write()
                return 200, "Stop profiling. This will take some time.\n"
            case _:
                return 500, "Internal Server Error"

    def _write(self) -> None:
        """As the server does it: the folder first, then one file after the other, each growing for a while."""
        time.sleep(0.05)
        Path(self.folder).mkdir(parents=True, exist_ok=True)
        found = list(traces(self.ring).items())
        for name, text in found[: len(found) - self.without]:
            data = self.spoil(gzip.compress(text.encode()))
            with (Path(self.folder) / name).open("wb") as file:
                file.write(data[: len(data) // 2])
                file.flush()
                time.sleep(0.05)
                file.write(data[len(data) // 2 :])


def _handler(fake: FakeProfiler) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            match self.path:
                case "/server_info":
                    self._say(200, json.dumps(fake.info))
                case "/v1/loads":
                    self._say(200, json.dumps({"loads": [{"dp_rank": 0, "num_running_reqs": fake.running}]}))
                case _:
                    self._say(404, "{}")

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self._say(*fake.post(self.path, json.loads(body) if body else {}))

        def _say(self, status: int, text: str) -> None:
            data = text.encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Quiet."""

    return Handler


class FakeLive(LiveTarget):
    """This machine with a log of its own, on which no process of the server is looked for."""

    def __init__(self, log: bytes = b"") -> None:
        super().__init__({"box": LiveHost(LocalLink("box"))}, "local")
        self._log = log

    def log(self, host: str) -> Iterator[bytes]:
        return iter(self._log.splitlines(keepends=True))


def context_of(fake: FakeProfiler, log: bytes = b"") -> ToolContext:
    return ToolContext(FakeLive(log), {_REACHED: Reached(fake.url, parse_endpoint(fake.url))})
