"""The other nodes of a server over several hosts, each with the change made in its own launch."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ppagent.causes.cause import Change
from ppagent.errors import ToolError
from ppagent.trials.launches import new_launch
from ppagent.trials.way import Node

if TYPE_CHECKING:
    from ppagent.targets.live_host import LiveHost
    from ppagent.targets.remote.servers import Server


def other_nodes(first: "Server", hosts: "Sequence[LiveHost]", change: Change, version: str) -> tuple[Node, ...]:
    """Of `hosts`, those that hold another node than `first`. One whose server cannot be seen is left out.

    Raises UserError where the change cannot be made in a launch."""
    found = []
    for host in hosts:
        try:
            server = host.server
        except ToolError:
            continue
        if server.node_rank != first.node_rank:
            found.append(Node(host.link, server, new_launch(server.launcher.cmdline, change, version, host.source)))
    return tuple(found)
