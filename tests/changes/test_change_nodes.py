"""A change over several nodes: each has a command of its own, and the report says which goes where."""

from ppagent.causes.cause import Change
from ppagent.changes.commands import Installed
from ppagent.changes.nodes import TOGETHER, Spread, spread_of
from ppagent.changes.proposal import Elsewhere, Proposal
from ppagent.evidence.evidence import Evidence, FactValue
from ppagent.evidence.facts import Facts

LIMIT = Change({"--pp-max-micro-batch-size": "1"})


def command(rank: int) -> str:
    return f"python -m sglang.launch_server --model-path m --pp-size 4 --nnodes 2 --node-rank {rank}"


def facts(*ranks: int, **asked: FactValue) -> Facts:
    told = {"launch.nnodes": 2, "launch.pp_size": 4, **{f"launch.{name}": value for name, value in asked.items()}}
    return Facts(
        Evidence(
            f"E{rank}",
            "server.launch",
            "launch.txt",
            {**told, "launch.command": command(rank), "launch.node_rank": rank},
            host=f"host{rank}",
        )
        for rank in ranks
    )


def spread(kind: str, told: Facts) -> Spread:
    return spread_of(kind, LIMIT, Installed.of(told), told)  # type: ignore[arg-type]


def test_every_node_gets_its_own_command_with_its_own_rank() -> None:
    found = spread("relaunch", facts(0, 1))
    assert found.host == "host0"
    assert found.elsewhere == (Elsewhere("host1", f"{command(1)} --pp-max-micro-batch-size 1"),)
    assert found.risks == (TOGETHER,)


def test_a_node_that_was_not_read_is_named_as_one_whose_command_is_to_be_changed_too() -> None:
    found = spread("relaunch", facts(0))
    assert found.elsewhere == ()
    assert found.risks == (TOGETHER, "make the same change in the command of node 1, which was not read")
    assert "command of node 0, which" in spread("relaunch", facts(1)).risks[1]


def test_a_live_change_is_made_on_the_first_node_alone() -> None:
    assert spread("live", facts(1, 0)) == Spread("host0")


def test_a_server_on_one_host_is_told_nothing_of_nodes() -> None:
    assert spread("relaunch", facts(0, nnodes=1)) == Spread()
    assert spread("operator", facts(0, 1)) == Spread()


def test_all_there_is_to_run_stands_under_its_host() -> None:
    one = Proposal("P1", (), "relaunch", "", LIMIT, (), command="a")
    assert one.commands == "a"
    two = Proposal("P1", (), "relaunch", "", LIMIT, (), command="a", host="x", elsewhere=(Elsewhere("y", "b"),))
    assert two.commands == "# on x\na\n# on y\nb"
