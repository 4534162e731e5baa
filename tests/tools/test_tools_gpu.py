import pytest
from tool_fakes import FakeTarget, box, facts_of, run

from ppagent.errors import NotRecorded, ToolError
from ppagent_tools.gpu import Processes, Samples, Topology

HEAD = (
    "timestamp,index,name,utilization.gpu,power.draw,power.limit,power.default_limit,memory.used,memory.total,clocks.sm"
)
LINKS = "index,pcie.link.gen.current,pcie.link.gen.max,pcie.link.width.current,pcie.link.width.max,utilization.gpu"


def test_where_some_moments_show_work_means_are_taken_over_those() -> None:
    rows = (
        "2026-05-02T10:00:00,0,X,0,85,600,600,1,2,200\n2026-05-02T10:00:00,1,X,0,85,600,600,1,2,200\n"
        "2026-05-02T10:00:10,0,X,40,180,600,600,1,2,2000\n2026-05-02T10:00:10,1,X,20,160,600,600,3,4,2100\n"
    )
    facts = facts_of(run(Samples(), box(gpus=f"{HEAD}\n{rows}")))
    assert facts.numbers("gpu.power_w") == {"0": 180, "1": 160}
    assert facts.numbers("gpu.utilization") == {"0": 40, "1": 20}
    assert facts.flag("gpu.under_load") is True
    assert facts.number("gpu.count") == 2
    assert facts.number("gpu.window_s") == 10
    assert facts.number("gpu.samples") == 1
    assert facts.table("gpu.names") == {"0": "X", "1": "X"}


def test_power_over_time_is_kept_card_by_card_idle_moments_too() -> None:
    rows = (
        "2026-05-02T10:00:00,0,X,0,85,600,600,1,2,200\n2026-05-02T10:00:00,1,X,0,[N/A],600,600,1,2,200\n"
        "2026-05-02T10:00:10.5,0,X,40,180.25,600,600,1,2,2000\n2026-05-02T10:00:10.5,1,X,20,160,600,600,3,4,2100\n"
    )
    series = facts_of(run(Samples(), box(gpus=f"{HEAD}\n{rows}"))).table("gpu.power_series")
    assert series == {"seconds": [0, 10.5], "watts": {"0": [85, 180.25], "1": [None, 160]}}


def test_power_over_a_long_time_is_thinned_and_keeps_both_ends() -> None:
    rows = "".join(f"2026-05-02T10:{n // 60:02}:{n % 60:02},0,X,50,{100 + n},600,600,1,2,200\n" for n in range(300))
    series = facts_of(run(Samples(), box(gpus=f"{HEAD}\n{rows}"))).table("gpu.power_series")
    seconds, watts = series["seconds"], series["watts"]
    assert isinstance(seconds, list) and isinstance(watts, dict)
    assert len(seconds) == 48
    assert (seconds[0], seconds[-1]) == (0, 299)
    assert watts == {"0": [100 + second for second in seconds]}


def test_power_without_times_has_no_seconds_and_no_power_no_series() -> None:
    series = facts_of(run(Samples(), box(gpus="index,power.draw\n0,85\n0,90\n"))).table("gpu.power_series")
    assert series == {"seconds": [], "watts": {"0": [85, 90]}}
    assert "gpu.power_series" not in facts_of(run(Samples(), box(gpus="index,utilization.gpu\n0,85\n")))


def test_a_snapshot_near_idle_is_not_under_load() -> None:
    facts = facts_of(run(Samples(), box(gpus=f"{HEAD}\n,0,X,0,85,600,600,1,2,200\n")))
    assert facts.flag("gpu.under_load") is False
    assert facts.number("gpu.window_s") is None


def test_full_utilisation_at_idle_power_counts_as_work_seen() -> None:
    assert facts_of(run(Samples(), box(gpus=f"{HEAD}\n,0,X,100,85,600,600,1,2,200\n"))).flag("gpu.under_load") is True


def test_columns_may_be_missing_and_values_empty_or_not_available() -> None:
    facts = facts_of(run(Samples(), box(gpus="index,name,power.draw,power.limit\n0,X,[N/A],\n1,X,150.5,600\n")))
    assert facts.numbers("gpu.power_w") == {"1": 150.5}
    assert "gpu.utilization" not in facts
    assert facts.flag("gpu.under_load") is True


def test_units_of_a_query_are_left_out() -> None:
    text = (
        "index, name, utilization.gpu [%], power.draw [W], power.limit [W]\n0, NVIDIA H100, 12 %, 185.00 W, 700.00 W\n"
    )
    facts = facts_of(run(Samples(), box(gpus=text)))
    assert facts.numbers("gpu.power_w") == {"0": 185}
    assert facts.numbers("gpu.utilization") == {"0": 12}


def test_a_pasted_table_is_quoted_as_it_was_pasted() -> None:
    text = "index,power.draw,pasted\n0,85,| 30%   32C    P1             85W /  600W |\n"
    assert run(Samples(), box(gpus=text))[0].excerpt == "| 30%   32C    P1             85W /  600W |"


def test_the_link_is_the_fastest_generation_and_the_fewest_lanes_seen_while_working() -> None:
    rows = "0,1,5,16,16,0\n1,1,5,16,16,0\n0,5,5,16,16,90\n1,5,5,4,16,90\n"
    links = run(Samples(), box(gpus=f"{LINKS}\n{rows}"))[1]
    assert links.facts["gpu.pcie_gen"] == {"0": 5, "1": 5}
    assert links.facts["gpu.pcie_width"] == {"0": 16, "1": 4}
    assert links.excerpt == "1,5,5,4,16,90"


@pytest.mark.parametrize(
    ("value", "reasons"),
    [
        ("0x0000000000000004", ["sw_power_cap"]),
        ("0x00000000000000E8", ["hw_slowdown", "sw_thermal", "hw_thermal", "hw_power_brake"]),
        ("0x0000000000000001", []),
        ("SW Power Cap", ["sw_power_cap"]),
        ("Not Active", []),
    ],
)
def test_throttle_reasons_are_read_from_a_bit_mask_or_from_words(value: str, reasons: list[str]) -> None:
    text = f"index,power.draw,clocks_event_reasons.active\n0,100,{value}\n"
    assert facts_of(run(Samples(), box(gpus=text))).table("gpu.throttle") == {"0": reasons}


def test_the_row_that_throttles_is_quoted() -> None:
    text = "index,clocks_throttle_reasons.active\n0,0x0\n1,0x4\n0,0x0\n1,0x0\n"
    throttle = run(Samples(), box(gpus=text))[-1]
    assert throttle.facts == {"gpu.throttle": {"0": [], "1": ["sw_power_cap"]}}
    assert throttle.excerpt == "1,0x4"


def test_reasons_in_columns_of_their_own_are_read() -> None:
    text = "index,clocks_event_reasons.sw_power_cap,clocks_event_reasons.hw_thermal_slowdown\n0,Active,Not Active\n"
    assert facts_of(run(Samples(), box(gpus=text))).table("gpu.throttle") == {"0": ["sw_power_cap"]}


@pytest.mark.parametrize(
    ("text", "why"),
    [("index,name\n0,X\nzero,X\n", "line 3"), ("index,name\n0,X,5\n", "line 2: 3 cells"), ("0,1\n2,3\n", "header")],
)
def test_malformed_samples_name_file_and_line(text: str, why: str) -> None:
    with pytest.raises(ToolError, match=f"gpus.csv of box.*{why}"):
        run(Samples(), box(gpus=text))


def test_a_broken_host_beside_a_sound_one_is_said_and_hides_nothing() -> None:
    from ppagent.targets.target import Artifact

    texts = {"a": {Artifact.GPUS: "nonsense"}, "b": {Artifact.GPUS: f"{HEAD}\n,0,X,50,300,600,600,1,2,3\n"}, "c": {}}
    findings = run(Samples(), FakeTarget(texts))
    assert findings[0].host == "b"
    assert findings[-1].host == "a"
    assert "gpus.csv of a" in str(findings[-1].facts["tool.unread"])


PROCESSES = "index,pid,name,used_memory_mib\n0,10,python3,90000\n0,11,/usr/bin/blender,4000\n1,12,python3,500\n"
TREE = (
    '[{"pid": 9, "cmdline": ["python3", "-m", "sglang.launch_server"]}, {"pid": 10, "ppid": 9, "cmdline": ["python3"]}]'
)


def test_foreign_processes_are_told_by_id_where_the_servers_are_known() -> None:
    rows = f"{PROCESSES}0,13,python3,600\n"
    foreign = facts_of(run(Processes(), box(gpu_processes=rows, processes=TREE))).items("gpu.foreign_processes")
    assert [p["pid"] for p in foreign if isinstance(p, dict)] == [11, 13]
    assert foreign[0] == {"index": "0", "pid": 11, "name": "/usr/bin/blender", "used_memory_mib": 4000}


def test_without_known_ids_foreign_processes_are_told_by_name() -> None:
    foreign = facts_of(run(Processes(), box(gpu_processes=PROCESSES))).items("gpu.foreign_processes")
    assert [p["pid"] for p in foreign if isinstance(p, dict)] == [11]


def test_cards_without_any_process_have_no_foreign_one() -> None:
    finding = run(Processes(), box(gpu_processes="index,pid,name,used_memory_mib\n"))[0]
    assert finding.facts == {"gpu.foreign_processes": []}


MATRIX = """\
\t\x1b[4mGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tCPU Affinity\x1b[0m
GPU0\t X \tNV18\tSYS\tSYS\tPIX\t0-31
GPU1\tNV18\t X \tSYS\tSYS\tPIX\t0-31
GPU2\tSYS\tSYS\t X \tPHB\tSYS\t32-63
GPU3\tSYS\tSYS\tPHB\t X \tSYS\t32-63
NIC0\tPIX\tPIX\tSYS\tSYS\t X
"""


def test_the_farthest_link_between_cards_is_found_and_quoted() -> None:
    finding = run(Topology(), box(topology=MATRIX))[0]
    assert finding.facts == {"gpu.nvlink": True, "gpu.link_worst": "SYS"}
    assert finding.excerpt.startswith("GPU0")


def test_only_the_cards_the_server_was_given_count() -> None:
    pair = run(Topology(), box(topology=MATRIX, environment="CUDA_VISIBLE_DEVICES=2,3\n"))[0]
    assert pair.facts == {"gpu.nvlink": False, "gpu.link_worst": "PHB"}
    linked = run(Topology(), box(topology=MATRIX, launch="CUDA_VISIBLE_DEVICES=0,1 sglang serve m"))[0]
    assert linked.facts == {"gpu.nvlink": True, "gpu.link_worst": "NV18"}


@pytest.mark.parametrize("text", ["no matrix", "\tGPU0\tGPU1\nGPU0\tX\tWHAT\n", "\tGPU0\nGPU0\tX\n"])
def test_text_that_is_no_matrix_is_a_tool_error(text: str) -> None:
    with pytest.raises(ToolError, match="topology.txt of box"):
        run(Topology(), box(topology=text))


def test_a_card_tells_nothing_below_zero_and_nothing_boundless() -> None:
    rows = f"2026-05-02T10:00:00,0,X,-9,-9,-9,-9,-9,-9,-9\n2026-05-02T10:00:00,1,X,50,300,{'9' * 40},600,1,2,1900\n"
    facts = facts_of(run(Samples(), box(gpus=f"{HEAD}\n{rows}")))
    assert facts.numbers("gpu.power_w") == {"1": 300}
    assert facts.numbers("gpu.memory_total_mib") == {"1": 2}
    assert "gpu.power_limit_w" not in facts


def test_a_small_card_that_keeps_its_clocks_up_without_work_is_idle() -> None:
    """An L4 that holds a model."""
    text = "power.draw [W], power.limit [W], utilization.gpu [%]\n34.19 W, 72.00 W, {}\n"
    assert facts_of(run(Samples(), box(gpus=text.format("0 %")))).flag("gpu.under_load") is False
    assert facts_of(run(Samples(), box(gpus=text.format("[N/A]")))).flag("gpu.under_load") is True
    assert (
        facts_of(run(Samples(), box(gpus=text.format("0 %").replace("34.19", "60.0")))).flag("gpu.under_load") is True
    )


def test_a_power_cap_that_an_idle_card_reports_is_none() -> None:
    """An RTX PRO 6000 Server Edition at rest."""
    head = "index, power.draw [W], power.limit [W], utilization.gpu [%], clocks_event_reasons.active\n"
    text = f"{head}0, 30.39 W, 600.00 W, 0 %, 0x0000000000000004\n1, 590.1 W, 600.00 W, 99 %, 0x0000000000000044\n"
    throttle = run(Samples(), box(gpus=text))[-1]
    assert throttle.facts == {"gpu.throttle": {"0": [], "1": ["sw_power_cap", "hw_thermal"]}}
    assert throttle.excerpt.startswith("1, 590.1 W")


def test_reasons_count_in_the_moments_of_work() -> None:
    rows = "0,1,600,0,0x8\n0,400,600,90,0x1\n"
    text = f"index,power.draw,power.limit,utilization.gpu,clocks_event_reasons.active\n{rows}"
    assert facts_of(run(Samples(), box(gpus=text))).table("gpu.throttle") == {"0": []}


def test_the_average_power_counts_before_that_of_an_instant() -> None:
    """An RTX PRO 6000 Max-Q at its limit of 300 W."""
    head = "index, power.draw.average [W], power.draw.instant [W], clocks.current.graphics [MHz]"
    text = f"{head}\n0, 297.37 W, 307.72 W, 1927 MHz\n"
    facts = facts_of(run(Samples(), box(gpus=text)))
    assert facts.numbers("gpu.power_w") == {"0": 297.37}
    assert facts.numbers("gpu.sm_clock_mhz") == {"0": 1927}


@pytest.mark.parametrize("said", ["GPU is lost", "GPU requires reset", "Unknown Error"])
def test_a_card_that_answers_nothing_is_lost_and_no_card_of_another_name(said: str) -> None:
    text = f"index,name,power.draw,power.limit\n0,NVIDIA H200,115,700\n1,[{said}],[{said}],[{said}]\n"
    facts = facts_of(run(Samples(), box(gpus=text)))
    assert facts.items("gpu.lost") == [{"gpu": "1", "says": said}]
    assert facts.table("gpu.names") == {"0": "NVIDIA H200"}
    assert facts.number("gpu.count") == 1


def test_a_lost_card_may_be_known_by_its_bus_alone() -> None:
    facts = facts_of(run(Samples(), box(gpus="index,name,pci.bus_id\n,[Unknown Error],0000:17:00.0\n")))
    assert facts.items("gpu.lost") == [{"gpu": "0000:17:00.0", "says": "Unknown Error"}]
    assert "gpu.count" not in facts


@pytest.mark.parametrize("cell", ["[N/A]", "[Not Supported]", "[Unknown Error]", "[Insufficient Permissions]"])
def test_one_value_that_a_card_does_not_tell_is_no_lost_card(cell: str) -> None:
    """An RTX 2080 Ti without a default limit."""
    facts = facts_of(run(Samples(), box(gpus=f"index,name,power.draw,power.default_limit\n0,X,228.82,{cell}\n")))
    assert "gpu.lost" not in facts
    assert facts.number("gpu.count") == 1


def test_rows_without_an_index_belong_to_one_moment_by_their_time() -> None:
    rows = "".join(f"2026/09/24 10:00:0{s}.00{n}, 9{n} %\n" for s in range(3) for n in range(2))
    facts = facts_of(run(Samples(), box(gpus=f"timestamp, utilization.gpu [%]\n{rows}")))
    assert facts.numbers("gpu.utilization") == {"0": 90, "1": 91}
    assert facts.number("gpu.samples") == 3


UUIDS = "index,name,uuid,pci.bus_id\n0,X,GPU-e16d248c-c1a9,00000000:01:00.0\n1,X,GPU-45007176-8a28,00000000:41:00.0\n"


def test_a_card_that_rows_of_processes_name_by_uuid_or_bus_is_found() -> None:
    text = (
        "pid, process_name, gpu_uuid, used_gpu_memory [MiB]\n"
        "2094383, sglang::scheduler_TP1_EP1, GPU-45007176-8a28, 90478\n"
        "377813, sgl_diffusion::scheduler, GPU-45007176-8a28, 47594\n"
    )
    facts = facts_of(run(Processes(), box(gpu_processes=text, gpus=UUIDS)))
    assert facts.table("gpu.ranks") == {"1": "TP1 EP1"}
    other = {"index": "1", "pid": 377813, "name": "sgl_diffusion::scheduler", "used_memory_mib": 47594.0}
    assert facts.items("gpu.foreign_processes") == [other]
    by_bus = text.replace("gpu_uuid", "gpu_bus_id").replace("GPU-45007176-8a28", "00000000:41:00.0")
    assert facts_of(run(Processes(), box(gpu_processes=by_bus, gpus=UUIDS))).table("gpu.ranks") == {"1": "TP1 EP1"}
    assert "gpu.ranks" not in facts_of(run(Processes(), box(gpu_processes=text)))


@pytest.mark.parametrize("name", ["[Not Found]", "", "-"])
def test_processes_that_a_container_hides_say_nothing(name: str) -> None:
    with pytest.raises(NotRecorded, match="hidden"):
        run(Processes(), box(gpu_processes=f"index,pid,name,used_memory_mib\n0,4242,{name},1000\n", processes=TREE))


def test_the_servers_own_processes_tell_which_cards_count() -> None:
    """Given as 0 and 1 in its container, they are 2 and 3 on the host."""
    on = "index,pid,name,used_memory_mib\n2,10,sglang::scheduler_TP0,9\n3,11,sglang::scheduler_TP1,9\n0,5,python3,9\n"
    finding = run(Topology(), box(topology=MATRIX, gpu_processes=on, environment="CUDA_VISIBLE_DEVICES=0,1\n"))[0]
    assert finding.facts == {"gpu.nvlink": False, "gpu.link_worst": "PHB"}


@pytest.mark.parametrize(
    ("given", "worst"),
    [("GPU-e16d248c-c1a9,GPU-4500", "NV18"), ("GPU-e16d248c-c1a9,GPU-ffff", "SYS"), ("MIG-1f,MIG-2f", "SYS"),
     ("-1", "SYS")],
)  # fmt: skip
def test_cards_may_be_given_by_uuid(given: str, worst: str) -> None:
    target = box(topology=MATRIX, gpus=UUIDS, environment=f"CUDA_VISIBLE_DEVICES={given}\n")
    assert run(Topology(), target)[0].facts["gpu.link_worst"] == worst


def test_a_link_that_is_not_told_is_left_out_and_network_cards_have_any_name() -> None:
    text = """\
\tGPU0\tGPU1\tGPU2\trdmap79s0\tmlx5_bond_0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID
GPU0\t X \tNV18\tN/A\tPIX\tSYS\t0-31\t0\t\tN/A
GPU1\tNV18\t X \tNODE\tPIX\tSYS\t0-31\t0\t\tN/A
GPU2\tN/A\tNODE\t X \tPHB\tSYS\t32-63\t1\t\tN/A
rdmap79s0\tPIX\tPIX\tPHB\t X \tSYS
"""
    assert run(Topology(), box(topology=text))[0].facts == {"gpu.nvlink": True, "gpu.link_worst": "NODE"}


SHARED_HOST = (
    "index,pid,name,used_memory_mib\n0,10,sglang::scheduler_TP0,90480\n1,11,sglang::scheduler_TP1,90478\n"
    "2,77,sgl_diffusion::scheduler,47594\n3,78,sgl_diffusion::scheduler,47560\n"
)
TWO = (
    '[{"pid": 9, "cmdline": ["python3", "-m", "sglang.launch_server"]}, {"pid": 10, "ppid": 9}, {"pid": 11, "ppid": 9}]'
)


@pytest.mark.parametrize("processes", [TWO, None])
def test_another_server_on_other_cards_of_the_host_is_no_stranger(processes: str | None) -> None:
    target = box(gpu_processes=SHARED_HOST, **({"processes": processes} if processes else {}))
    facts = facts_of(run(Processes(), target))
    assert facts.items("gpu.foreign_processes") == []
    assert facts.table("gpu.ranks") == {"0": "TP0", "1": "TP1"}
    beside = facts_of(run(Processes(), box(gpu_processes=SHARED_HOST.replace("\n3,78", "\n1,78"))))
    assert [p["pid"] for p in beside.items("gpu.foreign_processes") if isinstance(p, dict)] == [78]


def test_cards_that_the_server_is_not_on_are_only_counted() -> None:
    rows = "0,RTX,99,299,300\n1,RTX,97,287,300\n2,T400,0,12,30\n3,RTX,3,30,300\n"
    text = f"index,name,utilization.gpu,power.draw,power.limit\n{rows}"
    facts = facts_of(run(Samples(), box(gpus=text, gpu_processes=SHARED_HOST)))
    assert facts.numbers("gpu.utilization") == {"0": 99, "1": 97}
    assert facts.table("gpu.names") == {"0": "RTX", "1": "RTX"}
    assert facts.number("gpu.count") == 4
    given = facts_of(run(Samples(), box(gpus=text.replace("T400", "RTX"), environment="CUDA_VISIBLE_DEVICES=2,3\n")))
    assert given.numbers("gpu.power_w") == {"2": 12, "3": 30}
    assert given.flag("gpu.under_load") is False


@pytest.mark.parametrize(
    ("environment", "cards"),
    [
        ("CUDA_VISIBLE_DEVICES=0,1\n", "0123"),
        ("CUDA_DEVICE_ORDER=PCI_BUS_ID\nCUDA_VISIBLE_DEVICES=0,1\n", "01"),
        ("CUDA_VISIBLE_DEVICES=0,9\n", "0123"),
    ],
)
def test_cuda_counts_unlike_cards_its_own_way(environment: str, cards: str) -> None:
    """The fastest first, so that a display card that is 0 to nvidia-smi is the last."""
    text = "index,name,power.draw\n0,T400,12\n1,RTX,99\n2,RTX,99\n3,RTX,99\n"
    assert "".join(facts_of(run(Samples(), box(gpus=text, environment=environment))).numbers("gpu.power_w")) == cards


def test_ranks_are_those_of_the_server_that_is_meant() -> None:
    other = "4,90,sglang::scheduler_TP0,90480\n5,91,sglang::scheduler_TP1,90478\n"
    facts = facts_of(run(Processes(), box(gpu_processes=SHARED_HOST + other, processes=TWO)))
    assert facts.table("gpu.ranks") == {"0": "TP0", "1": "TP1"}
