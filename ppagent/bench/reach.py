"""From what a user named to a server's HTTP: an address, or a live target whose server is found on its host."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ppagent.bench.control import Control
from ppagent.bench.endpoint import Endpoint, is_url, parse_endpoint
from ppagent.bench.key import let_in_by
from ppagent.errors import NotRecorded, ToolError, UserError

if TYPE_CHECKING:
    from ppagent.bench.tunnel import Tunnel
    from ppagent.targets.live import LiveTarget
    from ppagent.targets.live_host import LiveHost
    from ppagent.targets.remote.http_client import Way
    from ppagent.targets.remote.link import Link
    from ppagent.targets.remote.trust import Trust

_ADVICE = "Name a live server: http://HOST:PORT, local, or ssh://HOST."


def _nothing() -> None:
    """Nothing is held open."""


@dataclass
class Reached:
    """A server that can be asked. `name` is what it goes by in notes and results; it stays the same from run to run.

    `host` is the machine it runs on, where that can be looked at; None for a bare address elsewhere.
    """

    name: str
    endpoint: Endpoint
    host: "LiveHost | None" = None
    beside: "tuple[LiveHost, ...]" = ()
    """The other hosts that were named and could be reached."""
    close: Callable[[], None] = field(default=_nothing)

    @property
    def control(self) -> Control:
        return Control(self.endpoint)


def reach(text: str, port: int | None, environ: Mapping[str, str]) -> Reached:
    """The server that `text` names. Raises UserError where it names none that is live, ToolError where it cannot be
    reached. An address on this machine is looked at as `local` is, once its host is needed."""
    if is_url(text):
        endpoint = parse_endpoint(text, environ)
        return let_in(Reached(endpoint.name, endpoint))
    from ppagent.targets.open_live import is_live, not_all_hosts, open_live

    if not is_live(text):
        raise not_all_hosts(text) or UserError(f"{text} is no live server.", _ADVICE)
    target = open_live(text, port=port)
    try:
        return let_in(reach_target(target, port, environ, text))
    except BaseException:
        target.close()
        raise


def let_in(reached: Reached) -> Reached:
    """The same with the key that it wants, which a person at the terminal is asked for where the environment has none
    that it takes."""
    reached.endpoint = let_in_by(reached.endpoint, reached.name)
    return reached


def reach_target(target: "LiveTarget", port: int | None, environ: Mapping[str, str], text: str = "") -> Reached:
    """The server of a live target: the one on the host that has pipeline stage 0. `text` is what it was opened by, to
    open it once more where the connection is lost. Raises ToolError where no way to it is found, one over TLS whose
    certificate is trusted among them, and UserError where only another node than the first was named."""
    host = target.live_host(target.hosts[0])
    _must_be_first(host)
    name, way = name_of(target, port), host.way()
    environ = {**environ, "SGLANG_API_KEY": host.typed_key} if host.typed_key else environ
    if host.link.kind == "local":
        endpoint = over(parse_endpoint(_url(way.address, way.port, way.trust is not None), environ), way.trust)
        return Reached(name, endpoint, host, _beside(target), target.close)
    return _tunnelled(target, name, way, environ, text)


def name_of(target: "LiveTarget", port: int | None = None) -> str:
    """What the server of a live target goes by, without opening a way to it. Raises ToolError."""
    host = target.live_host(target.hosts[0])
    address, found, secure = _place(host, port)
    if host.link.kind != "local":
        return _ssh_name(host, found)
    return parse_endpoint(_url(address, found, secure)).name


def over(endpoint: Endpoint, trust: "Trust | None") -> Endpoint:
    """The endpoint with what recognises the server there."""
    if trust is None:
        return endpoint
    return replace(endpoint, recognised_by=trust.context, server_name=trust.name)


def through(tunnel: "Tunnel", environ: Mapping[str, str], trust: "Trust | None") -> Endpoint:
    """The near end of a tunnel, which carries TLS as it is where the server speaks it."""
    return over(parse_endpoint(_url("127.0.0.1", tunnel.port, trust is not None), environ), trust)


def _url(address: str, port: int, secure: bool) -> str:
    name = f"[{address}]" if ":" in address else address
    return f"{'https' if secure else 'http'}://{name}:{port}"


def _ssh_name(host: "LiveHost", port: int) -> str:
    return f"ssh://{host.link.name}/{port}"


def _tunnelled(target: "LiveTarget", name: str, way: "Way", environ: Mapping[str, str], text: str) -> Reached:
    from ppagent.bench.tunnel import Tunnel
    from ppagent.targets.open_live import open_live

    opened = [target]

    def again() -> "Link":
        opened.append(open_live(_named(target, text)))
        return opened[-1].live_host(opened[-1].hosts[0]).link

    tunnel = Tunnel(way.link, way.address, way.port, again if text else None)
    endpoint = replace(
        through(tunnel, environ, way.trust), route=f"through the SSH tunnel to {way.link.name}", told=name
    )

    def close() -> None:
        tunnel.close()
        for each in opened:
            each.close()

    return Reached(name, endpoint, target.live_host(target.hosts[0]), _beside(target), close)


def _named(target: "LiveTarget", text: str) -> str:
    """The part of what the user named that is the host with stage 0: the others are not needed to reach the server."""
    return text.split(",")[target.name.split(",").index(target.hosts[0])]


def _must_be_first(host: "LiveHost") -> None:
    """Raises UserError where another node than the first is all there is: only that one serves the API."""
    try:
        rank = host.server.node_rank
    except NotRecorded:
        return
    if rank:
        raise UserError(
            f"{host.link.name} is node {rank} of its deployment, and node 0 alone serves the API.",
            "Name the host of node 0, by itself or beside this one.",
        )


def _beside(target: "LiveTarget") -> "tuple[LiveHost, ...]":
    found = []
    for label in target.hosts[1:]:
        with suppress(ToolError):  # one that cannot be reached
            found.append(target.live_host(label))
    return tuple(found)


def _place(host: "LiveHost", port: int | None) -> tuple[str, int, bool]:
    """(address, port, whether it speaks TLS) on the host itself. A server of which no process can be seen is believed
    to be at the port that was named."""
    try:
        server = host.server
    except NotRecorded:
        if port is None:
            raise
        return "127.0.0.1", port, False
    return server.address, server.port, server.secure
