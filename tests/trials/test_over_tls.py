"""Loads and trials on a server that speaks TLS, whose host alone is reached: the tunnel carries TLS as it is."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ppagent.cli.try_restore import _serving
from ppagent.targets.remote.local_link import LocalLink
from ppagent.trials.note import RestoreNote, all_notes, write_note
from tests.fixtures.certificates import Authority
from tests.fixtures.sshd import MISSING, Sshd
from tests.trials.reached import LOAD, TRIAL, end, host_called_box, relaunch_words, run, when
from tests.trials.test_relaunch import Served, _pids, launched

pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)
SHORT = [*LOAD, "--think-time", "0", "--seconds", "1", "--yes", "4"]


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "authority")


@pytest.fixture
def start(tmp_path: Path, authority: Authority) -> Iterator[Callable[..., Served]]:
    """Starts a server with a certificate for these names."""
    begun: list[Served] = []

    def start(*names: str) -> Served:
        begun.append(launched(tmp_path, "--base-ms", "6", *authority.sign(*names).words))
        return begun[-1]

    yield start
    for served in begun:
        end(served)


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sshd]:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    with host_called_box(tmp_path, monkeypatch) as running:
        yield running


@pytest.mark.parametrize("target", ["ssh://box", "local"])
def test_a_load_goes_to_it_by_the_certificate_that_its_process_was_started_with(
    target: str, start: Callable[..., Served], box: Sshd, capsys: pytest.CaptureFixture[str]
) -> None:
    server = start("llm.example.org")
    assert run(target, server, "bench", *SHORT) == 0
    told = capsys.readouterr().out
    assert ("through the SSH tunnel to box" if target != "local" else f"{server.url} · SGLang 0.5.23") in told
    row = told.splitlines()[3].split()
    assert row[0] == "8"
    assert float(row[2]) > 0
    assert row[-1] == "0"


def test_a_live_trial_restores(start: Callable[..., Served], box: Sshd, capsys: pytest.CaptureFixture[str]) -> None:
    server = start("llm.example.org")
    assert run("ssh://box", server, "try", *TRIAL, "--seconds", "1") in (0, 3)
    assert "back at 16, read back" in capsys.readouterr().out
    assert (server.limit, all_notes()) == (16, ())


def test_where_the_connection_is_cut_the_old_value_is_put_back_over_a_new_one(
    start: Callable[..., Served], box: Sshd
) -> None:
    server = start("llm.example.org")
    cut = when(lambda: server.limit == 2, box.cut)
    assert run("ssh://box", server, "try", *TRIAL, "--seconds", "3") == 1
    cut.join(5)
    assert (server.limit, all_notes()) == (16, ())


def test_what_was_left_behind_is_put_back(start: Callable[..., Served], box: Sshd) -> None:
    server = start("llm.example.org")
    port = server.url.rpartition(":")[2]
    server.control.set_state({"pp_max_micro_batch_size": 2})
    left = RestoreNote("live", f"ssh://box/{port}", "pp_max_micro_batch_size", 16, 2, pid=1, pid_started="")
    write_note(left)
    assert run("ssh://box", server, "try", "--restore") == 0
    assert (server.limit, all_notes()) == (16, ())


def test_a_certificate_that_cannot_be_trusted_is_refused_with_what_to_do(
    start: Callable[..., Served], box: Sshd, authority: Authority, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file holds another one by now, as after a renewal without a restart."""
    server = start("llm.example.org")
    other = Authority(tmp_path / "other").sign("llm.example.org")
    (tmp_path / "authority" / "llm.example.org.pem").write_bytes(other.certificate.read_bytes())
    for command in (["bench", *SHORT], ["try", *TRIAL, "--seconds", "1"]):
        assert run("ssh://box", server, *command) == 1
        told = capsys.readouterr().err
        assert "its certificate is not trusted" in told
        assert "let SSL_CERT_FILE name the certificate of the authority that signed it" in told
    assert server.limit == 16


@pytest.mark.parametrize(("name", "status"), [("127.0.0.1", 0), ("another.example.org", 1)])
def test_a_known_authority_vouches_for_the_hosts_own_name_and_for_no_other(
    name: str,
    status: int,
    start: Callable[..., Served],
    box: Sshd,
    authority: Authority,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = start(name)
    (tmp_path / "authority" / f"{name}.pem").write_text("not to be read\n")
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    assert run("ssh://box", server, "bench", *SHORT) == status


def test_a_relaunch_is_measured_and_rolled_back(
    start: Callable[..., Served], box: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = start("llm.example.org")
    assert run("ssh://box", server, "try", *relaunch_words(tmp_path, monkeypatch)) == 0
    assert (server.limit, all_notes()) == (16, ())
    assert _pids(server.url) != [server.process.pid]


@pytest.mark.parametrize("name", ["ssh://box/{port}", "https://127.0.0.1:{port}"])
def test_whether_it_serves_is_told_while_it_does_and_once_it_is_gone(
    name: str, start: Callable[..., Served], box: Sshd
) -> None:
    server = start("llm.example.org")
    left = RestoreNote("relaunch", name.format(port=server.url.rpartition(":")[2]))
    with _serving(left, LocalLink()) as serves:
        assert serves()
        end(server)
        assert not serves()
