"""What a user calls a host: `ssh://[user@]host[:port]`, a Host of the ssh configuration, or `local`."""

import re
from dataclasses import dataclass

from ppagent.errors import UserError

_ADDRESS = re.compile(
    r"ssh://(?:(?P<user>[A-Za-z0-9._][A-Za-z0-9._-]*)@)?"
    r"(?P<host>\[[0-9A-Fa-f:.]+(?:%[A-Za-z0-9_.-]+)?\]|[A-Za-z0-9_.][A-Za-z0-9_.-]*)(?::(?P<port>\d{1,5}))?/?"
)
ALIAS = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_.-]*")
"""What may be the name of a Host of the ssh configuration."""


@dataclass(frozen=True)
class Address:
    """A host to log in to. `user` and `port` are None where the ssh configuration is to say."""

    host: str
    user: str | None = None
    port: int | None = None


def parse_address(text: str) -> Address:
    """An address as a user writes it. Raises UserError where it is none; what begins with a dash never is."""
    match = _ADDRESS.fullmatch(text)
    if match is None and ALIAS.fullmatch(text):
        return Address(text)
    if match is None:
        raise UserError(
            f"{text} is no address of a host.", "Write ssh://[user@]host[:port] or a Host of the ssh configuration."
        )
    port = int(match["port"]) if match["port"] else None
    if port is not None and not 0 < port < 65536:
        raise UserError(f"{text} names port {port}.", "A port is a number from 1 to 65535.")
    return Address(match["host"].strip("[]"), match["user"], port)
