"""The server's own bench_serving, run on its host over a real sshd: what it is given, what it leaves, how it ends."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ppagent.bench.beside import Beside, find_beside, run_beside
from ppagent.bench.endpoint import parse_endpoint
from ppagent.bench.prompts import Span
from ppagent.bench.serving_output import Output
from ppagent.bench.shape import Shape
from ppagent.cli.main import main
from ppagent.errors import ToolError, UserError
from ppagent.targets.live_host import LiveHost
from ppagent.targets.remote.address import Address
from ppagent.targets.remote.link import Link, LinkLost
from ppagent.targets.remote.local_link import LocalLink
from ppagent.targets.remote.ssh_link import SshLink
from tests.fixtures.certificates import Authority
from tests.fixtures.sshd import MISSING, Sshd, gone, pids_with
from tests.trials.test_relaunch import Served, launched

KEY = "sk-0123456789abcdef"
SHAPE = Shape(concurrency=4, requests=4, seconds=30, input_tokens=Span(8, 8), output_tokens=Span(3, 3))
CONTAINER = "0123456789ab" + 52 * "c"


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Temporary files and data of this test alone, for the host too, which is this machine."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.delenv("PPAGENT_SGLANG_PYTHON", raising=False)
    return tmp_path


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.setenv("SGLANG_IS_IN_CI", "true")
    served = launched(tmp_path)
    yield served
    _end(served)


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sshd]:
    if MISSING:
        pytest.skip(MISSING)
    running = Sshd(tmp_path / "sshd", extra=(f"SetEnv TMPDIR={tmp_path} API_KEY=other http_proxy=http://192.0.2.1:9",))
    running.start()
    monkeypatch.setenv("PPAGENT_SSH_CONFIG", str(running.ssh_config("box")))
    yield running
    running.stop()


@pytest.fixture
def link(box: Sshd) -> Iterator[Link]:
    opened = SshLink.to(Address("box"), config=box.ssh_config("box"))
    yield opened
    opened.close()


def test_it_runs_with_the_servers_own_python_and_nothing_is_left(link: Link, server: Served, tmp_path: Path) -> None:
    said: list[str] = []
    done: list[int] = []
    row: dict[str, Any] = run_beside(beside(link, server, "tok", KEY), SHAPE, 4, Output(said.append, done.append))
    assert done == [0, 3, 4]
    assert row["route"] == "beside the server on box"
    assert row["python"] == server.argv[0]
    assert row["model"] == "m"
    words = row["argv"]
    for pair in (
        ("--base-url", server.url),
        ("--num-prompts", "4"),
        ("--max-concurrency", "4"),
        ("--tokenizer", "tok"),
    ):
        assert words[words.index(pair[0]) + 1] == pair[1]
    assert "--tokenize-prompt" in words
    assert "Starting warmup with 4 sequences..." in said
    assert not Path(row["cwd"]).exists()
    assert list(tmp_path.glob("ppagent-bench-*")) == []


def test_its_key_is_in_no_argument_list_and_neither_network_nor_cache_flush_is_left_to_it(
    link: Link, server: Served
) -> None:
    row: dict[str, Any] = run_beside(beside(link, server, "tok", KEY), SHAPE, 4)
    seen = row["seen"]
    assert seen["OPENAI_API_KEY"] == KEY
    assert KEY not in " ".join(row["argv"])
    assert KEY not in row["above"]
    assert (seen["API_KEY"], seen["http_proxy"], seen["SGLANG_IS_IN_CI"]) == (None, None, None)
    assert (seen["HF_HUB_OFFLINE"], seen["TRANSFORMERS_OFFLINE"]) == ("1", "1")
    assert seen["HOME"] == row["cwd"]
    assert "secret" not in str(row)


def test_a_failure_tells_how_it_ended_and_leaves_nothing(link: Link, server: Served, tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="bench_serving failed on box: .*no such tokenizer"):
        run_beside(beside(link, server, "bad"), SHAPE, 4)
    assert list(tmp_path.glob("ppagent-bench-*")) == []


def test_what_is_cancelled_ends_on_the_host(link: Link, server: Served, tmp_path: Path) -> None:
    def cancel(line: str) -> None:
        if line.startswith("Starting"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_beside(beside(link, server, "slow"), SHAPE, 4, Output(cancel))
    assert_ended(server, tmp_path)


def test_where_the_connection_is_lost_the_host_ends_it(box: Sshd, link: Link, server: Served, tmp_path: Path) -> None:
    def cut(line: str) -> None:
        if line.startswith("Starting"):
            box.cut()

    with pytest.raises(LinkLost, match="bench_serving is ended there"):
        run_beside(beside(link, server, "slow"), SHAPE, 4, Output(cut))
    assert_ended(server, tmp_path)


def test_its_time_is_limited(link: Link, server: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ppagent.bench.beside.time_limit_s", lambda shape: 2.0)
    with pytest.raises(ToolError, match="did not end within 2 s on box"):
        run_beside(beside(link, server, "slow"), SHAPE, 4)
    assert_ended(server, tmp_path)


def test_in_a_container_where_no_signal_reaches_it_ends_with_its_standard_input(
    server: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in for docker: what it starts is no child of its caller's process group."""
    docker = tmp_path / "bin" / "docker"
    docker.parent.mkdir()
    docker.write_text('#!/bin/sh\nshift 3\nexec setsid -w "$@"\n')
    docker.chmod(0o755)
    monkeypatch.setenv("PATH", f"{docker.parent}:{os.environ['PATH']}")
    seen = beside(LocalLink(), server, "slow")
    groups = f"0::/system.slice/docker-{CONTAINER}.scope"
    inside = replace(seen, server=replace(seen.server, launcher=replace(seen.server.launcher, groups=groups)))
    assert inside.server.enter[:2] == ("docker", "exec")

    def cancel(line: str) -> None:
        if line.startswith("Starting"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_beside(inside, SHAPE, 4, Output(cancel))
    assert_ended(server, tmp_path)


def test_the_command_line_measures_beside_the_server_and_says_so(
    box: Sshd, server: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["bench", "ssh://box", "--port", server.url.rpartition(":")[2], "--with", "bench_serving", "--yes", "4"]
    words += ["--tokenizer", "tok", "--concurrency", "4", "--output-len", "3", "--requests", "4"]
    assert main(words) == 0
    told = capsys.readouterr()
    assert "beside the server on box" in told.out
    assert "first token with text" in told.out
    assert "Starting warmup" in told.err
    assert "benchmark_args" not in told.err


def test_an_interpreter_that_is_named_measures_from_here_through_the_tunnel(
    box: Sshd, server: Served, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1] / "trials/fake_site"))
    words = ["bench", "ssh://box", "--port", server.url.rpartition(":")[2], "--with", "bench_serving", "--yes", "4"]
    words += ["--tokenizer", "tok", "--concurrency", "4", "--output-len", "3", "--requests", "4", "--format", "json"]
    assert main([*words, "--python", server.argv[0]]) == 0
    assert '"route": "through the SSH tunnel to box"' in capsys.readouterr().out


def test_a_server_that_speaks_tls_is_refused_with_what_to_do(tmp_path: Path) -> None:
    served = launched(tmp_path, *Authority(tmp_path / "ca").sign("llm.example.org").words)
    try:
        host = LiveHost(LocalLink(), port=int(served.url.rpartition(":")[2]))
        with pytest.raises(UserError, match="Measure without --with bench_serving"):
            find_beside(host, parse_endpoint(served.url), "")
    finally:
        _end(served)


def beside(link: Link, server: Served, tokenizer: str, key: str = "") -> Beside:
    host = LiveHost(link, port=int(server.url.rpartition(":")[2]))
    endpoint = parse_endpoint(server.url, {"SGLANG_API_KEY": key} if key else {})
    return find_beside(host, endpoint, tokenizer)


def assert_ended(server: Served, folder: Path) -> None:
    mark = f"--base-url\0{server.url}"
    assert gone(mark, within_s=30), pids_with(mark)
    until = time.monotonic() + 10
    while (left := list(folder.glob("ppagent-bench-*"))) and time.monotonic() < until:
        time.sleep(0.05)
    assert left == []


def _end(served: Served) -> None:
    with suppress(ProcessLookupError):
        os.killpg(served.process.pid, signal.SIGKILL)
    served.process.wait(5)
