"""Commands on a host, on this machine and over a real sshd alike."""

import threading
import uuid
from contextlib import closing

import pytest

from ppagent.errors import ToolError
from ppagent.targets.remote.link import End, Link, LinkLost, run
from tests.fixtures.fake_server import FakeServer
from tests.fixtures.sshd import Sshd, free_port, gone, pids_with


def mark() -> str:
    """Something by which a process of this test can be found again."""
    return f"mark-{uuid.uuid4().hex}"


def sleeper(name: str) -> list[str]:
    return ["sh", "-c", "sleep 600; : $0", name]


def test_exit_status_output_and_error_output_are_kept_apart(link: Link) -> None:
    ran = run(link, ["sh", "-c", "echo out; echo err >&2; exit 7"], timeout_s=10)
    assert (ran.end, ran.exit, ran.stdout, ran.stderr) == (End.EXITED, 7, b"out\n", b"err\n")
    assert not ran.ok
    assert ran.complaint == "err"


WORDS = ["", "two words", "$HOME", "`id`", "$(id)", "a;b", "&& ls", "it's", 'say "x"', "back\\slash", "*", "é ☃", "-n"]


@pytest.mark.parametrize("word", WORDS)
def test_a_word_reaches_the_program_as_it_is(link: Link, word: str) -> None:
    assert run(link, ["printf", "%s|", word, "end"], timeout_s=10).text == f"{word}|end|"


def test_input_reaches_the_program_and_ends(link: Link) -> None:
    assert run(link, ["cat"], timeout_s=10, stdin=b"one\ntwo\nthree").stdout == b"one\ntwo\nthree"
    assert run(link, ["wc", "-c"], timeout_s=10, stdin=b"x" * 200_000).text.strip() == "200000"


def test_output_that_is_no_text_survives(link: Link) -> None:
    ran = run(link, ["printf", r"\377\376\000\n"], timeout_s=10)
    assert ran.stdout == b"\xff\xfe\x00\n"
    assert ran.text == "\ufffd\ufffd\x00\n"


def test_a_program_that_is_not_there_is_said(link: Link) -> None:
    ran = run(link, ["no-such-program"], timeout_s=10)
    assert ran.exit == 127
    assert "no-such-program" in ran.complaint


def test_a_command_that_never_ends_is_ended_and_leaves_nothing(link: Link) -> None:
    name = mark()
    ran = run(link, sleeper(name), timeout_s=0.5)
    assert ran.end is End.TIMED_OUT
    assert ran.seconds < 4
    assert gone(name)


def test_a_command_that_ignores_being_ended_is_killed(link: Link) -> None:
    name = mark()
    ran = run(link, ["sh", "-c", "trap '' TERM; while :; do sleep 0.1; done; : $0", name], timeout_s=0.3)
    assert ran.end is End.TIMED_OUT
    assert gone(name)


def test_a_trickle_of_output_does_not_lengthen_the_time(link: Link) -> None:
    name = mark()
    ran = run(link, ["sh", "-c", "while :; do echo x; sleep 0.1; done; : $0", name], timeout_s=0.6)
    assert ran.end is End.TIMED_OUT
    assert ran.seconds < 4
    assert 2 <= ran.stdout.count(b"x") <= 8
    assert gone(name)


def test_more_output_than_is_kept_is_cut_and_said(link: Link) -> None:
    name = mark()
    ran = run(link, ["sh", "-c", "yes $0", name], timeout_s=20, limit=5000)
    assert ran.end is End.CUT
    assert len(ran.stdout) == 5000
    assert "more than is read" in ran.complaint
    assert gone(name)


def test_a_hundred_megabytes_come_whole(link: Link) -> None:
    size = 100_000_000
    with closing(link.start(["head", "-c", str(size), "/dev/zero"], timeout_s=60)) as running:
        assert sum(len(piece) for is_error, piece in running.pieces() if not is_error) == size
    assert (running.end, running.exit) == (End.EXITED, 0)


def test_a_flood_of_error_output_blocks_nothing(link: Link) -> None:
    ran = run(link, ["sh", "-c", "head -c 8000000 /dev/zero >&2; echo done"], timeout_s=30)
    assert ran.stdout == b"done\n"
    assert 0 < len(ran.stderr) < 100_000


def test_leaving_a_command_ends_its_whole_group(link: Link) -> None:
    name = mark()
    family = f"sleep 601 & sh -c 'sleep 602; : {name}' & echo up; wait; : $0"
    running = link.start(["sh", "-c", family, name], timeout_s=60)
    assert next(iter(running.pieces())) == (False, b"up\n")
    assert pids_with(name)
    running.close()
    assert gone(name)


def test_many_commands_at_once_get_their_own_answers(link: Link) -> None:
    answers: dict[int, str] = {}

    def ask(number: int) -> None:
        for _ in range(3):
            answers[number] = run(link, ["echo", str(number)], timeout_s=20).text

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {number: f"{number}\n" for number in range(8)}


def test_a_port_of_the_host_is_reached_and_a_closed_one_is_said(link: Link, fake_server: FakeServer) -> None:
    stream = link.open_tcp("127.0.0.1", fake_server.port, timeout_s=5)
    stream.sendall(b"GET /v1/loads HTTP/1.0\r\n\r\n")
    assert stream.recv(12) == b"HTTP/1.1 200"
    stream.close()
    with pytest.raises(ToolError, match="nothing answers"):
        link.open_tcp("127.0.0.1", free_port(), timeout_s=5)


def test_a_cut_connection_keeps_what_came_and_leaves_nothing(own_sshd: Sshd) -> None:
    from ppagent.targets.remote.address import Address
    from ppagent.targets.remote.ssh_link import SshLink

    name = mark()
    own_sshd.start()
    link = SshLink.to(Address("box"), config=own_sshd.ssh_config())
    running = link.start(["sh", "-c", "echo so far; sleep 600; : $0", name], timeout_s=60)
    pieces = running.pieces()
    assert next(pieces) == (False, b"so far\n")
    assert pids_with(name)

    assert own_sshd.cut()

    assert list(pieces) == []
    assert (running.end, running.exit) == (End.LOST, None)
    running.close()
    with pytest.raises(LinkLost, match="the connection to box is lost"):
        run(link, ["true"], timeout_s=5)
    with pytest.raises(LinkLost):
        link.open_tcp("127.0.0.1", own_sshd.port, timeout_s=5)
    assert gone(name)


def test_ppagent_killed_outright_leaves_nothing_on_the_host(sshd: Sshd) -> None:
    import signal
    import subprocess
    import sys
    import time
    from pathlib import Path

    name = mark()
    program = (
        "from pathlib import Path\n"
        "from ppagent.targets.remote.address import Address\n"
        "from ppagent.targets.remote.link import run\n"
        "from ppagent.targets.remote.ssh_link import SshLink\n"
        f"link = SshLink.to(Address('box'), config=Path({str(sshd.ssh_config())!r}))\n"
        f"run(link, ['sh', '-c', 'sleep 600; : $0', '{name}'], timeout_s=60)\n"
    )
    process = subprocess.Popen([sys.executable, "-"], stdin=subprocess.PIPE, cwd=Path(__file__).parents[2])
    assert process.stdin is not None
    process.stdin.write(program.encode())
    process.stdin.close()
    until = time.monotonic() + 10
    while not pids_with(name) and time.monotonic() < until:
        time.sleep(0.05)
    assert pids_with(name)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert gone(name)
