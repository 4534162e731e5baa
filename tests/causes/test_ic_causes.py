"""IC001-IC006: collectives over PCIe, broken peers, refused kernels, bad links, networks, NCCL's tuning."""

import pytest
from builders import facts_of, judged, level

from ppagent.causes.catalog import cause_of
from ppagent.causes.links import all_reduce_us, nvlink, stage_nodes
from ppagent.evidence.evidence import FactValue

IC001, IC002, IC003 = cause_of("IC001"), cause_of("IC002"), cause_of("IC003")
IC004, IC005, IC006 = cause_of("IC004"), cause_of("IC005"), cause_of("IC006")

REFUSED_PCIE = "it's not supported on more than two PCIe-only GPUs"


def eight(value: FactValue) -> dict[str, FactValue]:
    return {str(gpu): value for gpu in range(8)}


# Eight RTX PRO 6000 with TP8 at one request: utilisation 100 % at 140 of 600 W, 41 tok/s where 130 are usual.
SPINNING: dict[str, FactValue] = {
    "args.tp_size": 8,
    "args.pp_size": 1,
    "gpu.nvlink": False,
    "gpu.link_worst": "SYS",
    "gpu.utilization": eight(100),
    "gpu.power_w": eight(140),
    "gpu.power_limit_w": eight(600),
    "gpu.under_load": True,
    "decode.lines": 300,
    "decode.graph_true_share": 1.0,
    "bench.levels": [level(1, 41)],
}


def test_cards_that_look_busy_at_a_quarter_of_their_power_wait_for_all_reduces() -> None:
    judgement = judged(IC001, SPINNING)
    assert judgement.state == "supported"
    assert any("140 W" in o.says and "100 %" in o.says for o in judgement.because)
    remedy = IC001.advise(facts_of(SPINNING)).remedies[0]
    assert remedy.change.set == {"--tp-size": "2", "--pp-size": "4"} and remedy.alone


def test_enough_requests_in_flight_make_a_full_pipeline_the_remedy() -> None:
    busy = SPINNING | {"bench.levels": [level(1, 41), level(32, 700)]}
    assert IC001.advise(facts_of(busy)).remedies[0].change.set == {"--tp-size": "1", "--pp-size": "8"}


def test_a_pipeline_without_tensor_parallelism_has_no_all_reduce() -> None:
    pipeline = SPINNING | {"args.tp_size": 1, "args.pp_size": 8}
    assert judged(IC001, pipeline).state == "refuted"
    assert judged(IC003, pipeline).state == "refuted"
    assert judged(IC006, pipeline).state == "refuted"


def test_waiting_stages_of_a_hybrid_are_not_taken_for_collectives() -> None:
    assert judged(IC001, SPINNING | {"args.tp_size": 2, "args.pp_size": 4}).state != "supported"


def test_eager_decoding_leaves_the_same_picture_and_does_not_support_it_alone() -> None:
    assert judged(IC001, SPINNING | {"decode.graph_true_share": 0.0}).state != "supported"


def test_nvlink_refutes_pcie_collectives() -> None:
    box = SPINNING | {"gpu.nvlink": True, "gpu.link_worst": "NV18", "gpu.power_w": eight(500)}
    assert judged(IC001, box).state == "refuted"


def test_two_cards_over_host_memory_wait_lopsidedly() -> None:
    judgement = judged(
        IC001,
        {
            "args.tp_size": 2,
            "args.pp_size": 1,
            "gpu.link_worst": "PHB",
            "env.NCCL_P2P_DISABLE": "1",
            "gpu.utilization": {"0": 82, "1": 51},
            "gpu.power_w": {"0": 195, "1": 242},
            "gpu.power_limit_w": {"0": 290, "1": 290},
            "gpu.under_load": True,
        },
    )
    assert judgement.state == "supported"
    assert any("51 to 82 %" in o.says for o in judgement.because)


def test_cards_at_their_power_limit_do_not_wait() -> None:
    capped = {
        "args.tp_size": 2,
        "gpu.link_worst": "PHB",
        "gpu.utilization": {"0": 98, "1": 97},
        "gpu.power_w": {"0": 248, "1": 249},
        "gpu.power_max_w": {"0": 250, "1": 250},
        "gpu.power_limit_w": {"0": 250, "1": 250},
        "gpu.under_load": True,
    }
    assert judged(IC001, capped).state == "refuted"


def test_the_number_of_all_reduces_is_weighed_against_the_step() -> None:
    model = {"model.num_hidden_layers": 64, "model.hidden_size": 5120}
    base = {"args.tp_size": 4, "args.pp_size": 1, "gpu.link_worst": "NODE", **model}
    slow = judged(IC001, base | {"bench.levels": [level(1, 110, mean_itl_ms=9.0)]})
    assert slow.state == "supported"
    assert any("128 all-reduces a token" in o.says for o in slow.because)
    lost = judged(IC001, base | {"bench.levels": [level(1, 10, mean_itl_ms=100.0)]})
    assert lost.state == "refuted"


def test_an_all_reduce_costs_latency_and_bytes() -> None:
    assert all_reduce_us(8, 0, host=False) == pytest.approx(24)
    assert all_reduce_us(2, 25_000, host=False) == pytest.approx(25)
    assert all_reduce_us(8, 1e6, host=True) > 2 * all_reduce_us(8, 1e6, host=False)


def test_without_the_topology_the_probe_asks_for_it() -> None:
    judgement = judged(IC001, {"args.tp_size": 8, "args.pp_size": 1})
    assert judgement.state == "cannot_tell"
    assert {probe.tool for probe in judgement.probes} == {"gpu.topology", "gpu.samples"}


@pytest.mark.parametrize(
    ("values", "yes"),
    [
        ({"gpu.nvlink": True, "gpu.link_worst": "NV18"}, True),
        ({"gpu.nvlink": True, "gpu.link_worst": "SYS"}, False),
        ({"gpu.link_worst": "PIX"}, False),
        ({"trouble.custom_allreduce_disabled": 1, "trouble.custom_allreduce_disabled.reason": REFUSED_PCIE}, False),
        ({"gpu.names": {"0": "NVIDIA RTX PRO 6000 Blackwell Server Edition"}}, False),
        ({"stated.gpu_model": "8x H200"}, True),
    ],
)
def test_nvlink_is_read_from_the_topology_or_inferred(values: dict[str, FactValue], yes: bool) -> None:
    seen = nvlink(facts_of(values))
    assert seen is not None and seen.yes is yes and seen.cites


def test_a_pair_of_bridged_cards_is_not_guessed_from_its_name() -> None:
    assert nvlink(facts_of({"gpu.names": {"0": "NVIDIA GeForce RTX 3090"}})) is None


# Two cards; NCCL says that it is initialised and then nothing, at full utilisation and idle power.
HANGING: dict[str, FactValue] = {
    "args.tp_size": 2,
    "args.pp_size": 1,
    "start.ready": False,
    "trouble.nccl_init_complete": 2,
    "gpu.utilization": {"0": 100, "1": 100},
    "gpu.power_w": {"0": 90, "1": 92},
    "gpu.power_limit_w": {"0": 600, "1": 600},
    "gpu.under_load": True,
    "host.iommu": "pci 0000:00:01.0: ACSCtl: SrcValid+ ReqRedir+ CmpltRedir+",
}


def test_silence_after_nccl_at_idle_power_is_broken_peer_to_peer() -> None:
    judgement = judged(IC002, HANGING)
    assert judgement.state == "supported" and judgement.confidence > 0.9
    advice = IC002.advise(facts_of(HANGING))
    way_round = advice.remedies[1].change
    assert way_round.set == {"--disable-custom-all-reduce": "true"} and way_round.env == {"NCCL_P2P_DISABLE": "1"}
    assert "--watchdog-timeout" in {d.lever for d in advice.declined}


def test_a_refused_peer_access_is_proof() -> None:
    crashed = {
        "args.tp_size": 2,
        "start.ready": False,
        "trouble.peer_access_failed": 1,
        "trouble.peer_access_failed.reason": "peer access is not supported between these two devices",
    }
    assert judged(IC002, crashed).state == "supported"


def test_a_server_that_serves_got_past_its_first_collective() -> None:
    assert judged(IC002, {"args.tp_size": 8, "decode.lines": 20}).state == "refuted"


def test_a_stage_that_waits_at_run_time_is_no_broken_peer() -> None:
    waiting = HANGING | {"args.tp_size": 1, "args.pp_size": 2, "start.ready": True, "decode.lines": 9}
    assert judged(IC002, waiting).state == "refuted"


def test_a_hang_after_the_weights_is_something_else() -> None:
    later = HANGING | {"start.weights_gib": {"TP0": 40.0, "TP1": 40.0}, "args.disable_custom_all_reduce": True}
    assert judged(IC002, later).state != "supported"


def test_one_switch_alone_leaves_the_custom_kernel_to_hang() -> None:
    half = {
        "args.tp_size": 2,
        "start.ready": False,
        "start.weights_gib": {"TP0": 40.0, "TP1": 40.0},
        "env.NCCL_P2P_DISABLE": "1",
        "gpu.utilization": {"0": 100, "1": 100},
        "host.iommu": "iommu: Default domain type: Translated",
    }
    judgement = judged(IC002, half)
    assert any("two ranks hang later" in o.says for o in judgement.because)


def test_iommu_in_passthrough_is_no_hint() -> None:
    plain = {"args.tp_size": 2, "start.ready": False, "host.iommu": "Command line: iommu=pt; AMD-Vi: IOMMU enabled"}
    judgement = judged(IC002, plain)
    assert judgement.state == "cannot_tell" and not judgement.because
    assert "host.all_reduce" in {probe.tool for probe in judgement.probes}


def test_switched_off_peers_of_a_running_server_tell_nothing_and_ask_for_a_test() -> None:
    judgement = judged(IC002, {"args.tp_size": 2, "decode.lines": 9, "env.NCCL_P2P_DISABLE": "1"})
    assert judgement.state == "cannot_tell" and judgement.probes[0].grade == 4


REFUSED: dict[str, FactValue] = {
    "args.tp_size": 4,
    "args.pp_size": 1,
    "start.ready": True,
    "start.weights_gib": {"TP0": 12.0},
    "trouble.custom_allreduce_disabled": 4,
    "trouble.custom_allreduce_disabled.reason": REFUSED_PCIE,
}


def test_a_refusal_on_pcie_leads_to_pairs_and_not_to_a_flag() -> None:
    assert judged(IC003, REFUSED).state == "supported"
    advice = IC003.advise(facts_of(REFUSED))
    assert advice.remedies[0].change.set == {"--tp-size": "2", "--pp-size": "2"}
    assert all("--disable-custom-all-reduce" not in r.change.unset for r in advice.remedies)


def test_switched_off_by_flag_the_remedy_drops_the_flag() -> None:
    flagged = {"args.tp_size": 8, "args.disable_custom_all_reduce": True, "gpu.nvlink": True, "gpu.link_worst": "NV18"}
    assert judged(IC003, flagged).state == "supported"
    assert IC003.advise(facts_of(flagged)).remedies[0].change.unset == ("--disable-custom-all-reduce",)


def test_the_flag_changes_nothing_where_sglang_would_refuse_anyway() -> None:
    moot = {"args.tp_size": 8, "args.disable_custom_all_reduce": True, "gpu.link_worst": "SYS"}
    assert judged(IC003, moot).state != "supported"


def test_a_group_over_nodes_is_refused_as_a_matter_of_course() -> None:
    nodes = REFUSED | {"trouble.custom_allreduce_disabled.reason": "this process group spans across nodes"}
    assert judged(IC003, nodes).state != "supported"


def test_a_start_log_without_a_refusal_refutes_it() -> None:
    clean = {"args.tp_size": 8, "args.disable_custom_all_reduce": False, "start.weights_gib": {"TP0": 80.0}}
    assert judged(IC003, clean).state == "refuted"


def test_without_the_start_log_custom_all_reduce_cannot_be_told() -> None:
    judgement = judged(IC003, {"args.tp_size": 8, "decode.lines": 100})
    assert judgement.state == "cannot_tell" and judgement.probes[0].tool == "logs.trouble"


def links(width: dict[str, FactValue], gen: dict[str, FactValue], loaded: bool) -> dict[str, FactValue]:
    return {
        "gpu.pcie_width": width,
        "gpu.pcie_width_max": dict.fromkeys(width, 16),
        "gpu.pcie_gen": gen,
        "gpu.pcie_gen_max": dict.fromkeys(gen, 5),
        "gpu.under_load": loaded,
    }


def test_missing_lanes_are_a_degraded_link() -> None:
    judgement = judged(IC004, links({"0": 16, "3": 4}, {"0": 5, "3": 5}, loaded=True))
    assert judgement.state == "supported"
    assert "GPU 3 x4 of x16" in judgement.because[0].says


def test_a_low_generation_while_idle_says_nothing() -> None:
    judgement = judged(IC004, links({"0": 16, "1": 16}, {"0": 1, "1": 1}, loaded=False))
    assert judgement.state == "cannot_tell" and "while requests run" in judgement.probes[0].why


def test_fewer_lanes_while_idle_ask_for_a_look_under_load() -> None:
    """Some cards rest lanes when they do nothing."""
    values = links({"0": 16, "1": 8}, {"0": 1, "1": 1}, loaded=False)
    assert judged(IC004, values).state != "supported"
    assert [probe.tool for probe in IC004.probes(facts_of(values))] == ["gpu.samples"]


def test_a_low_generation_under_load_is_a_degraded_link() -> None:
    assert judged(IC004, links({"0": 16, "1": 16}, {"0": 5, "1": 1}, loaded=True)).state == "supported"


def test_an_idle_card_beside_a_busy_one_may_have_dropped_its_link() -> None:
    values = links({"0": 16, "5": 16}, {"0": 5, "5": 1}, loaded=True) | {"gpu.utilization": {"0": 97, "5": 0}}
    assert judged(IC004, values).state == "cannot_tell"


def test_full_links_under_load_refute_it() -> None:
    assert judged(IC004, links({"0": 16, "1": 16}, {"0": 5, "1": 5}, loaded=True)).state == "refuted"


def test_corrected_pcie_errors_alone_leave_it_open() -> None:
    lines = {"host.kernel_trouble": ["pcieport 0000:40:01.1: AER: Corrected error received"]}
    judgement = judged(IC004, lines)
    assert judgement.state == "cannot_tell" and judgement.because and judgement.probes


CROSSING: dict[str, FactValue] = {"args.tp_size": 16, "args.pp_size": 1, "args.nnodes": 2}


def test_a_group_over_nodes_on_sockets_is_named_with_a_stage_a_node_as_remedy() -> None:
    sockets = CROSSING | {"trouble.nccl_socket_transport": 32}
    assert judged(IC005, sockets).state == "supported"
    assert IC005.advise(facts_of(sockets)).remedies[0].change.set == {"--tp-size": "8", "--pp-size": "2"}


def test_a_stage_a_node_keeps_all_reduces_inside() -> None:
    staged = {"args.tp_size": 8, "args.pp_size": 4, "args.nnodes": 4, "trouble.nccl_socket_transport": 8}
    assert judged(IC005, staged).state == "refuted"
    assert judged(IC005, {"args.tp_size": 8, "args.pp_size": 1}).state == "refuted"


def test_the_transport_decides_about_a_group_over_nodes() -> None:
    judgement = judged(IC005, CROSSING)
    assert judgement.state == "cannot_tell" and judgement.probes[0].tool == "logs.trouble"
    assert judged(IC005, CROSSING | {"trouble.nccl_ib_transport": 64}).state == "refuted"


def test_nodes_of_a_stage_follow_the_rank_layout() -> None:
    spread = stage_nodes(facts_of({"args.pp_size": 2, "args.nnodes": 4, "args.tp_size": 16}))
    assert spread is not None and spread.value == 2


PCIE_TP8: dict[str, FactValue] = {"args.tp_size": 8, "args.pp_size": 1, "gpu.link_worst": "NODE"}


def test_a_variable_that_leaves_nccl_two_channels_is_bad_tuning() -> None:
    narrowed = PCIE_TP8 | {"env.NCCL_MAX_NCHANNELS": "2"}
    judgement = judged(IC006, narrowed)
    assert judgement.state == "supported"
    low = IC006.advise(facts_of(narrowed)).remedies[0]
    assert low.change.env == {"NCCL_PROTO": "LL", "NCCL_P2P_LEVEL": "SYS"}


def test_an_untuned_amd_host_is_a_suspicion_only() -> None:
    judgement = judged(IC006, PCIE_TP8 | {"host.cpu_model": "AMD EPYC 9575F 64-Core Processor"})
    assert judgement.state == "cannot_tell" and judgement.because and judgement.probes


def test_a_tuned_host_and_an_nvlink_box_are_not_badly_tuned() -> None:
    assert judged(IC006, PCIE_TP8 | {"env.NCCL_GRAPH_FILE": "/etc/nccl.xml"}).state == "refuted"
    assert judged(IC006, PCIE_TP8 | {"gpu.nvlink": True, "gpu.link_worst": "NV18"}).state == "refuted"


def test_a_refused_kernel_and_waiting_ranks_hold_together() -> None:
    both = SPINNING | {"start.weights_gib": {"TP0": 60.0}, "trouble.custom_allreduce_disabled": 8}
    both |= {"trouble.custom_allreduce_disabled.reason": REFUSED_PCIE}
    assert judged(IC001, both).state == "supported" and judged(IC003, both).state == "supported"
    assert judged(IC002, both).state == "refuted" and judged(IC005, both).state == "refuted"
