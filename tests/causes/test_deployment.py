"""Which host is which node, and which stages it holds: as SGLang deals ranks out to nodes."""

import pytest

from ppagent.causes.deployment import deployment, ranks_of_hosts, stages_of
from ppagent.evidence.evidence import Evidence, FactValue
from ppagent.evidence.facts import Facts


def launched(host: str, rank: int | None, **asked: FactValue) -> Evidence:
    told: dict[str, FactValue] = {"launch.command": "sglang serve m"} | {f"launch.{k}": v for k, v in asked.items()}
    if rank is not None:
        told["launch.node_rank"] = rank
    return Evidence(f"E{host}", "server.launch", "launch.txt", told, host=host)


@pytest.mark.parametrize(
    ("rank", "count", "depth", "stages"),
    [
        (0, 2, 4, (0, 1)),
        (1, 2, 4, (2, 3)),
        (0, 2, 1, (0,)),
        (1, 2, 1, (0,)),
        (2, 4, 2, (1,)),
        (3, 4, 8, (6, 7)),
        (1, 2, 0, ()),
        (5, 4, 4, ()),
    ],
)
def test_stages_are_dealt_out_to_nodes_as_the_server_does_it(
    rank: int, count: int, depth: int, stages: tuple[int, ...]
) -> None:
    assert stages_of(rank, count, depth) == stages


def test_every_node_has_its_host_and_one_that_was_not_read_has_none() -> None:
    whole = deployment(Facts([launched("b", 1, nnodes=3, pp_size=6), launched("a", 0, nnodes=3, pp_size=6)]))
    assert [(node.host, node.holds) for node in whole] == [("a", "stages 0-1"), ("b", "stages 2-3"), ("", "stages 4-5")]


def test_a_server_on_one_host_is_no_deployment_of_several() -> None:
    assert deployment(Facts([launched("a", None, pp_size=4)])) == ()
    assert deployment(Facts()) == ()


@pytest.mark.parametrize("count", [-1, 0, 10**9, "two", None])
def test_a_number_of_nodes_that_no_deployment_has_is_none(count: FactValue) -> None:
    assert deployment(Facts([launched("a", 0, nnodes=count, pp_size=4)])) == ()


def test_a_launch_without_a_rank_is_of_the_first_node_and_the_launch_counts_before_the_server() -> None:
    says = Evidence("S", "http.info", "server_info.json", {"args.node_rank": 3}, host="b", authority=3)
    assert ranks_of_hosts(Facts([launched("a", None), launched("b", 1), says])) == {"b": 1, "a": 0}


def test_of_two_hosts_with_one_rank_the_first_is_the_node() -> None:
    whole = deployment(Facts([launched("a", 0, nnodes=2, pp_size=2), launched("b", 0, nnodes=2, pp_size=2)]))
    assert [node.host for node in whole] == ["a", ""]
