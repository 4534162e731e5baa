"""A way to a host that outlives its connection: what was begun there has to be put back, though the line broke."""

import atexit
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ppagent.errors import UserError
from ppagent.targets.remote.link import End, Link, LinkLost, Running, Stream, run

if TYPE_CHECKING:
    from ppagent.targets.remote.ssh_link import SshLink

RENEW_S = 120.0
"""For how long a new connection is tried for."""
BETWEEN_S = 3.0
QUIET_S = 5.0
"""A connection that was not used for so long is tried before a deed is trusted to it: of a line that broke meanwhile
nobody may know yet, and a deed that is lost on the way is not done again."""
TRY_S = 40.0
"""Longer than a connection takes to be known as lost (`ssh_pulse`, `ssh_connect`)."""


def lasting(link: Link) -> Link:
    """The same way, which logs in anew where the connection is lost. What is under way then is lost all the same."""
    if link.kind != "ssh":
        return link
    from ppagent.targets.remote.ssh_link import SshLink

    return LastingLink(link) if isinstance(link, SshLink) else link


class LastingLink:
    """One host, over one connection after the other."""

    kind = "ssh"

    def __init__(self, link: "SshLink") -> None:
        self.name, self.names = link.name, link.names
        self._link = link
        self._guard = threading.Lock()
        self._used = time.monotonic()

    def start(self, argv: Sequence[str], *, timeout_s: float, stdin: bytes = b"") -> Running:
        link = self._tried()
        try:
            return link.start(argv, timeout_s=timeout_s, stdin=stdin)
        except LinkLost:
            return self._other_than(link).start(argv, timeout_s=timeout_s, stdin=stdin)

    def open_tcp(self, address: str, port: int, *, timeout_s: float) -> Stream:
        link = self._link
        try:
            return link.open_tcp(address, port, timeout_s=timeout_s)
        except LinkLost:
            return self._other_than(link).open_tcp(address, port, timeout_s=timeout_s)

    def close(self) -> None:
        self._link.close()

    def _tried(self) -> "SshLink":
        link, quiet_s = self._link, time.monotonic() - self._used
        self._used = time.monotonic()
        if quiet_s < QUIET_S:
            return link
        try:
            lost = run(link, ["true"], timeout_s=TRY_S).end is End.LOST
        except LinkLost:
            lost = True
        return self._other_than(link) if lost else link

    def _other_than(self, lost: "SshLink") -> "SshLink":
        """A new connection in place of the one that was lost, made once for all who miss it."""
        with self._guard:
            if self._link is lost:
                self._link = _renewed(lost)
                atexit.register(self._link.close)
            return self._link


def _renewed(lost: "SshLink") -> "SshLink":
    until = time.monotonic() + RENEW_S
    while True:
        try:
            return lost.again()
        except UserError as error:
            if time.monotonic() > until:
                raise LinkLost(
                    f"the connection to {lost.name} is lost, and no new one is to be had: {error}"
                ) from error
        time.sleep(BETWEEN_S)
