"""A log as it is fetched from a host: all of it, or its telling ends with what lies between said."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ppagent.errors import NotRecorded, ToolError
from ppagent.plugins import ToolContext
from ppagent.targets.remote.link import End, Link
from ppagent.targets.remote.local_link import LocalLink
from ppagent.targets.remote.log_place import LogPlace
from ppagent.targets.remote.log_stream import REMARK, is_remark, read_log
from ppagent_tools.log_reading import read_logs

LINE = b"[2026-11-29 20:03:38 PP0] Decode batch, #running-req: 4, #token: 1, token usage: 0.10, #queue-req: 0\n"
ARGS = b"[2026-11-29 20:03:30] server_args=ServerArgs(pp_size=8)\n"


def at(path: Path) -> LogPlace:
    return LogPlace("file", str(path), str(path))


def test_a_small_log_comes_whole_and_as_it_is(link: Link, tmp_path: Path) -> None:
    path = tmp_path / "a log"
    path.write_bytes(b"first \xff\n\x00second\r\nno end")
    assert list(read_log(link, at(path))) == [b"first \xff\n", b"\x00second\r\n", b"no end"]


def test_of_a_large_log_the_last_launch_and_the_end_are_read_and_the_cut_is_said(link: Link, tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    numbered = [b"%06d " % number + LINE for number in range(20_000)]
    path.write_bytes(b"an older launch\n" * 20_000 + ARGS + b"".join(numbered))
    lines = list(read_log(link, at(path), head=10_000, tail=20_000))
    remarks = [line for line in lines if is_remark(line)]
    assert [remark.decode().split(" were ")[1].strip() for remark in remarks] == [
        "left out before the last launch", "left out here",
    ]  # fmt: skip
    assert ARGS in lines[:16]
    cut = lines.index(remarks[1])
    assert lines[cut - 1] in numbered and lines[cut + 1] in numbered
    assert lines[-1] == numbered[-1]
    assert sum(map(len, lines[cut + 1 :])) <= 20_000


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.binary(max_size=60), max_size=40), st.integers(20, 400), st.integers(20, 400))
def test_no_line_is_made_up_or_torn_wherever_it_is_cut(tmp_path: Path, raw: list[bytes], head: int, tail: int) -> None:
    path = tmp_path / "server.log"
    content = b"".join(line.replace(b"\n", b"") + b"\n" for line in raw)
    path.write_bytes(content)
    if not content:
        return
    own = [line for line in read_log(LocalLink(), at(path), head=head, tail=tail) if not is_remark(line)]
    whole = content.splitlines(keepends=True) if b"\r" not in content else None
    if len(content) <= head + tail:
        assert b"".join(own) == content
    elif whole is not None:
        assert all(line in whole for line in own)


def test_a_long_line_comes_in_pieces_and_not_all_at_once(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_bytes(b"x" * (3 << 20))
    pieces = list(read_log(LocalLink(), at(path)))
    assert len(pieces) == 3
    assert b"".join(pieces) == b"x" * (3 << 20)


def test_a_log_that_is_not_there_or_may_not_be_read_is_told_apart(link: Link, tmp_path: Path) -> None:
    with pytest.raises(NotRecorded, match="No such file.*sudo cat"):
        list(read_log(link, at(tmp_path / "none")))
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(ToolError, match="it is empty, or rights"):
        list(read_log(link, at(tmp_path / "empty")))


DOCKER = """#!/bin/sh
case $1 in
  inspect) [ "$4" = abc ] && echo . || { echo "Error: No such object: $4" >&2; exit 1; } ;;
  logs) seq 1 LINES; echo err >&2 ;;
esac
"""


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A docker that has one container, `abc`."""
    program = tmp_path / "bin" / "docker"
    program.parent.mkdir()
    program.write_text(DOCKER.replace("LINES", "1000"))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    yield program


def test_a_containers_log_is_read_through_docker(docker: Path) -> None:
    place = LogPlace("docker", "abc", "docker logs abc")
    whole = [b"%d\n" % number for number in range(1, 1001)]
    assert list(read_log(LocalLink(), place)) == [*whole, b"err\n"]
    lines = list(read_log(LocalLink(), place, head=100, tail=100))
    cut = lines.index(REMARK + b"a part of the log was left out here\n")
    assert lines[:cut] == whole[:36]
    assert lines[cut + 1 : -1] == whole[1000 - len(lines[cut + 1 : -1]) :]
    with pytest.raises(ToolError, match="No such object: xyz.*`sudo docker logs xyz` would give it"):
        list(read_log(LocalLink(), LogPlace("docker", "xyz", "docker logs xyz")))


def test_of_a_container_that_was_started_again_the_last_start_is_read_where_all_is_too_much(docker: Path) -> None:
    docker.write_text(
        """#!/bin/sh
case $1 in
  inspect) echo '"2026-11-30T07:27:04.113Z"' ;;
  logs) [ "$2" = --since ] || seq 1 1000; echo "since $3" ;;
esac
"""
    )
    place = LogPlace("docker", "abc", "docker logs abc")
    assert len(list(read_log(LocalLink(), place))) == 1001
    assert list(read_log(LocalLink(), place, head=100, tail=100)) == [b"since 2026-11-30T07:27:04.113Z\n"]


@pytest.mark.parametrize(("driver", "says"), [
    ("none", "is not kept: its container was started with --log-driver none"),
    ("awslogs", r"does not support reading .its log driver is awslogs.; `sudo docker logs abc` would give it"),
])  # fmt: skip
def test_what_an_engine_says_of_a_log_that_it_has_not_is_none_of_the_log(docker: Path, driver: str, says: str) -> None:
    complaint = "Error response from daemon: configured logging driver does not support reading"
    docker.write_text(f'#!/bin/sh\n[ "$1" = inspect ] && echo {driver} && exit\necho "{complaint}" >&2; exit 1\n')
    with pytest.raises(ToolError, match=says):
        list(read_log(LocalLink(), LogPlace("docker", "abc", "docker logs abc")))


def test_an_engine_s_log_without_a_line_is_empty_and_not_forbidden(docker: Path) -> None:
    docker.write_text("#!/bin/sh\n[ $1 = inspect ] && echo '\"0001-\"'; exit 0\n")
    with pytest.raises(NotRecorded, match="docker logs abc. of .* is empty: the server writes elsewhere"):
        list(read_log(LocalLink(), LogPlace("docker", "abc", "docker logs abc")))


def test_a_refusal_of_docker_is_told_without_its_request(docker: Path) -> None:
    docker.write_text(
        """#!/bin/sh
echo 'permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock: Get \
"http://%2Fvar%2Frun%2Fdocker.sock/v1.24/containers/abc/json": dial unix /var/run/docker.sock: permission denied' >&2
exit 1
"""
    )
    with pytest.raises(ToolError) as caught:
        list(read_log(LocalLink(), LogPlace("docker", "abc", "docker logs abc")))
    assert str(caught.value).partition("cannot be read: ")[2] == (
        "permission denied while trying to connect to the Docker daemon; root may use it, and who is in the group "
        "docker; `sudo docker logs abc` would give it"
    )


def test_a_log_that_lies_in_a_container_is_read_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "server.log").write_text("one\ntwo\n")
    inside = LogPlace("file", "server.log", "server.log", enter=("env", "-C", str(tmp_path)))
    assert list(read_log(LocalLink(), inside)) == [b"one\n", b"two\n"]


def test_a_log_that_fits_joins_its_two_pieces_exactly(docker: Path) -> None:
    content = b"".join(b"%d\n" % number for number in range(1, 1001)) + b"err\n"
    for head in (1, 2, 3, 100, 3890, 3897, 5000):
        lines = list(read_log(LocalLink(), LogPlace("docker", "abc", "docker logs abc"), head=head, tail=5000))
        assert b"".join(lines) == content
        assert lines == content.splitlines(keepends=True)


class BrokenOff:
    """A command whose connection is lost after so many lines."""

    end = End.LOST
    exit = None

    def __init__(self, lines: int) -> None:
        self._lines = lines

    def pieces(self) -> Iterator[tuple[bool, bytes]]:
        yield False, b"file 100000 0 100000\n" + LINE * self._lines

    def close(self) -> None: ...


class LinkThatBreaks:
    kind, name = "ssh", "box"

    def __init__(self, lines: int) -> None:
        self._lines = lines

    def start(self, argv: object, **_: object) -> BrokenOff:
        return BrokenOff(self._lines)


def test_a_connection_lost_midway_keeps_the_lines_and_says_so() -> None:
    lines = list(read_log(LinkThatBreaks(5), LogPlace("file", "/x", "/x")))  # type: ignore[arg-type]
    assert lines == [LINE] * 5 + [REMARK + b"the rest of the log was not read: the connection was lost\n"]
    with pytest.raises(ToolError, match="was not read: the connection was lost"):
        list(read_log(LinkThatBreaks(0), LogPlace("file", "/x", "/x")))  # type: ignore[arg-type]


class TargetWithLog:
    kind, name, hosts = "ssh", "box", ("box",)

    def log(self, host: str) -> Iterator[bytes]:
        return iter([ARGS, *[LINE] * 9, REMARK + b"812.0 MiB of the log were left out here\n", LINE])


def test_the_tools_say_what_was_left_out_and_do_not_read_it_as_a_line() -> None:
    logs = read_logs(ToolContext(TargetWithLog()))  # type: ignore[arg-type]
    assert logs.first.summary.lines == 11
    assert [finding.facts for finding in logs.unread] == [
        {"tool.unread": ["server.log of box: 812.0 MiB of the log were left out here"]}
    ]
    assert logs.unread[0].excerpt == "[ppagent] 812.0 MiB of the log were left out here"
