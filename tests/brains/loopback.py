"""An endpoint on this machine that speaks Chat Completions over SSE as SGLang does, and misbehaves on request."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Write = Callable[[bytes], None]


@dataclass
class Behaviour:
    """What the server does with one request after another; the last is repeated."""

    answers: Sequence[Callable[[Write], None]]
    status: int = 200
    body: bytes = b""
    requests: list[dict[str, Any]] = field(default_factory=list)

    def next(self) -> Callable[[Write], None]:
        return self.answers[min(len(self.requests), len(self.answers)) - 1]


def sends(content: bytes, pause_s: float = 0.0, pieces: int = 1) -> Callable[[Write], None]:
    """The content in that many writes, with a pause before each."""

    def act(write: Write) -> None:
        size = max(1, len(content) // pieces)
        for start in range(0, len(content), size):
            time.sleep(pause_s)
            write(content[start : start + size])

    return act


def hangs_up_after(content: bytes) -> Callable[[Write], None]:
    """The content, then the connection is gone in the middle of a chunk."""

    def act(write: Write) -> None:
        write(content)
        raise ConnectionAbortedError

    return act


@contextmanager
def serving(behaviour: Behaviour) -> Iterator[str]:
    """The base URL of a server with that behaviour."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers.get("content-length", 0))
            behaviour.requests.append(json.loads(self.rfile.read(length)))
            answer = behaviour.next()
            self.send_response(behaviour.status)
            self.send_header("content-type", "text/event-stream" if behaviour.status == 200 else "application/json")
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            try:
                answer(self._chunk)
                self._chunk(b"")
            except (ConnectionAbortedError, BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def _chunk(self, content: bytes) -> None:
            self.wfile.write(f"{len(content):x}\r\n".encode() + content + b"\r\n")
            self.wfile.flush()

        def log_message(self, format: str, *args: Any) -> None:
            return None

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
