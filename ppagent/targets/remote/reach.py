"""Where a server answers over HTTP: on the host itself, or in the network of its container."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from ppagent.errors import NotRecorded, ToolError
from ppagent.targets.remote.asking import AskSecret
from ppagent.targets.remote.link import Link, Stream
from ppagent.targets.remote.servers import Server, option

if TYPE_CHECKING:
    from ppagent.targets.remote.answers import Answers
    from ppagent.targets.remote.http_client import Way

OPEN_S = 10.0


def reach(link: Link, port: int | None, server_of: Callable[[], Server], ask: AskSecret | None) -> "Answers":
    """The API of a server. A port that the user named is tried before any command is run on the host, and without TLS
    first: whether it speaks that is told by its launch.

    Raises ToolError where nothing answers, NotRecorded where no server can be seen.
    """
    from ppagent.targets.remote.answers import Answers
    from ppagent.targets.remote.http_client import Way

    if port is not None and (stream := _opened(link, "127.0.0.1", port)):
        plain = Way(link, "127.0.0.1", port, stream)
        return Answers(plain, ask, lambda: _secured(plain, server_of))
    try:
        server = server_of()
    except NotRecorded as error:
        if port is None:
            raise
        raise ToolError(f"nothing answers on port {port} of {link.name}, and {error}") from error
    plain = _way(link, server)
    if not server.secure:
        return Answers(plain, ask)
    first, *others = _secured(plain, lambda: server)
    return Answers(first, ask, lambda: others)


def _way(link: Link, server: Server) -> "Way":
    from ppagent.targets.remote.http_client import Way

    if not server.container:
        return Way(link, server.address, server.port)
    _must_leave_its_container(server)
    if stream := _opened(link, server.address, server.port):
        return Way(link, server.address, server.port, stream)
    inner = server.listens[1]
    for address in server.launcher.addresses:
        if stream := _opened(link, address, inner):
            return Way(link, address, inner, stream)
    return Way(link, server.address, server.port)


def _must_leave_its_container(server: Server) -> None:
    """Raises ToolError where a server listens at the loopback of its own network, as it does without --host."""
    told = option(server.launcher.cmdline, "--host")
    if server.launcher.contained.apart and told in ("", "localhost", "127.0.0.1", "::1"):
        raise ToolError(
            f"the server listens at {told or '127.0.0.1'} of its container alone, where nothing outside reaches it; "
            "start it with --host 0.0.0.0"
        )


def _secured(plain: "Way", server_of: Callable[[], Server]) -> "list[Way]":
    """The ways to the same port over TLS; none where the launch says that it does not speak it."""
    from ppagent.targets.remote.http_client import Way
    from ppagent.targets.remote.trust import trusts, trusts_by_name

    link, address, port = plain.link, plain.address, plain.port
    try:
        server = server_of()
    except ToolError:
        return [Way(link, address, port, trust=trust) for trust in trusts_by_name(link.names)]
    _must_leave_its_container(server)
    if not server.secure:
        return []
    return [Way(link, address, port, trust=trust) for trust in trusts(link, server)]


def _opened(link: Link, address: str, port: int) -> Stream | None:
    """A connection; None where nothing answers."""
    try:
        return link.open_tcp(address, port, timeout_s=OPEN_S)
    except (ToolError, EOFError, OSError):
        return None
