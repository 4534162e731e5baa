"""Where a server answers over HTTP: on the host itself, or in the network of its container."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from ppagent.errors import NotRecorded, ToolError
from ppagent.targets.remote.asking import AskSecret
from ppagent.targets.remote.link import Link, run
from ppagent.targets.remote.servers import Server

if TYPE_CHECKING:
    from ppagent.targets.remote.answers import Answers

OPEN_S = 10.0
_ADDRESSES = "{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}"


def reach(link: Link, port: int | None, server_of: Callable[[], Server], ask: AskSecret | None) -> "Answers":
    """The API of a server. A port that the user named is tried before any command is run on the host.

    Raises ToolError where nothing answers, NotRecorded where no server can be seen.
    """
    from ppagent.targets.remote.answers import Answers

    if port is not None and _answers_at(link, "127.0.0.1", port):
        return Answers(link, "127.0.0.1", port, ask=ask)
    try:
        server = server_of()
    except NotRecorded as error:
        if port is None:
            raise
        raise ToolError(f"nothing answers on port {port} of {link.name}, and {error}") from error
    address = server.address
    if server.container and not _answers_at(link, address, server.port):
        address = _address_of(link, server.container) or address
    return Answers(link, address, server.port, secure=server.secure, ask=ask)


def _answers_at(link: Link, address: str, port: int) -> bool:
    try:
        link.open_tcp(address, port, timeout_s=OPEN_S).close()
    except (ToolError, EOFError, OSError):
        return False
    return True


def _address_of(link: Link, container: str) -> str:
    """The container's own address; empty where docker does not tell."""
    ran = run(link, ["docker", "inspect", "--format", _ADDRESSES, container], timeout_s=OPEN_S)
    return next(iter(ran.text.split()), "") if ran.ok else ""
