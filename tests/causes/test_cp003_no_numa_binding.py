"""CP003: several nodes, nothing bound, and steps that jitter."""

import pytest

from ppagent.causes.cp003_no_numa_binding import CAUSE
from ppagent.evidence.evidence import FactValue
from tests.causes.builders import facts_of, judged

JITTER: dict[str, FactValue] = {
    "host.numa_nodes": 2,
    "args.pp_size": 8,
    "args.tp_size": 1,
    "engine.version": "0.5.12",
    "stated.sentences": ["Step times jitter and the straggler is a different rank each time"],
}


def test_unbound_ranks_that_jitter_on_two_nodes_support_it() -> None:
    assert judged(CAUSE, JITTER).state == "supported"


def test_the_ranks_are_bound_in_order_over_the_nodes() -> None:
    remedies = CAUSE.advise(facts_of(JITTER)).remedies
    assert remedies[0].change.set == {"--numa-node": "0 0 0 0 1 1 1 1"}
    assert remedies[1].change.env == {"SGLANG_AUTO_NUMA_BIND": "1"}


def test_a_version_without_automatic_binding_gets_the_flag_only() -> None:
    assert len(CAUSE.advise(facts_of({**JITTER, "engine.version": "0.5.5"})).remedies) == 1


def test_the_users_own_experiment_supports_it() -> None:
    values = {**JITTER, "stated.sentences": ["Started under numactl on the card's node it is 20 % faster"]}
    assert judged(CAUSE, values).state == "supported"


def test_two_nodes_without_binding_alone_are_no_finding() -> None:
    judgement = judged(CAUSE, {"host.numa_nodes": 2, "engine.version": "0.5.12"})
    assert judgement.state == "cannot_tell"
    assert judgement.probes[0].tool == "host.environment"


@pytest.mark.parametrize(
    "bound",
    [
        {"args.numa_node": [0, 0, 1, 1]},
        {"env.SGLANG_AUTO_NUMA_BIND": "1"},
        {"launch.command": "numactl -N 0 python -m sglang.launch_server"},
        {"engine.version": "0.5.18"},
        {"trouble.numa_bind": 8, "trouble.numa_bind.node": "1"},
    ],
)
def test_bound_ranks_refute_it(bound: dict[str, FactValue]) -> None:
    assert judged(CAUSE, {"host.numa_nodes": 2, "engine.version": "0.5.12", **bound}).state == "refuted"


def test_one_node_refutes_it_whatever_jitters() -> None:
    assert judged(CAUSE, {**JITTER, "host.numa_nodes": 1}).state == "refuted"


def test_an_unseen_host_cannot_be_told() -> None:
    assert judged(CAUSE, {"args.pp_size": 8}).state == "cannot_tell"
