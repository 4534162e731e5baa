"""How many ranks there are, where the launch does not say it or says it in a variable."""

import pytest
from builders import facts_of, judged

from ppagent.causes import (
    cg001_decode_graphs_off,
    ic001_tp_over_pcie,
    kr001_unsuitable_attention_backend,
    kv003_cap_reduced_at_start,
    pp001_micro_batches_unfilled,
    pp004_uneven_stages,
    sp001_acceptance_low,
)
from ppagent.causes.cause import STAGES_ASKED, Cause
from ppagent.causes.links import nodes
from ppagent.causes.situation import arguments_known, data_parallel, stages, tensor_parallel
from ppagent.evidence.evidence import FactValue

COMMAND: dict[str, FactValue] = {"launch.command": "python -m sglang.launch_server ...", "launch.model_path": "m"}


def test_an_absent_size_is_one_where_the_launch_is_whole() -> None:
    ring, ranks = stages(facts_of(COMMAND)), tensor_parallel(facts_of(COMMAND))
    assert ring is not None and ring.value == 1
    assert ranks is not None and ranks.value == 1


@pytest.mark.parametrize("value", ["$PP", "<N>", "${PP:?}"])
def test_a_size_that_cannot_be_read_is_not_its_default(value: str) -> None:
    facts = facts_of({**COMMAND, "launch.pp_size": value, "launch.tp_size": value, "launch.nnodes": value})
    assert stages(facts) is None
    assert tensor_parallel(facts) is None
    assert nodes(facts) is None
    for cause in (pp001_micro_batches_unfilled.CAUSE, ic001_tp_over_pcie.CAUSE):
        assert judged(cause, {**COMMAND, "launch.pp_size": value, "launch.tp_size": value}).state == "cannot_tell"


def test_what_a_launch_with_unknown_variables_lacks_is_not_known_to_be_absent() -> None:
    values: dict[str, FactValue] = {**COMMAND, "launch.untold": ["$EXTRA_ARGS"]}
    assert not arguments_known(facts_of(values))
    assert stages(facts_of(values)) is None
    for cause in (cg001_decode_graphs_off.CAUSE, sp001_acceptance_low.CAUSE, pp004_uneven_stages.CAUSE):
        assert judged(cause, values).state == "cannot_tell"
    server: dict[str, FactValue] = {**values, "args.model_path": "m"}
    assert stages(facts_of(server)) is not None


def test_tags_of_the_log_tell_a_size_of_one() -> None:
    untagged = facts_of({"log.tags": []})
    for known in (stages(untagged), tensor_parallel(untagged), data_parallel(untagged)):
        assert known is not None and known.value == 1 and known.cites == ("log",)
    tensor = facts_of({"log.tags": ["TP"]})
    ring = stages(tensor)
    assert ring is not None and ring.value == 1
    assert tensor_parallel(tensor) is None
    assert judged(pp001_micro_batches_unfilled.CAUSE, {"log.tags": ["TP"]}).state == "refuted"


def test_a_stage_tag_says_that_there_are_several_whatever_a_launch_leaves_out() -> None:
    assert stages(facts_of({**COMMAND, "log.tags": ["PP", "TP"]})) is None
    told = stages(facts_of({**COMMAND, "launch.pp_size": 4, "log.tags": ["PP", "TP"]}))
    assert told is not None and told.value == 4


def test_before_0_4_7_a_tensor_tag_stood_there_for_one_rank_too() -> None:
    ranks = tensor_parallel(facts_of({**COMMAND, "log.tags": ["TP"]}))
    assert ranks is not None and ranks.value == 1


def test_a_pipelines_causes_ask_for_the_launch_first() -> None:
    assert judged(pp001_micro_batches_unfilled.CAUSE, {"decode.lines": 3}).probes == (STAGES_ASKED,)


@pytest.mark.parametrize("cause", [kr001_unsuitable_attention_backend.CAUSE, kv003_cap_reduced_at_start.CAUSE])
def test_a_part_of_a_launch_clears_no_flag_that_it_does_not_show(cause: Cause) -> None:
    part: dict[str, FactValue] = {**COMMAND, "launch.untold": ["..."]}
    assert judged(cause, COMMAND).state == "refuted"
    assert judged(cause, part).state == "cannot_tell"


def test_a_cap_in_a_variable_was_asked_for() -> None:
    values: dict[str, FactValue] = {**COMMAND, "launch.max_running_requests": "$CAP"}
    assert judged(kv003_cap_reduced_at_start.CAUSE, values).state == "cannot_tell"
