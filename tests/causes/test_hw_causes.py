"""HW001-HW004: caps, heat, strangers on the cards, cards that fail."""

import pytest
from builders import facts_of, judged

from ppagent.causes.catalog import cause_of
from ppagent.causes.judge import judge
from ppagent.evidence.evidence import Evidence, FactValue
from ppagent.evidence.facts import Facts

HW001, HW002, HW003, HW004 = cause_of("HW001"), cause_of("HW002"), cause_of("HW003"), cause_of("HW004")


def power(mean: float, peak: float, limit: float, default: float, *reasons: FactValue) -> dict[str, FactValue]:
    return {
        "gpu.power_w": {"0": mean, "1": mean},
        "gpu.power_max_w": {"0": peak, "1": peak},
        "gpu.power_limit_w": {"0": limit, "1": limit},
        "gpu.power_default_limit_w": {"0": default, "1": default},
        "gpu.throttle": {"0": list(reasons), "1": list(reasons)},
        "gpu.under_load": True,
    }


def test_a_cap_that_is_reached_with_its_reason_set_is_supported() -> None:
    capped = power(246, 250, 250, 370, "sw_power_cap")
    judgement = judged(HW001, capped)
    assert judgement.state == "supported" and judgement.confidence > 0.9
    remedy = HW001.advise(facts_of(capped)).remedies[0]
    assert "nvidia-smi -i 0,1 -pl 370" in remedy.title and "-pl 250" in remedy.rollback


def test_a_low_cap_that_is_never_reached_is_not_the_cause() -> None:
    assert judged(HW001, power(195, 242, 290, 350)).state == "refuted"


def test_a_card_at_its_default_limit_is_at_work_and_not_capped() -> None:
    assert judged(HW001, power(590, 600, 600, 600, "sw_power_cap")).state != "supported"


def test_stated_power_far_below_the_limit_refutes_a_cap() -> None:
    stated = {"stated.power_w": {"low": 150, "high": 200}, "stated.power_limit_w": 600, "gpu.under_load": False}
    assert judged(HW001, stated).state == "refuted"


def test_idle_samples_decide_nothing_about_a_cap() -> None:
    idle = power(35, 40, 250, 370) | {"gpu.under_load": False}
    judgement = judged(HW001, idle)
    assert judgement.state == "cannot_tell" and judgement.probes[0].tool == "gpu.samples"


def test_without_the_default_limit_a_full_card_cannot_be_told_from_a_capped_one() -> None:
    values = power(246, 250, 250, 370)
    del values["gpu.power_default_limit_w"], values["gpu.throttle"]
    judgement = judged(HW001, values)
    assert judgement.state == "cannot_tell" and "default limit" in judgement.probes[0].why


def test_thermal_reasons_name_the_card() -> None:
    hot = {
        "gpu.throttle": {"0": [], "5": ["hw_thermal"]},
        "gpu.temperature_c": {"0": 65, "5": 91},
        "gpu.under_load": True,
    }
    judgement = judged(HW002, hot)
    assert judgement.state == "supported"
    assert any("GPU 5 throttled: hw thermal" in o.says for o in judgement.because)


def test_a_power_cap_is_no_thermal_throttle() -> None:
    capped = power(246, 250, 250, 370, "sw_power_cap") | {"gpu.temperature_c": {"0": 70, "1": 71}}
    assert judged(HW002, capped).state == "refuted"


def test_no_reason_while_idle_leaves_heat_undecided() -> None:
    judgement = judged(HW002, {"gpu.throttle": {"0": []}, "gpu.under_load": False})
    assert judgement.state == "cannot_tell" and judgement.probes


def test_one_slow_clock_among_equals_speaks_for_a_throttle() -> None:
    slow = {"gpu.sm_clock_mhz": {"0": 2300, "1": 2310, "2": 1500}, "gpu.under_load": True}
    judgement = judged(HW002, slow)
    assert judgement.state == "cannot_tell" and "1500 MHz" in judgement.because[0].says


def test_a_server_on_no_gpu_has_no_fault_of_a_card_and_no_probe_for_one() -> None:
    for cause in (HW001, HW002, HW003, HW004, cause_of("IC004")):
        judgement = judged(cause, {"args.device": "cpu"})
        assert judgement.state == "refuted" and not judgement.probes


FOREIGN: FactValue = [{"index": "3", "pid": 4242, "name": "jupyter", "used_memory_mib": 21000}]
NAMES: FactValue = {"0": "NVIDIA H100 80GB HBM3", "1": "NVIDIA H100 80GB HBM3"}


def test_a_foreign_process_with_gigabytes_is_named() -> None:
    shared = {"gpu.names": NAMES, "gpu.foreign_processes": FOREIGN}
    judgement = judged(HW003, shared)
    assert judgement.state == "supported" and "jupyter 4242" in judgement.because[0].says
    assert "jupyter 4242" in HW003.advise(facts_of(shared)).remedies[0].title


def test_a_desktop_with_a_few_megabytes_is_no_stranger() -> None:
    desktop = {"gpu.names": NAMES, "gpu.foreign_processes": [{"name": "Xorg", "used_memory_mib": 9}]}
    assert judged(HW003, desktop).state == "refuted"


@pytest.mark.parametrize("name", ["/usr/lib/xorg/Xorg", "/usr/bin/gnome-shell", "nv-hostengine", "nvidia-persistenced"])
def test_a_desktop_or_monitor_is_mentioned_and_no_fault_whether_or_not_its_memory_is_told(name: str) -> None:
    for told, says in (({"used_memory_mib": 300}, f"{name} 2211 (300 MiB)"), ({}, f"{name} 2211")):
        beside = {"gpu.names": NAMES, "gpu.foreign_processes": [{"name": name, "pid": 2211, **told}]}
        judgement = judged(HW003, beside)
        assert judgement.state == "refuted"
        assert judgement.against[0].says.endswith(f"on them: {says}")


def test_a_process_of_unknown_memory_that_is_no_desktop_may_be_anybodys_work() -> None:
    beside = {"gpu.names": NAMES, "gpu.foreign_processes": [{"name": "/opt/xorg-train/python", "pid": 2211}]}
    assert judged(HW003, beside).state == "supported"


def test_cards_of_two_kinds_are_unequal() -> None:
    mixed = {"gpu.names": {"0": "NVIDIA L40S", "1": "NVIDIA L4"}, "args.pp_size": 2, "gpu.foreign_processes": []}
    assert judged(HW003, mixed).state == "supported"
    assert "SGLANG_PP_LAYER_PARTITION" in HW003.advise(facts_of(mixed)).remedies[0].title


def test_the_memory_warning_alone_is_not_enough() -> None:
    warned = {"trouble.unbalanced_memory": 1, "trouble.unbalanced_memory.least_gib": 40.1}
    judgement = judged(HW003, warned)
    assert judgement.state == "cannot_tell" and {p.tool for p in judgement.probes} == {"gpu.processes", "gpu.samples"}


def test_equal_cards_without_a_look_at_processes_do_not_refute() -> None:
    assert judged(HW003, {"gpu.names": NAMES}).state == "cannot_tell"


def test_a_stranger_on_the_second_host_is_seen() -> None:
    facts = Facts(
        [
            Evidence("E1", "gpu.processes", "gpu_processes.csv", {"gpu.foreign_processes": []}, host="a"),
            Evidence("E2", "gpu.processes", "gpu_processes.csv", {"gpu.foreign_processes": FOREIGN}, host="b"),
        ]
    )
    judgement = judge(HW003, facts)
    assert judgement.state == "supported" and "E2" in judgement.because[0].cites


def test_a_card_off_the_bus_is_failing() -> None:
    dead = {"host.xid": [{"gpu": "0000:41:00", "code": 79, "text": "GPU has fallen off the bus."}]}
    judgement = judged(HW004, dead)
    assert judgement.state == "supported" and "fallen off the bus" in judgement.because[0].says
    assert "0000:41:00" in HW004.advise(facts_of(dead)).remedies[0].title


def test_an_illegal_address_is_a_program_s_fault() -> None:
    judgement = judged(HW004, {"host.xid": [{"gpu": "0000:41:00", "code": 31, "text": "MMU Fault"}]})
    assert judgement.state not in ("supported", "refuted")


def test_only_the_card_whose_own_fault_it_is_is_taken_out() -> None:
    events: list[FactValue] = [
        {"gpu": "0000:01:00", "code": 31, "text": "pid=4242, name=python3"},
        {"gpu": "0000:9b:00", "code": 119, "text": "Timeout after 6s of waiting for RPC response from GPU4 GSP!"},
    ]
    title = HW004.advise(facts_of({"host.xid": events})).remedies[0].title
    assert "0000:9b:00" in title and "0000:01:00" not in title


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (149, "NETIR_LINK_EVT  Fatal   XC0 i0 Link 01 (0x021425c6 0x00000000)"),
        (154, "GPU recovery action changed from 0x0 (None) to 0x4 (Drain and Reset)"),
        (140, ""),
        (64, ""),
    ],
)
def test_events_of_newer_cards_count_too(code: int, text: str) -> None:
    judgement = judged(HW004, {"host.xid": [{"gpu": "0009:01:00", "code": code, "text": text}]})
    assert judgement.state == "supported"


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (149, "NETIR_BER_EVENT Nonfatal XC0 i0 Link 00 (0x00000013 0x00000000)"),
        (154, "GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)"),
        (63, "Row Remapper: New row (0x000000000000b6c4) marked for remapping, reset gpu to activate."),
    ],
)
def test_events_that_need_nothing_support_no_failing_card_and_refute_none(code: int, text: str) -> None:
    judgement = judged(HW004, {"host.xid": [{"gpu": "0009:01:00", "code": code, "text": text}]})
    assert judgement.state in ("cannot_tell", "open")


@pytest.mark.parametrize(
    ("says", "state"), [("GPU is lost", "supported"), ("GPU requires reset", "supported"), ("Unknown Error", "open")]
)
def test_a_card_that_no_longer_answers_is_failing(says: str, state: str) -> None:
    """A container that lost its rights to a card gets an unknown error too."""
    lost: dict[str, FactValue] = {"gpu.lost": [{"gpu": "3", "says": says}], "host.xid": [], "host.kernel_trouble": []}
    assert judged(HW004, lost).state == state
    assert "GPU 3" in HW004.advise(facts_of(lost)).remedies[0].title


def test_a_read_kernel_log_without_xid_refutes_it() -> None:
    assert judged(HW004, {"host.xid": [], "host.kernel_trouble": []}).state == "refuted"


def test_ecc_lines_count_and_other_words_that_hold_ecc_do_not() -> None:
    assert judged(HW004, {"host.kernel_trouble": ["NVRM: uncorrectable ECC error on GPU 2"]}).state == "supported"
    assert judged(HW004, {"host.xid": [], "host.kernel_trouble": ["seccomp: error"]}).state == "refuted"


@pytest.mark.parametrize(
    "line",
    [
        "pcieport 0000:00:01.0: AER: Uncorrected (Non-Fatal) error received: 0000:01:00.0",
        "EDAC MC0: 1 UE memory read error on CPU_SrcID#0_MC#0_Chan#0_DIMM#0",
        "mce: Uncorrected hardware memory error in user-access at 3f5d8a4c0",
    ],
)
def test_what_the_host_itself_could_not_correct_is_no_failing_card(line: str) -> None:
    assert judged(HW004, {"host.xid": [], "host.kernel_trouble": [line]}).state != "supported"


def test_a_fatal_fault_of_the_switch_between_cards_counts_and_another_does_not() -> None:
    said = "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 20034, {}, Link 30 LTSSM Fault Up"
    assert judged(HW004, {"host.xid": [], "host.kernel_trouble": [said.format("Fatal")]}).state == "supported"
    assert judged(HW004, {"host.xid": [], "host.kernel_trouble": [said.format("Non-fatal")]}).state == "refuted"


def test_an_unread_kernel_log_leaves_it_undecided() -> None:
    judgement = judged(HW004, {"gpu.count": 7, "stated.gpu_count": 8})
    assert judgement.state == "cannot_tell" and judgement.probes[0].tool == "host.kernel"
