"""Logging in to a real sshd: configuration, host keys, client keys, hosts in between."""

import os
import re
import shlex
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ppagent.errors import ExitStatus, UserError
from ppagent.targets.remote import ssh_connect
from ppagent.targets.remote.address import Address, parse_address
from ppagent.targets.remote.link import run
from ppagent.targets.remote.ssh_config import names_host, resolve
from ppagent.targets.remote.ssh_link import SshLink
from tests.fixtures.sshd import Sshd, free_port, keygen, public

NO_SSH_CLIENT = ""
CLIENTS = pytest.mark.parametrize("ssh", [None, NO_SSH_CLIENT], ids=["ssh -G", "own reader"])


def whoami(config: Path, host: str = "box", ssh: str | None = None, ask: dict[str, str] | None = None) -> str:
    """Logs in and asks who we are there."""
    asker = None if ask is None else (lambda prompt: ask[next(key for key in ask if key in prompt)])
    link = SshLink.to(Address(host), config=config, ssh=ssh, ask=asker)
    try:
        return run(link, ["id", "-un"], timeout_s=20).text.strip()
    finally:
        link.close()


def refusal(config: Path, host: str = "box", ssh: str | None = None) -> UserError:
    with pytest.raises(UserError) as caught:
        whoami(config, host, ssh)
    assert caught.value.status is ExitStatus.FAILURE
    assert caught.value.advice
    return caught.value


@CLIENTS
def test_a_host_of_the_configuration_is_reached_by_its_alias(sshd: Sshd, ssh: str | None) -> None:
    assert whoami(sshd.ssh_config(), ssh=ssh) == sshd.user


def test_the_socket_sends_at_once_and_notices_a_dead_line(sshd: Sshd) -> None:
    link = SshLink.to(Address("box"), config=sshd.ssh_config())
    sock = link._connection.transport.sock
    assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == ssh_connect.FROZEN_MS
    link.close()


@CLIENTS
def test_included_files_count(sshd: Sshd, tmp_path: Path, ssh: str | None) -> None:
    (tmp_path / "conf.d").mkdir()
    sshd.ssh_config("inner").rename(tmp_path / "conf.d" / "10-hosts")
    config = tmp_path / "config"
    config.write_text(f"Include {tmp_path}/conf.d/*\nHost other\n  Port 1\n")
    assert whoami(config, "inner", ssh) == sshd.user
    config.write_text(f"Host in*\n  Include {tmp_path}/conf.d/*\n  Port 1\n")
    assert whoami(config, "inner", ssh) == sshd.user
    config.write_text(f"Host other\n  Include {tmp_path}/conf.d/*\n")
    assert resolve(Address("inner"), config, ssh).hostname == "inner"


def test_a_file_that_includes_itself_is_said(tmp_path: Path) -> None:
    (tmp_path / "config").write_text(f"Include {tmp_path}/config\n")
    with pytest.raises(UserError, match="cannot be read"):
        resolve(Address("box"), tmp_path / "config", NO_SSH_CLIENT)


@CLIENTS
def test_what_the_address_says_beats_the_configuration(sshd: Sshd, tmp_path: Path, ssh: str | None) -> None:
    config = tmp_path / "config"
    config.write_text("Host *.gpu\n  HostName %h.internal\n  Port 2200\n  User first\n  ProxyJump hop1,me@hop2:23\n"
                      "  IdentityFile ~/.ssh/gpu_key\n")  # fmt: skip
    told = resolve(parse_address("ssh://second@a.gpu:2222"), config, ssh)
    assert (told.hostname, told.user, told.port) == ("a.gpu.internal", "second", 2222)
    assert told.known_as == "[a.gpu.internal]:2222"
    assert told.jumps == ("hop1", "me@hop2:23")
    assert told.keys[0] == Path.home() / ".ssh" / "gpu_key"
    assert resolve(Address("b.gpu"), config, ssh).user == "first"


def test_only_a_host_line_that_means_it_makes_a_word_a_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config").write_text('Host box "gpu-?"\n  User me\nHost *\n  User you\n')
    monkeypatch.setenv("PPAGENT_SSH_CONFIG", str(tmp_path / "config"))
    words = ("box", "gpu-1", "gpu-12", "server.log", "-oX", "a/b")
    assert [word for word in words if names_host(word)] == ["box", "gpu-1"]


def test_an_unknown_key_is_refused_and_not_written_down(sshd: Sshd, tmp_path: Path) -> None:
    known = tmp_path / "known_hosts"
    config = edited(sshd.ssh_config(), tmp_path, UserKnownHostsFile=known)
    error = refusal(config)
    assert "is not in known_hosts" in error.wrong
    assert re.search(r"ssh-ed25519 SHA256:\S{43}\)", error.wrong)
    assert "`ssh box`" in error.advice
    assert not known.exists()


def test_a_changed_key_is_another_error_with_other_advice(own_sshd: Sshd) -> None:
    own_sshd.start()
    config = own_sshd.ssh_config("box", "StrictHostKeyChecking no")
    assert whoami(config) == own_sshd.user
    own_sshd.new_host_key()
    before = own_sshd.known_hosts.read_text()
    error = refusal(config)
    assert "has changed" in error.wrong
    removal = f"ssh-keygen -R '[127.0.0.1]:{own_sshd.port}' -f {own_sshd.known_hosts}"
    assert f"`{removal}`" in error.advice
    assert own_sshd.known_hosts.read_text() == before
    subprocess.run(shlex.split(removal), check=True, capture_output=True)
    assert own_sshd.known_hosts.read_text() == ""


def test_a_revoked_key_is_refused_though_it_is_known(sshd: Sshd, tmp_path: Path) -> None:
    line = f"[127.0.0.1]:{sshd.port} {' '.join(public(sshd.host_key).split()[:2])}"
    (tmp_path / "known").write_text(f"{line}\n@revoked {line}\n")
    assert "revoked" in refusal(edited(sshd.ssh_config(), tmp_path, UserKnownHostsFile=tmp_path / "known")).wrong


def test_an_authority_line_neither_loses_the_file_nor_counts(sshd: Sshd, tmp_path: Path) -> None:
    line = f"[127.0.0.1]:{sshd.port} {' '.join(public(sshd.host_key).split()[:2])}"
    authority = f"@cert-authority [127.0.0.1]:{sshd.port} {' '.join(public(sshd.client_key).split()[:2])}"
    known = tmp_path / "known"
    config = edited(sshd.ssh_config(), tmp_path, UserKnownHostsFile=known)
    known.write_text(f"{authority}\njunk\n{line}\n")
    assert whoami(config) == sshd.user
    known.write_text(f"{authority}\n")
    assert "@cert-authority" in refusal(config).wrong


def test_a_host_known_by_another_kind_of_key_shows_that_one(own_sshd: Sshd) -> None:
    rsa = keygen(own_sshd.root.parent / "rsa_host_key", "rsa")
    own_sshd.extra = (f"HostKey {rsa}",)
    own_sshd.start()
    own_sshd.know(public(rsa))
    assert whoami(own_sshd.ssh_config()) == own_sshd.user


def test_a_hashed_entry_is_recognised(own_sshd: Sshd) -> None:
    own_sshd.start()
    subprocess.run(["ssh-keygen", "-q", "-H", "-f", str(own_sshd.known_hosts)], check=True, timeout=10)
    assert own_sshd.known_hosts.read_text().startswith("|1|")
    assert whoami(own_sshd.ssh_config()) == own_sshd.user


def test_a_key_that_does_not_open_the_account_is_said(sshd: Sshd, tmp_path: Path) -> None:
    stranger = keygen(tmp_path / "stranger")
    error = refusal(edited(sshd.ssh_config(), tmp_path, IdentityFile=stranger))
    assert f"lets {sshd.user} in with none of 1 key" in error.wrong
    assert "ssh-add" in error.advice


@pytest.mark.parametrize("kind", ["ed25519", "rsa"])
def test_a_locked_key_needs_its_passphrase_and_somebody_to_type_it(own_sshd: Sshd, tmp_path: Path, kind: str) -> None:
    own_sshd.root.mkdir()
    keygen(own_sshd.client_key, kind, "open sesame")
    own_sshd.start()
    config = own_sshd.ssh_config()
    assert "needs its passphrase" in refusal(config).wrong
    assert whoami(config, ask={"passphrase of": "open sesame"}) == own_sshd.user
    with pytest.raises(UserError, match="not the passphrase"):
        whoami(config, ask={"passphrase of": "wrong"})


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    process = subprocess.Popen(["ssh-agent", "-D", "-a", str(tmp_path / "agent")], stdout=subprocess.DEVNULL)
    for _ in range(200):
        if (tmp_path / "agent").exists():
            break
        threading.Event().wait(0.02)
    monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "agent"))
    yield tmp_path / "agent"
    process.terminate()
    process.wait(5)


def test_a_key_of_the_agent_opens_the_account(sshd: Sshd, tmp_path: Path, agent: Path) -> None:
    config = edited(sshd.ssh_config(), tmp_path, IdentityFile="none", IdentityAgent=agent, IdentitiesOnly="no")
    assert "none of 0 keys" in refusal(config).wrong
    subprocess.run(["ssh-add", "-q", str(sshd.client_key)], check=True, env={**os.environ}, timeout=10)
    assert whoami(config) == sshd.user


@CLIENTS
def test_a_host_behind_another_is_reached_through_it(sshd: Sshd, own_sshd: Sshd, ssh: str | None) -> None:
    own_sshd.start()
    config = own_sshd.root / "both"
    config.write_text(sshd.ssh_config("hop").read_text() + own_sshd.ssh_config("box", "ProxyJump hop").read_text())
    assert whoami(config, ssh=ssh) == own_sshd.user
    hops = own_sshd.root / "three"
    hops.write_text(
        sshd.ssh_config("hop").read_text() + sshd.ssh_config("hop2").read_text()
        + own_sshd.ssh_config("box", "ProxyJump hop,hop2").read_text()
    )  # fmt: skip
    assert whoami(hops, ssh=ssh) == own_sshd.user


def test_a_jump_host_that_is_not_known_is_refused_too(sshd: Sshd, own_sshd: Sshd, tmp_path: Path) -> None:
    own_sshd.start()
    hop = edited(sshd.ssh_config("hop"), tmp_path, UserKnownHostsFile=tmp_path / "nothing")
    config = tmp_path / "both"
    config.write_text(hop.read_text() + own_sshd.ssh_config("box", "ProxyJump hop").read_text())
    assert refusal(config).wrong.startswith("The key of hop")


def test_a_way_that_never_ends_is_said(sshd: Sshd) -> None:
    with pytest.raises(UserError, match="never ends"):
        whoami(sshd.ssh_config("box", "ProxyJump box"))


@pytest.mark.skipif(not Path("/usr/bin/ssh").exists(), reason="no OpenSSH client is installed (openssh-client)")
def test_a_proxy_command_is_run_and_ended(sshd: Sshd, own_sshd: Sshd) -> None:
    own_sshd.start()
    hop = sshd.ssh_config("hop")
    config = own_sshd.ssh_config("box", f"ProxyCommand ssh -F {hop} -W %h:%p hop")
    assert whoami(config) == own_sshd.user
    assert subprocess.run(["pgrep", "-f", f"ssh -F {hop} -W"], capture_output=True).stdout == b""
    assert "does not speak SSH" in refusal(own_sshd.ssh_config("bad", "ProxyCommand false"), "bad").wrong


def test_no_answer_no_host_and_no_ssh_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ssh_connect, "CONNECT_S", 1.0)
    config = tmp_path / "config"
    with socket.create_server(("127.0.0.1", 0)) as mute:
        config.write_text(
            f"Host closed\n  HostName 127.0.0.1\n  Port {free_port()}\n"
            f"Host mute\n  HostName 127.0.0.1\n  Port {mute.getsockname()[1]}\n"
            "Host nowhere\n  HostName no-such-host.invalid\n"
        )
        assert refusal(config, "closed").wrong.endswith("cannot be reached: Connection refused.")
        assert refusal(config, "nowhere").wrong == "No host is known as no-such-host.invalid."
        assert "mute does not speak SSH" in refusal(config, "mute").wrong


def test_an_sshd_without_forwarding_is_said_with_the_way_out(own_sshd: Sshd) -> None:
    own_sshd.extra = ("AllowTcpForwarding no",)
    own_sshd.start()
    link = SshLink.to(Address("box"), config=own_sshd.ssh_config())
    with pytest.raises(Exception, match="AllowTcpForwarding.*`local`"):
        link.open_tcp("127.0.0.1", own_sshd.port, timeout_s=5)
    link.close()


def edited(config: Path, folder: Path, **options: object) -> Path:
    """A configuration with some of its lines changed."""
    text = config.read_text()
    for name, value in options.items():
        text = re.sub(rf"(?m)^  {name} .*$", f"  {name} {value}", text)
    path = folder / "edited"
    path.write_text(text)
    return path
