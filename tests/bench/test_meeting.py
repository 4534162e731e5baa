"""An address at which no SGLang server answers: one sentence of what is wrong, one of what to do."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from ppagent.bench import control
from ppagent.bench.endpoint import parse_endpoint
from ppagent.bench.meeting import meet
from ppagent.cli.main import main
from ppagent.errors import ExitStatus, UserError
from tests.bench.fakes import FakeServer, free_port

FIND_IT = "Give the port that its --port says (30000 by default), or ssh://HOST, which finds it."


def refused(url: str) -> str:
    with pytest.raises(UserError) as caught:
        meet(parse_endpoint(url))
    assert caught.value.status == ExitStatus.FAILURE
    return str(caught.value)


@contextmanager
def answering(status: int, body: str) -> Iterator[int]:
    """An HTTP server of another kind."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


@contextmanager
def listening(then: Callable[[socket.socket], None]) -> Iterator[int]:
    """Something on TCP that is no HTTP server."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(4096)
                then(connection)

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]


def test_a_server_that_is_there_is_met() -> None:
    with FakeServer() as server:
        meet(parse_endpoint(server.url))


def test_where_nothing_listens_it_is_told_where_to_look() -> None:
    port = free_port()
    told = f"Nothing listens on 127.0.0.1 port {port}. See whether the server runs there. {FIND_IT}"
    assert refused(f"http://127.0.0.1:{port}") == told


def test_a_name_that_no_host_has() -> None:
    told = "No host is known by the name no-such-host.invalid. Check the name, or give its address."
    assert refused("http://no-such-host.invalid:30000") == told


@pytest.mark.parametrize(
    ("status", "body"),
    [(404, '{"detail":"Not Found"}'), (200, "<html>Welcome to nginx!</html>"), (200, "[]"), (500, "oops")],
)
def test_another_http_server_is_none_of_sglang(status: int, body: str) -> None:
    with answering(status, body) as port:
        url = f"http://127.0.0.1:{port}"
        assert refused(url) == f"{url} answers HTTP and is no SGLang server: it has no /server_info. {FIND_IT}"


def test_a_proxy_without_its_server_is_waited_for() -> None:
    with answering(502, "Bad Gateway") as port:
        assert "answers 502: a proxy without its server, or a server that is starting. Wait until /health" in refused(
            f"http://127.0.0.1:{port}"
        )


@pytest.mark.parametrize("said", [b"SSH-2.0-OpenSSH_9.2\r\n", b""])
def test_what_speaks_no_http_is_told_so(said: bytes) -> None:
    with listening(lambda connection: connection.sendall(said)) as port:
        told = refused(f"http://127.0.0.1:{port}")
    assert told.startswith(f"Something listens on 127.0.0.1 port {port} and does not answer HTTP. It may speak TLS (")


def test_what_never_answers_is_not_waited_for_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ppagent.bench.meeting.Control", lambda endpoint: control.Control(endpoint, timeout_s=0.2))
    done = threading.Event()
    with listening(lambda connection: done.wait(30) and None) as port:
        told = refused(f"http://127.0.0.1:{port}")
        done.set()
    assert told.startswith(f"127.0.0.1 port {port} gives no answer within 0.2 s. Look for a firewall in between")


def test_https_to_a_server_without_tls() -> None:
    with answering(200, "{}") as port:
        told = refused(f"https://127.0.0.1:{port}")
    assert told.endswith(f"does not speak TLS as https://127.0.0.1:{port} needs it. Try http://127.0.0.1:{port}.")


@pytest.mark.parametrize("words", [["bench"], ["try", "--set", "pp_max_micro_batch_size=1"]])
def test_bench_and_try_say_it_before_anything_else(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([words[0], f"http://127.0.0.1:{free_port()}", *words[1:]]) == ExitStatus.FAILURE
    shown = capsys.readouterr().err
    assert shown.startswith("ppagent: Nothing listens on 127.0.0.1 port ") and shown.endswith(f"{FIND_IT}\n")
