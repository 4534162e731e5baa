"""The server's HTTP API over a host's link, with its keys and its silences."""

import json
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from ppagent.errors import NotRecorded, ToolError
from ppagent.targets.remote import answers, keys
from ppagent.targets.remote.answers import Answers
from ppagent.targets.remote.asking import AskSecret
from ppagent.targets.remote.http_client import Way
from ppagent.targets.remote.link import Link
from ppagent.targets.remote.local_link import LocalLink
from ppagent.targets.remote.reach import reach
from ppagent.targets.remote.scrape_remark import remark_of
from ppagent.targets.remote.servers import Server
from tests.fixtures.fake_server import FakeServer
from tests.fixtures.sshd import free_port

KEY = "s3cret-key-of-the-server"


def api_of(link: Link, port: int, ask: AskSecret | None = None) -> Answers:
    return Answers(Way(link, "127.0.0.1", port), ask)


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in keys.KEY_VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FakeServer]:
    server = FakeServer(tmp_path_factory.mktemp("locked"), words=("--api-key", KEY)).start()
    yield server
    server.stop()


def test_state_load_and_metrics_come_over_the_link(link: Link, fake_server: FakeServer) -> None:
    api = api_of(link, fake_server.port)
    assert json.loads(api.server_info())["pp_size"] == 2
    assert json.loads(api.loads())["loads"][0]["num_running_reqs"] == 3
    (first, one), (second, two) = api.scrapes(2, 0.01)
    assert (first, second) == ("metrics/1.prom", "metrics/2.prom")
    assert one.startswith("# scraped_at: 20")
    assert 'sglang:num_running_reqs{model_name="m",pp_rank="0"} 3.0' in two
    api.close()


def test_a_key_comes_from_the_environment_and_is_shown_nowhere(
    link: Link, locked: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ToolError, match="wants an API key for /server_info; set SGLANG_API_KEY") as caught:
        api_of(link, locked.port).server_info()
    assert KEY not in str(caught.value)
    monkeypatch.setenv("SGLANG_API_KEY", "wrong")
    monkeypatch.setenv("SGLANG_ADMIN_API_KEY", KEY)
    info = api_of(link, locked.port).server_info()
    assert KEY not in info
    assert json.loads(info)["api_key"] == "[masked]"


def test_a_person_is_asked_for_the_key_once(locked: FakeServer) -> None:
    asked: list[str] = []

    def ask(prompt: str) -> str:
        asked.append(prompt)
        return KEY

    api = api_of(LocalLink(), locked.port, ask)
    api.server_info()
    api.loads()
    assert asked == [f"API key of the server on 127.0.0.1 port {locked.port} of local: "]


def test_a_key_that_is_wrong_or_not_typed_is_asked_for_no_second_time(locked: FakeServer) -> None:
    asked: list[str] = []

    def wrong(prompt: str) -> str:
        asked.append(prompt)
        return "wrong"

    api = api_of(LocalLink(), locked.port, wrong)
    for ask in (api.server_info, api.loads, api.server_info):
        with pytest.raises(ToolError, match="does not take that API key for /.*; start again, or set SGLANG_API_KEY"):
            ask()
    assert len(asked) == 1
    with pytest.raises(ToolError, match="wants an API key for /server_info, and none was typed"):
        api_of(LocalLink(), locked.port, lambda _: " ").server_info()


def test_what_is_asked_ahead_asks_no_person_and_is_asked_for_once(locked: FakeServer, fake_server: FakeServer) -> None:
    asked: list[str] = []

    def ask(prompt: str) -> str:
        asked.append(prompt)
        return KEY

    api = api_of(LocalLink(), locked.port, ask)
    api.begin()
    assert not api.gives_metrics
    time.sleep(0.3)
    assert asked == []
    assert json.loads(api.server_info())["pp_size"] == 2
    assert json.loads(api.loads())["loads"][0]["num_running_reqs"] == 3
    assert len(asked) == 1

    api = api_of(LocalLink(), fake_server.port)
    api.begin()
    assert api.gives_metrics
    first, second = (_total(text) for _, text in api.scrapes(2, 0))
    assert second - first == 100


def _total(scrape: str) -> float:
    """The fake counts its scrapes by the hundred: no scrape was made and thrown away between two."""
    return float(scrape.rpartition("} ")[2])


def test_a_server_without_metrics_says_which_flag_it_lacks(locked: FakeServer) -> None:
    with pytest.raises(NotRecorded, match="--enable-metrics"):
        api_of(LocalLink(), locked.port).scrapes(2, 0)


class Canned:
    """A server that answers every connection with the same bytes, or none, and then perhaps hangs up."""

    def __init__(self, answer: bytes, *, hang_up: bool = True) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.asked: list[bytes] = []
        self._answer, self._hang_up, self._open = answer, hang_up, []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                stream = self._listener.accept()[0]
            except OSError:
                return
            self.asked.append(stream.recv(65536))
            stream.sendall(self._answer)
            self._open.append(stream)
            if self._hang_up:
                stream.close()

    def close(self) -> None:
        for stream in self._open:
            stream.close()
        self._listener.close()


def body(status: str, text: str) -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(text)}\r\n\r\n{text}".encode()


def test_an_older_server_is_asked_under_the_older_name() -> None:
    server = Canned(body("404 Not Found", "{}"))
    with pytest.raises(NotRecorded, match="/server_info and /get_server_info are not served"):
        api_of(LocalLink(), server.port).server_info()
    assert [asked.split()[1] for asked in server.asked] == [b"/server_info", b"/get_server_info"]
    server.close()


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (body("500 Oops", "boom token=hf_0123456789abcdefghijklmn"), r"answered 500: boom token=\[masked\]"),
        (body("200 OK", "<html>"), "is no JSON"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", "broke off its answer"),
        (b"SSH-2.0-OpenSSH\r\n", "broke off its answer"),
        (b"", "broke off its answer"),
    ],
)
def test_an_answer_that_is_none_is_told_apart(answer: bytes, says: str) -> None:
    server = Canned(answer)
    with pytest.raises(ToolError, match=says):
        api_of(LocalLink(), server.port).server_info()
    server.close()


def test_a_server_that_hangs_is_waited_for_no_longer_than_said(link: Link, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "ANSWER_S", 0.5)
    server = Canned(b"", hang_up=False)
    with pytest.raises(ToolError, match="did not answer /server_info within 0.5 s"):
        api_of(link, server.port).server_info()
    server.close()


def test_scrapes_that_came_before_a_failure_are_kept() -> None:
    class Failing(Answers):
        left = 2

        def scrape(self) -> str:
            self.left -= 1
            if self.left < 0:
                raise ToolError("gone")
            return "# x\n"

    api = Failing(Way(LocalLink(), "127.0.0.1", free_port()), None)
    came = api.scrapes(5, 0)
    assert [name for name, _ in came] == ["metrics/1.prom", "metrics/2.prom"]
    assert [remark_of(text) for _, text in came] == ["", "scrape 3 of 5 did not come: gone"]
    with pytest.raises(ToolError, match="gone"):
        api.scrapes(5, 0)


def no_server() -> Server:
    raise NotRecorded("no process of an SGLang server can be seen on local")


def test_a_port_that_was_named_is_asked_before_any_command_is_run(fake_server: FakeServer) -> None:
    assert "pp_size" in reach(LocalLink(), fake_server.port, no_server, None).server_info()
    with pytest.raises(ToolError, match=r"nothing answers on port \d+ of local, and no process"):
        reach(LocalLink(), free_port(), no_server, None)
    with pytest.raises(NotRecorded):
        reach(LocalLink(), None, no_server, None)


def test_a_container_is_asked_in_its_own_network(fake_server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    from ppagent.targets.remote.processes import Process

    words, groups = ("python", "-m", "sglang.launch_server"), f"0::/docker/{'ab' * 32}"
    launcher = Process(10, 1, words, groups=groups, addresses=("127.0.0.1",))
    server = Server(launcher, (), fake_server.port, "192.0.2.1")
    monkeypatch.setattr("ppagent.targets.remote.reach.OPEN_S", 0.3)
    assert "pp_size" in reach(LocalLink(), None, lambda: server, None).server_info()


@pytest.mark.parametrize(("host", "says"), [(("--host", "localhost"), "localhost"), ((), "127.0.0.1")])
def test_a_server_that_leaves_its_containers_loopback_out_of_reach_is_told_how_to_open(
    host: tuple[str, ...], says: str
) -> None:
    from ppagent.targets.remote.containers import Contained
    from ppagent.targets.remote.processes import Process

    words, groups = ("python", "-m", "sglang.launch_server", *host), f"0::/docker/{'ab' * 32}"
    launcher = Process(10, 1, words, groups=groups, addresses=("172.17.0.2",), contained=Contained(apart=True))
    with pytest.raises(ToolError, match=f"listens at {says} of its container alone.*start it with --host 0.0.0.0"):
        reach(LocalLink(), None, lambda: Server(launcher, (), 30000, "127.0.0.1"), None)


def test_a_connection_that_the_server_closed_meanwhile_is_opened_anew(link: Link) -> None:
    server = Canned(body("200 OK", "{}"))
    api = api_of(link, server.port)
    assert [api.loads() for _ in range(3)] == ["{}"] * 3
    server.close()
