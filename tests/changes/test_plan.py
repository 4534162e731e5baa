"""The seed's plan: live first, then one restart, then that restart with a better split; all legal, all priced."""

import pytest

from ppagent.agent.investigation import Investigation
from ppagent.sglang.flags.history import catalogue_of
from ppagent.sglang.launch.command import parse_launch
from ppagent.sglang.legality.check import check


def test_the_first_step_is_the_live_limit_and_the_second_drops_the_graph_switch(seed: Investigation) -> None:
    first, second, third = seed.plan.proposals
    assert (first.kind, dict(first.change.set)) == ("live", {"--pp-max-micro-batch-size": "1"})
    assert second.kind == "relaunch"
    assert second.change.unset == ("--disable-cuda-graph",)
    assert second.change.set == {"--pp-max-micro-batch-size": "1"}
    assert third.change.env == {"SGLANG_PP_LAYER_PARTITION": "8,8,8,8,8,8,8,5"}


def test_the_whole_commands_are_accepted_by_the_installed_version(seed: Investigation) -> None:
    catalogue = catalogue_of("0.5.11")
    for proposal in seed.plan.proposals[1:]:
        launch = parse_launch(proposal.command, catalogue)
        assert "--disable-cuda-graph" not in proposal.command
        assert launch.args["pp_max_micro_batch_size"] == 1
        assert launch.args["attention_backend"] == "triton"
        problems = check(launch, "0.5.11", catalogue, num_layers=61)
        assert [p for p in problems if p.kind == "refused"] == []


@pytest.mark.parametrize(
    ("proposal", "low", "high"),
    [(0, 150, 205), (1, 190, 216), (2, 245, 286)],
)
def test_forecasts_fall_where_the_ring_model_puts_them(
    seed: Investigation, proposal: int, low: float, high: float
) -> None:
    predicted = seed.plan.proposals[proposal].predicted
    assert predicted is not None
    assert predicted.baseline == 95.6
    assert predicted.at_concurrency == 8
    assert low <= predicted.low < predicted.high <= high


def test_graphs_alone_are_not_sold_at_eight_requests(seed: Investigation) -> None:
    gains = seed.plan.gains
    assert gains["CG001"].high <= 1.05 * 95.6
    assert gains["PP001"].low >= 1.5 * 95.6


def test_the_depth_is_declined_with_its_reason_and_never_proposed(seed: Investigation) -> None:
    (depth,) = [d for d in seed.plan.declined if d.lever == "--pp-async-batch-depth"]
    assert "slots" in depth.why
    assert all("--pp-async-batch-depth" not in p.command for p in seed.plan.proposals)


def test_the_live_call_reads_back_and_carries_no_key(seed: Investigation) -> None:
    call = seed.plan.proposals[0].command
    assert '{"server_args": {"pp_max_micro_batch_size": 1}}' in call
    assert "server_info" in call.splitlines()[1]
    assert "0.0.0.0" not in call


def test_the_waterfall_leads_from_the_ceiling_to_what_was_observed(seed: Investigation) -> None:
    steps = seed.plan.waterfall
    assert (steps[0].step, steps[-1].step, steps[-1].value) == ("limit", "observed", 95.6)
    assert sum(step.value for step in steps[:-1]) == pytest.approx(95.6, abs=0.11)
    assert {step.step for step in steps} >= {"PP001", "CG001", "PP004", "unexplained"}


def test_every_citation_of_a_proposal_exists(seed: Investigation) -> None:
    known = {e.id for e in seed.evidence}
    for proposal in seed.plan.proposals:
        assert proposal.cites
        assert set(proposal.cites) <= known
