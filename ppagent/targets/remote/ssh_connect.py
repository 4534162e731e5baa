"""Opening a connection to a host, through the hosts in front of it where the configuration says so."""

import logging
import os
import socket
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from paramiko.ssh_exception import ChannelException, SSHException
from paramiko.transport import Transport

from ppagent.errors import ExitStatus, UserError
from ppagent.targets.remote.address import Address, parse_address
from ppagent.targets.remote.asking import AskSecret
from ppagent.targets.remote.ssh_config import HostConfig, resolve
from ppagent.targets.remote.ssh_host_key import check_host_key, host_of, prefer_known_kinds
from ppagent.targets.remote.ssh_login import Login
from ppagent.targets.remote.ssh_pulse import Pulse

CONNECT_S = 15.0
FROZEN_MS = 20_000
"""A connection on which nothing is acknowledged for so long is dead."""
MOST_JUMPS = 5


@dataclass
class Connection:
    """A host that was logged in to, and what has to be closed with it."""

    config: HostConfig
    transport: Transport
    beneath: list["Connection"] = field(default_factory=list)
    helper: subprocess.Popen[bytes] | None = None
    pulse: Pulse = field(init=False)

    def __post_init__(self) -> None:
        self.pulse = Pulse(self.transport)

    def close(self) -> None:
        self.transport.close()
        for connection in self.beneath:
            connection.close()
        if self.helper is not None:
            self.helper.terminate()
            self.helper.wait()


def connect(
    address: Address,
    *,
    config: Path | None = None,
    ssh: str | None = None,
    ask: AskSecret | None = None,
    depth: int = 0,
) -> Connection:
    """Logs in to a host. `config` and `ssh` are those of `resolve`. Raises UserError, with what to do about it."""
    logging.getLogger("paramiko").setLevel(logging.CRITICAL)
    told = resolve(address, config, ssh)
    if depth > MOST_JUMPS:
        raise UserError(f"The way to {told.alias} never ends.", "Look at ProxyJump in the ssh configuration.")
    connection: Connection | None = None
    beneath: list[Connection] = []
    helper: subprocess.Popen[bytes] | None = None
    try:
        if told.jumps:
            beneath = _jumps(told, config, ssh, ask, depth)
            sock = _through(beneath[-1], told)
        elif told.proxy_command:
            helper, sock = _proxy_command(told.proxy_command)
        else:
            sock = _direct(told)
        connection = Connection(told, _transport(sock, told), beneath, helper)
        _let_in(connection, ask)
    except BaseException:
        _abandon(connection, beneath, helper)
        raise
    return connection


def _abandon(connection: Connection | None, beneath: list[Connection], helper: subprocess.Popen[bytes] | None) -> None:
    if connection is not None:
        connection.close()
        return
    for jump in beneath:
        jump.close()
    if helper is not None:
        helper.terminate()
        helper.wait()


def _direct(told: HostConfig) -> socket.socket:
    try:
        sock = socket.create_connection((told.hostname, told.port), timeout=CONNECT_S)
    except socket.gaierror as error:
        raise _failed(f"No host is known as {told.hostname}", "Check the name and the ssh configuration.") from error
    except OSError as error:
        why = error.strerror or "no answer" if not isinstance(error, TimeoutError) else "no answer"
        raise _failed(f"{told.alias} ({told.hostname} port {told.port}) cannot be reached: {why}") from error
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, FROZEN_MS)
    return sock


def _jumps(
    told: HostConfig, config: Path | None, ssh: str | None, ask: AskSecret | None, depth: int
) -> list[Connection]:
    """The first jump as its own configuration has it, each further one through the one before."""
    opened: list[Connection] = []
    try:
        for place, text in enumerate(told.jumps):
            address = parse_address(text if text.startswith("ssh://") else f"ssh://{text}")
            if place == 0:
                opened.append(connect(address, config=config, ssh=ssh, ask=ask, depth=depth + 1))
                continue
            jump = resolve(address, config, ssh)
            opened.append(Connection(jump, _transport(_through(opened[-1], jump), jump)))
            _let_in(opened[-1], ask)
    except BaseException:
        for connection in reversed(opened):
            connection.close()
        raise
    return opened


def _through(jump: Connection, told: HostConfig) -> "socket.socket":
    """A channel from a jump host to the next one; it is as good as a socket to a transport."""
    try:
        channel = jump.transport.open_channel(
            "direct-tcpip", (told.hostname, told.port), ("127.0.0.1", 0), timeout=CONNECT_S
        )
    except (ChannelException, SSHException, EOFError) as error:
        raise _failed(f"{told.alias} cannot be reached through {jump.config.alias}: {error}") from error
    return channel  # type: ignore[return-value]


def _proxy_command(command: str) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """The user's own ProxyCommand, run by the shell as ssh runs it, and our end of it."""
    ours, theirs = socket.socketpair()
    shell = os.environ.get("SHELL") or "/bin/sh"
    try:
        helper = subprocess.Popen([shell, "-c", f"exec {command}"], stdin=theirs.fileno(), stdout=theirs.fileno())
    except OSError as error:
        ours.close()
        raise _failed(f"The ProxyCommand cannot be started: {error.strerror or error}") from error
    finally:
        theirs.close()
    return helper, ours


def _transport(sock: socket.socket, told: HostConfig) -> Transport:
    try:
        transport = Transport(sock)
    except SSHException as error:
        sock.close()
        raise _failed(f"{told.alias} cannot be reached: {error}") from error
    transport.banner_timeout = transport.auth_timeout = transport.channel_timeout = CONNECT_S
    return transport


def _let_in(connection: Connection, ask: AskSecret | None) -> None:
    known = host_of(connection.config)
    prefer_known_kinds(connection.transport, known)
    try:
        connection.transport.start_client(timeout=CONNECT_S)
        connection.transport.get_remote_server_key()  # raises where the time was up, of which start_client says nothing
    except (SSHException, EOFError, OSError) as error:
        raise _failed(f"{connection.config.alias} does not speak SSH with us: {str(error) or 'it hung up'}") from error
    check_host_key(connection.transport, connection.config, known)
    Login(connection.transport, connection.config, ask).log_in()
    connection.pulse.start()


def _failed(wrong: str, advice: str = "") -> UserError:
    return UserError(f"{wrong}.", advice or "See whether ssh gets there.", ExitStatus.FAILURE)
