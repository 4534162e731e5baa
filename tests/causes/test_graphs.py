"""Whether decode runs without graphs, by whichever setting says so."""

import pytest

from ppagent.causes.graphs import graphs_off, switched_off
from tests.causes.builders import facts_of


@pytest.mark.parametrize(
    "fact",
    [
        {"launch.disable_cuda_graph": True},
        {"args.disable_decode_cuda_graph": True},
        {"args.cuda_graph_backend_decode": "disabled"},
        {"launch.cuda_graph_config": '{"decode": {"backend": "disabled"}}'},
        {"args.attention_backend": "torch_native"},
        {"trouble.graph_disabled": 1},
    ],
)
def test_graphs_are_off_where_they_were_asked_off_run_off_or_are_forced_off(fact: dict[str, object]) -> None:
    assert graphs_off(facts_of(fact))


def test_graphs_are_not_off_where_nothing_says_so() -> None:
    assert not graphs_off(facts_of({"args.disable_cuda_graph": False, "args.attention_backend": "fa3"}))


def test_the_launch_names_the_switch_before_the_servers_own_argument_does() -> None:
    both = {"launch.disable_decode_cuda_graph": True, "args.disable_cuda_graph": True}
    found = switched_off(facts_of(both))
    assert found is not None
    assert found.flag == "--disable-decode-cuda-graph"
