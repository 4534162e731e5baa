"""A server that speaks TLS, reached over its host's own connection, with a certificate that must be recognised."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ppagent.errors import NotRecorded, ToolError
from ppagent.targets.live_host import LiveHost, Windows
from ppagent.targets.remote.link import Link
from ppagent.targets.remote.local_link import LocalLink
from ppagent.targets.remote.reach import reach
from ppagent.targets.remote.servers import Server
from ppagent.targets.remote.trust import trusts
from ppagent.targets.target import Artifact
from tests.fixtures.certificates import Authority, Pair
from tests.fixtures.fake_server import FakeServer

SHORT = Windows(cpu_s=0.1, gpu_s=0.2, scrapes=2, scrape_gap_s=0.05)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def pair(authority: Authority) -> Pair:
    return authority.sign("llm.example.org", "localhost")


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory, pair: Pair) -> Iterator[FakeServer]:
    server = FakeServer(tmp_path_factory.mktemp("secure"), words=("--enable-metrics", *pair.words)).start()
    yield server
    server.stop()


def test_it_is_recognised_by_the_certificate_that_its_process_was_started_with(link: Link, secure: FakeServer) -> None:
    host = LiveHost(link, port=secure.port, windows=SHORT)
    assert json.loads(host.text(Artifact.SERVER_INFO))["pp_size"] == 2
    assert json.loads(host.text(Artifact.LOADS))["loads"][0]["num_running_reqs"] == 3
    assert len(host.scrapes()) == 2


def test_it_is_found_without_its_port_being_named(secure: FakeServer) -> None:
    found = Server(host_of(secure).launcher, (), secure.port, "127.0.0.1")
    assert found.secure
    assert "pp_size" in reach(LocalLink(), None, lambda: found, None).server_info()


def host_of(server: FakeServer) -> Server:
    return LiveHost(LocalLink(), port=server.port, windows=SHORT).server


def test_another_certificate_than_that_of_the_process_is_not_trusted(
    secure: FakeServer, authority: Authority, tmp_path: Path
) -> None:
    """Even where both are signed by one authority, as those of all customers of a public one are."""
    other = Authority(tmp_path).sign("llm.example.org")
    words = [word.replace(secure.words[2], str(other.certificate)) for word in host_of(secure).launcher.cmdline]
    with pytest.raises(ToolError, match="its certificate is not trusted: .*; let SSL_CERT_FILE name the certificate"):
        reach(LocalLink(), None, lambda: _with(secure, words), None).server_info()


def _with(server: FakeServer, words: list[str]) -> Server:
    from dataclasses import replace

    seen = host_of(server)
    return replace(seen, launcher=replace(seen.launcher, cmdline=tuple(words)))


def test_where_its_file_cannot_be_read_a_name_of_the_host_and_a_known_authority_do(
    secure: FakeServer, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [word.replace(secure.words[2], "/nowhere.pem") for word in host_of(secure).launcher.cmdline]
    link = LocalLink()
    with pytest.raises(ToolError, match="not trusted: .*self-signed certificate in certificate chain"):
        reach(link, None, lambda: _with(secure, words), None).server_info()
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    assert "pp_size" in reach(link, None, lambda: _with(secure, words), None).server_info()
    link.names = ("another.example.org",)
    with pytest.raises(ToolError, match="not trusted: Hostname mismatch.*another.example.org"):
        reach(link, None, lambda: _with(secure, words), None).server_info()


def test_a_process_that_cannot_be_seen_is_asked_by_name(
    secure: FakeServer, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unseen() -> Server:
        raise NotRecorded("no process of an SGLang server can be seen on local")

    with pytest.raises(ToolError, match="speaks TLS, and its certificate is not trusted"):
        reach(LocalLink(), secure.port, unseen, None).server_info()
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    assert "pp_size" in reach(LocalLink(), secure.port, unseen, None).server_info()


def test_an_expired_certificate_is_said(authority: Authority, tmp_path: Path) -> None:
    server = FakeServer(tmp_path, words=authority.sign("old.example.org", days=-1).words).start()
    try:
        with pytest.raises(ToolError, match="its certificate is not trusted: certificate has expired"):
            LiveHost(LocalLink(), port=server.port, windows=SHORT).text(Artifact.SERVER_INFO)
    finally:
        server.stop()


def test_a_file_that_holds_no_certificate_is_no_way_to_recognise_it(secure: FakeServer, tmp_path: Path) -> None:
    for text in ("", "nothing\n", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"):
        (tmp_path / "odd.pem").write_text(text)
        words = [word.replace(secure.words[2], str(tmp_path / "odd.pem")) for word in host_of(secure).launcher.cmdline]
        assert all(way.name for way in trusts(LocalLink(), _with(secure, words)))


def test_a_relative_path_of_the_file_starts_where_the_process_does(secure: FakeServer, pair: Pair) -> None:
    seen = host_of(secure)
    words = [word.replace(str(pair.certificate), os.path.relpath(pair.certificate, seen.launcher.cwd))
             for word in seen.launcher.cmdline]  # fmt: skip
    assert [way.name for way in trusts(LocalLink(), _with(secure, words))][0] == ""
