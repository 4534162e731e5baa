"""Other nodes of a server: each with its own launch changed, and none that is no node of it."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from ppagent.causes.cause import Change
from ppagent.errors import NotRecorded, ToolError
from ppagent.targets.remote.processes import Process
from ppagent.targets.remote.servers import Server
from ppagent.trials.other_nodes import other_nodes

ARGV = ("/usr/bin/python3", "-m", "sglang.launch_server", "--model-path", "m", "--pp-size", "4", "--nnodes", "2")
LIMIT = Change({"--pp-max-micro-batch-size": "1"})


def server(rank: int) -> Server:
    return Server(Process(100 + rank, 1, (*ARGV, "--node-rank", str(rank))), (), 30000, "127.0.0.1")


@dataclass
class FakeLiveHost:
    """A host with a server, or with the reason why none can be seen."""

    seen: Server | ToolError
    link: Any = field(default_factory=object)

    @property
    def server(self) -> Server:
        if isinstance(self.seen, ToolError):
            raise self.seen
        return self.seen

    def source(self) -> Any:
        raise NotRecorded("no source")


def test_another_node_gets_the_change_in_its_own_launch() -> None:
    host = FakeLiveHost(server(1))
    (node,) = other_nodes(server(0), [host], LIMIT, "0.5.10")  # type: ignore[list-item]
    assert (node.link, node.server) == (host.link, server(1))
    assert node.launch.argv == (*ARGV, "--node-rank", "1", "--pp-max-micro-batch-size", "1")


@pytest.mark.parametrize("seen", [server(0), NotRecorded("no process"), ToolError("the connection is lost")])
def test_a_host_of_no_other_node_is_left_out(seen: Server | ToolError) -> None:
    assert other_nodes(server(0), [FakeLiveHost(seen)], LIMIT, "0.5.10") == ()  # type: ignore[list-item]
