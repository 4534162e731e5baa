import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ppagent.bench.control import Control
from ppagent.bench.endpoint import Endpoint, parse_endpoint
from ppagent.bench.level import run_level
from ppagent.bench.prompts import Span, WordPrompts
from ppagent.bench.reach import reach
from ppagent.bench.result import sum_up
from ppagent.bench.shape import Shape
from ppagent.bench.tunnel import Tunnel
from ppagent.errors import NotRecorded, ToolError, UserError
from ppagent.targets.remote.local_link import LocalLink
from ppagent.trials.serving import answers
from tests.bench.fakes import FakeServer, free_port

ROOT = Path(__file__).parents[2]


def test_an_address_is_taken_apart_and_holds_no_key() -> None:
    endpoint = parse_endpoint("https://box.example/sglang/", {"SGLANG_API_KEY": "k", "SGLANG_ADMIN_API_KEY": "a"})
    assert (endpoint.host, endpoint.port, endpoint.path) == ("box.example", 443, "/sglang")
    assert endpoint.base_url == "https://box.example:443/sglang"
    assert endpoint.headers == {"Authorization": "Bearer k"}
    assert endpoint.admin_headers == {"Authorization": "Bearer a"}
    assert endpoint.route == "network to box.example"


@pytest.mark.parametrize(("url", "route"), [("http://127.0.0.2:1", "loopback"), ("http://[::1]:1", "loopback")])
def test_the_way_to_this_machine_is_known_and_every_way_to_write_it_is_one_server(url: str, route: str) -> None:
    assert parse_endpoint(url).route == route
    assert parse_endpoint(url).name == parse_endpoint("http://localhost:1").name


@pytest.mark.parametrize("url", ["http://", "ftp://x", "http://u:p@x", "http://x?key=1", "http://x:99999", "http://["])
def test_what_is_no_plain_address_is_refused(url: str) -> None:
    with pytest.raises(UserError):
        parse_endpoint(url)


@pytest.mark.parametrize("text", ["no-such-thing", "/etc/passwd"])
def test_what_is_not_live_cannot_be_reached(text: str) -> None:
    with pytest.raises(UserError, match="no live server"):
        reach(text, None, {})


def test_a_load_goes_through_a_tunnel() -> None:
    with FakeServer(base_ms=2) as server:
        tunnel = Tunnel(LocalLink(), "127.0.0.1", server.port)
        try:
            endpoint = parse_endpoint(f"http://127.0.0.1:{tunnel.port}")
            shape = Shape(concurrency=4, seconds=5, requests=12, input_tokens=Span(4, 4), output_tokens=Span(5, 5))
            prompts = WordPrompts(shape.input_tokens, shape.output_tokens, 1)
            result = sum_up(asyncio.run(run_level(endpoint, shape, prompts)))
            assert Control(endpoint).server_info().version == "0.5.23"
        finally:
            tunnel.close()
    assert len(result.completed) == 12
    assert result.failed == ()


def test_a_tunnel_to_nothing_gives_no_answer() -> None:
    tunnel = Tunnel(LocalLink(), "127.0.0.1", free_port())
    try:
        with pytest.raises(ToolError, match="gave no answer"):
            Control(Endpoint("http", "127.0.0.1", tunnel.port), timeout_s=3).server_info()
    finally:
        tunnel.close()


def test_a_server_behind_a_tunnel_is_told_by_its_own_name_and_not_by_the_near_end() -> None:
    near = Endpoint("http", "127.0.0.1", free_port(), told="ssh://box/30000")
    with pytest.raises(ToolError, match="^ssh://box/30000/server_info gave no answer"):
        Control(near, timeout_s=3).server_info()


def test_the_server_of_this_machine_is_found_by_its_process(tmp_path: Path) -> None:
    port = free_port()
    words = [sys.executable, "-m", "sglang.launch_server", "--model-path", "x", "--port", str(port), "--pp-size", "4"]
    env = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'tests/trials/fake_site'}"}
    process = subprocess.Popen(words, cwd=tmp_path, env=env, stderr=subprocess.DEVNULL)
    try:
        control = Control(parse_endpoint(f"http://127.0.0.1:{port}"), timeout_s=2)
        until = time.monotonic() + 20
        while not answers(control) and time.monotonic() < until:
            time.sleep(0.05)
        reached = reach("local", port, {})
        try:
            assert reached.name == f"http://127.0.0.1:{port}"
            assert reached.host is not None
            assert reached.host.server.launcher.pid == process.pid
            assert reached.control.server_info().version == "0.5.23"
        finally:
            reached.close()
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(5)


def test_a_server_that_wants_a_key_is_said_so() -> None:
    with FakeServer() as server:
        server.key = "secret"
        with pytest.raises(ToolError, match="SGLANG_API_KEY"):
            Control(server.endpoint).server_info()
        allowed = parse_endpoint(server.url, {"SGLANG_API_KEY": "secret"})
        assert Control(allowed).server_info().version == "0.5.23"


def test_a_path_that_the_server_lacks_is_not_there() -> None:
    with FakeServer(with_metrics=False) as server, pytest.raises(NotRecorded, match="does not exist"):
        Control(server.endpoint).metrics()


def test_one_run_of_a_server_is_told_from_the_next() -> None:
    with FakeServer() as one, FakeServer() as other:
        assert Control(one.endpoint).run_mark() == Control(one.endpoint).run_mark() != ""
        assert Control(one.endpoint).run_mark() != Control(other.endpoint).run_mark()
