"""A host over SSH: one connection, few channels, every command on a leash."""

import select
import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from paramiko.channel import Channel
from paramiko.ssh_exception import ChannelException, SSHException

from ppagent.errors import ToolError, UserError
from ppagent.targets.remote.address import Address
from ppagent.targets.remote.asking import AskSecret
from ppagent.targets.remote.leash import TIME_UP, leashed
from ppagent.targets.remote.link import GRACE_S, End, LinkLost, Running, Stream
from ppagent.targets.remote.ssh_connect import Connection, connect
from ppagent.targets.remote.ssh_door import SHELL_S, SLOW_S, Door
from ppagent.targets.remote.ssh_sessions import Sessions

_PIECE = 1 << 16
_PROHIBITED = 1
"""SSH_OPEN_ADMINISTRATIVELY_PROHIBITED (RFC 4254, 5.1)."""


class SshLink:
    """Commands and connections of a host, over one SSH connection."""

    kind = "ssh"

    def __init__(self, connection: Connection, again: "Callable[[], SshLink] | None" = None) -> None:
        self._again = again
        self.name = connection.config.alias
        self.names = tuple(dict.fromkeys((connection.config.hostname, self.name)))
        self._connection = connection
        self._sessions = Sessions(connection.transport, self.name)

    @classmethod
    def to(
        cls, address: Address, *, config: Path | None = None, ssh: str | None = None, ask: AskSecret | None = None
    ) -> "SshLink":
        """Logs in to a host. Raises UserError, with what to do about it."""
        link = cls(
            connect(address, config=config, ssh=ssh, ask=ask),
            lambda: cls.to(address, config=config, ssh=ssh, ask=ask),
        )
        link._sessions.open_ahead()
        return link

    def again(self) -> "SshLink":
        """Another connection to the same host. Raises UserError where there is none to be had."""
        if self._again is None:
            raise UserError(f"How {self.name} was logged in to is not known.", "Start anew.")
        return self._again()

    def start(self, argv: Sequence[str], *, timeout_s: float, stdin: bytes = b"") -> Running:
        try:
            channel = self._sessions.start(shlex.join(leashed(argv, timeout_s, stdin)), stdin)
        except (SSHException, EOFError, OSError) as error:
            raise self._lost(error) from error
        return SshRun(channel, timeout_s, self._sessions, self._connection.pulse.heard)

    def open_tcp(self, address: str, port: int, *, timeout_s: float) -> Stream:
        try:
            return self._connection.transport.open_channel(
                "direct-tcpip", (address, port), ("127.0.0.1", 0), timeout=timeout_s
            )
        except ChannelException as error:
            if error.code == _PROHIBITED:
                raise ToolError(
                    f"the sshd of {self.name} forbids connections through it (AllowTcpForwarding), so that the server "
                    "cannot be asked over HTTP; run ppagent on the host itself with the target `local`"
                ) from error
            raise ToolError(f"nothing answers on {address} port {port} of {self.name}") from error
        except (SSHException, EOFError, OSError) as error:
            if self._connection.transport.is_active() and not isinstance(error, TimeoutError):
                raise ToolError(f"no answer from {address} port {port} of {self.name}: {error}") from error
            raise self._lost(error) from error

    def close(self) -> None:
        self._connection.close()

    def _lost(self, error: BaseException) -> LinkLost:
        return LinkLost(f"the connection to {self.name} is lost: {error or type(error).__name__}")


class SshRun:
    """A command of the host under way."""

    def __init__(
        self, channel: Channel, timeout_s: float, sessions: Sessions, heard: Callable[[], None] = lambda: None
    ) -> None:
        self.end = End.LOST
        self.exit: int | None = None
        self._channel = channel
        self._timeout_s = timeout_s
        self._sessions = sessions
        self._heard = heard
        self._closed = False
        self._door = Door(sessions.word)
        self._began = time.monotonic()
        self._until = self._began + SHELL_S

    def pieces(self) -> Iterator[tuple[bool, bytes]]:
        try:
            yield from self._pieces()
        except (EOFError, OSError):  # even receiving sends something: how much more may come
            self.end = End.LOST

    def _pieces(self) -> Iterator[tuple[bool, bytes]]:
        channel = self._channel
        news = select.poll()
        news.register(channel.fileno(), select.POLLIN)
        while True:
            over = channel.eof_received or channel.closed
            waiting = (channel.recv_ready(), channel.recv_stderr_ready())
            if waiting[0]:
                yield from self._let_through(False, channel.recv(_PIECE))
            if waiting[1]:
                yield from self._let_through(True, channel.recv_stderr(_PIECE))
            if any(waiting):
                self._heard()
                if self._door.open or time.monotonic() < self._until:
                    continue
                self.end = End.NOT_READY
                return
            if over:
                break
            left_s = self._until - time.monotonic()
            if left_s <= 0:
                self.end = End.TIMED_OUT if self._door.open else End.NOT_READY
                return
            news.poll(1000 * (left_s if self._door.open else min(left_s, self._before_telling_s())))
        if self._door.before:
            yield True, self._door.before
        self._settle()

    def _let_through(self, is_error: bool, piece: bytes) -> Iterator[tuple[bool, bytes]]:
        was_open = self._door.open
        own = self._door.through(is_error, piece)
        if self._door.open and not was_open:
            self._began = time.monotonic()
            self._until = self._began + self._timeout_s + GRACE_S
        if own:
            yield is_error, own

    def _before_telling_s(self) -> float:
        """How much longer the shell is waited for in silence."""
        left_s = self._began + SLOW_S - time.monotonic()
        if left_s > 0:
            return left_s
        self._sessions.patience.say()
        return SHELL_S

    def _settle(self) -> None:
        if not self._channel.status_event.wait(max(0.0, self._until - time.monotonic())):
            self.end = End.TIMED_OUT
            return
        status = self._channel.exit_status
        if status < 0:
            return
        self.exit = status
        over = time.monotonic() - self._began >= self._timeout_s
        self.end = End.TIMED_OUT if status in TIME_UP and over else End.EXITED

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._sessions.give_back(self._channel)
