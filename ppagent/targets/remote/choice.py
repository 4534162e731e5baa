"""Which of the servers of a host is meant."""

import shlex
from collections.abc import Sequence

from ppagent.errors import NotRecorded, UserError
from ppagent.evidence.masking import mask
from ppagent.targets.remote.processes import Process
from ppagent.targets.remote.servers import Server
from ppagent.targets.target import NO_SERVER


def choose(servers: Sequence[Server], port: int | None, host: str, ended: str = "") -> Server:
    """The server that is meant: by its port on the host, else by the one that it listens at in its container. Raises
    UserError where that cannot be told, NotRecorded where none runs; `ended` says of which it is known."""
    meant = [server for server in servers if port is None or server.port == port]
    meant = _on_the_host(meant) if len(meant) > 1 and port is not None else meant
    meant = meant or [server for server in servers if server.listens[1] == port]
    meant = meant or [server for server in servers if _may_be_at_any_port(server)]
    if len(meant) == 1:
        return meant[0]
    listed = "; ".join(f"port {s.port}{_where(s)}: {_told(s.launcher)}" for s in servers)
    if len(meant) > 1:
        raise UserError(
            f"{len(meant)} SGLang servers run on {host} ({listed}).", f"Choose one with --port{_once(meant)}."
        )
    if servers:
        raise UserError(f"No SGLang server on {host} has port {port}.", f"There is {listed}.")
    raise NotRecorded(f"{NO_SERVER} {host}{f'; {ended}' if ended else ''}")


def _once(servers: Sequence[Server]) -> str:
    """What has to be done before one of several can be chosen by its port; empty where they have different ones."""
    if len({server.port for server in servers}) == len(servers):
        return ""
    hidden = next((server.engine for server in servers if _may_be_at_any_port(server)), "")
    if hidden:
        return f", as an account that may ask which port leads to which (`sudo {hidden} ps`)"
    return ", once each container publishes a port of its own (-p 31001:30000)"


def _on_the_host(servers: list[Server]) -> list[Server]:
    """Those whose port is one of the host's, where others have it in a network of their own."""
    on_host = [server for server in servers if not server.launcher.contained.apart or server.listens[1] != server.port]
    return on_host or servers


def _may_be_at_any_port(server: Server) -> bool:
    """Whether ports of the host may lead to it of which this account is not told."""
    contained = server.launcher.contained
    return contained.apart and bool(server.engine) and not (contained.leads or contained.name)


def _where(server: Server) -> str:
    """The container of a server, and its port in there where that is another one."""
    contained = server.launcher.contained
    if not contained.name:
        return ""
    inner = server.listens[1]
    return f" ({f'{inner} in ' if inner != server.port else ''}container {contained.name})"


def _told(launcher: Process) -> str:
    """The beginning of a launch from its first option on: what tells it from another, without secrets."""
    words = list(launcher.cmdline)
    first = next((place for place, word in enumerate(words) if word.startswith("--")), 0)
    return mask(shlex.join(words[first:]))[:80]
