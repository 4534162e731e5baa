"""Lines as real cards and drivers print them, found in pasted text."""

import csv
import io

import pytest

from ppagent.errors import NotRecorded
from ppagent.targets.pasted import read_pasted
from ppagent.targets.target import Artifact
from tests.fixtures.growth import LINEAR, growth

HEAD = (
    "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n"
    "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |\n"
    "|=========================================+========================+======================|\n"
)
END = "+-----------------------------------------+------------------------+----------------------+\n"


def rows(text: str, artifact: Artifact = Artifact.GPUS) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(read_pasted(text).text("pasted", artifact)), skipinitialspace=True))


def cells(row: dict[str, str], *names: str) -> tuple[str, ...]:
    return tuple(row.get(name, "") for name in names)


MEASURES = ("index", "name", "temperature.gpu", "power.draw", "power.limit", "memory.used", "memory.total",
            "utilization.gpu")  # fmt: skip


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        (  # driver 550
            "|   0  NVIDIA H200                    On  |   00000000:03:00.0 Off |                    0 |",
            "| N/A   33C    P0            115W /  700W |  124585MiB / 143771MiB |      0%      Default |",
            ("0", "NVIDIA H200", "33", "115", "700", "124585", "143771", "0"),
        ),
        (  # driver 610
            "|   1  NVIDIA B200                    On  |   00000000:68:00.0 Off |                    0 |",
            "| N/A   30C    P0            142W / 1000W |       0MiB / 183359MiB |      0%      Default |",
            ("1", "NVIDIA B200", "30", "142", "1000", "0", "183359", "0"),
        ),
        (  # driver 535, the memory of one card that a processor of its own shares a module with
            "|   0  NVIDIA GH200 480GB             Off | 00000009:01:00.0 Off |                    0 |",
            "| N/A   38C    P0             106W / 900W |      1MiB / 97871MiB |      2%      Default |",
            ("0", "NVIDIA GH200 480GB", "38", "106", "900", "1", "97871", "2"),
        ),
        (  # memory shared with the processor, no limit of its own
            "|   0  NVIDIA GB10                    On  |   0000000F:01:00.0 Off |                  N/A |",
            "| N/A   66C    P0             43W /  N/A  | Not Supported          |     96%      Default |",
            ("0", "NVIDIA GB10", "66", "43", "", "", "", "96"),
        ),
        (  # split into slices: a use of the whole is not known
            "|   0  NVIDIA H100 80GB HBM3          Off |   00000000:8D:00.0 Off |                   On |",
            "| N/A   31C    P0             69W /  700W |       0MiB /  81559MiB |     N/A      Default |",
            ("0", "NVIDIA H100 80GB HBM3", "31", "69", "700", "0", "81559", ""),
        ),
        (  # a broken fan on the fifteenth card
            "|  14  NVIDIA RTX 4000 Ada Gene...    On  |   00000000:CC:00.0 Off |                  Off |",
            "|ERR!   68C    P2             99W /  130W |       1MiB /  20475MiB |     93%      Default |",
            ("14", "NVIDIA RTX 4000 Ada Gene...", "68", "99", "130", "1", "20475", "93"),
        ),
        (  # driver 470, no power for a moment
            "|   1  Tesla V100-PCIE...  On   | 00008ED0:00:00.0 Off |                    0 |",
            "| N/A   29C    P0   ERR! / 250W |    593MiB / 16160MiB |      0%      Default |",
            ("1", "Tesla V100-PCIE...", "29", "", "250", "593", "16160", "0"),
        ),
        (
            "|   0  NVIDIA GeForce RTX 4090      WDDM  |   00000000:01:00.0  On |                  Off |",
            "|  0%   52C    P8             41W /  450W |     369MiB /  24564MiB |     31%      Default |",
            ("0", "NVIDIA GeForce RTX 4090", "52", "41", "450", "369", "24564", "31"),
        ),
    ],
)
@pytest.mark.parametrize("around", [(HEAD, END), ("", ""), ("> " + HEAD.replace("\n", "\n> "), "> " + END)])
def test_the_two_rows_of_a_card_are_read(
    first: str, second: str, told: tuple[str, ...], around: tuple[str, str]
) -> None:
    quoted = "> " if around[0].startswith(">") else ""
    (row,) = rows(f"{around[0].removesuffix('> ')}{quoted}{first}\n{quoted}{second}\n{around[1]}")
    assert cells(row, *MEASURES) == told
    assert row["pasted"].removeprefix("> ") == second


def test_slices_of_a_card_are_no_cards_and_their_processes_are_read() -> None:
    text = f"""{HEAD}\
|   0  NVIDIA H100 80GB HBM3          Off |   00000000:8D:00.0 Off |                   On |
| N/A   31C    P0             69W /  700W |       0MiB /  81559MiB |     N/A      Default |
{END}\
| MIG devices:                                                                |
| GPU  GI  CI  MIG |         Memory-Usage |        Vol|         Shared        |
|  0    3   0   0  |  14366MiB / 19968MiB | 28      0 |  2   0    1    0    0 |
|                  |      4MiB / 32767MiB |           |                       |
| Processes:                                                                  |
|    0    3    0      12345      C   python3                         14353MiB |
|    0   N/A  N/A      4711    C+G   /usr/lib/xorg/Xorg                   N/A |
"""
    assert [cells(row, "index", "memory.total") for row in rows(text)] == [("0", "81559")]
    found = [tuple(row.values()) for row in rows(text, Artifact.GPU_PROCESSES)]
    assert found == [("0", "12345", "python3", "14353"), ("0", "4711", "/usr/lib/xorg/Xorg", "")]


@pytest.mark.parametrize(
    ("said", "bus", "says"),
    [
        ("Unable to determine the device handle for GPU0000:17:00.0: Unknown Error", "0000:17:00.0", "Unknown Error"),
        ("Unable to determine the device handle for GPU 0000:02:00.0: GPU is lost.  Reboot the system to recover",
         "0000:02:00.0", "GPU is lost"),
        ("Unable to determine the device handle for GPU1: 0000:C2:00.0: Unknown Error", "0000:C2:00.0",
         "Unknown Error"),
    ],
)  # fmt: skip
def test_a_card_that_nvidia_smi_has_no_handle_for_is_one_that_is_gone(said: str, bus: str, says: str) -> None:
    (row,) = rows(f"$ nvidia-smi\n{said}\n")
    assert cells(row, "index", "name", "pci.bus_id") == ("", f"[{says}]", bus)


QUERY = "nvidia-smi --query-gpu=index,uuid,name,pci.bus_id,power.draw,power.limit,pstate,encoder.stats.sessionCount"


def test_several_queries_are_joined_by_card_and_their_processes_kept() -> None:
    text = f"""## `{QUERY} --format=csv,noheader,nounits`

```
0, GPU-e16d248c-c1a9, NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition, 00000000:01:00.0, 299.35, 300.00, P1, 0
1, GPU-45007176-8a28, NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition, 00000000:41:00.0, 287.14, 300.00, P1, 0
```

$ nvidia-smi --query-gpu=index,power.draw.average,clocks_throttle_reasons.active,mig.mode.current --format=csv,noheader
0, 297.37, 0x0000000000000004, [N/A]
1, 289.76, 0x0000000000000000, [N/A]

$ nvidia-smi --query-compute-apps="pid, process_name, gpu_uuid, used_memory" --format=csv,noheader,nounits
2094147, sglang::scheduler_TP0_EP0, GPU-e16d248c-c1a9, 90480
377306, /root/.venv/bin/python3, GPU-45007176-8a28, [N/A]

Two cards, 300 W each, slow.
"""
    first, second = rows(text)
    assert cells(first, "power.draw", "power.draw.average", "clocks_throttle_reasons.active") == (
        "299.35", "297.37", "0x0000000000000004",
    )  # fmt: skip
    assert second["pasted"].startswith("1, GPU-45007176-8a28, NVIDIA RTX PRO 6000")
    ours, other = rows(text, Artifact.GPU_PROCESSES)
    assert cells(ours, "pid", "name", "gpu_uuid", "used_memory_mib") == (
        "2094147", "sglang::scheduler_TP0_EP0", "GPU-e16d248c-c1a9", "90480",
    )  # fmt: skip
    assert other["used_memory_mib"] == "[N/A]"
    assert "Two cards, 300 W each, slow." in read_pasted(text).words


@pytest.mark.parametrize(
    "header",
    [
        "timestamp, index, pstate, clocks.current.sm [MHz], clocks_event_reasons.active, power.draw [W]",
        "index, uuid, name, power.draw [W], power.limit [W], encoder.stats.sessionCount",
    ],
)
def test_a_header_is_known_by_any_column_of_a_query(header: str) -> None:
    line = {"t": "2026/09/24 10:00:30.000, 0, P0, 1980 MHz, 0x0000000000000001, 350.50 W",
            "i": "0, GPU-3a1f9e02, NVIDIA H100 80GB HBM3, 68.21 W, 700.00 W, 0"}[header[0]]  # fmt: skip
    assert read_pasted(f"{header}\n{line}\n").text("pasted", Artifact.GPUS) == f"{header}\n{line}\n"


def test_the_command_and_the_time_above_are_nobodys_words_and_a_sentence_is() -> None:
    first = "|   0  NVIDIA H200                    On  |   00000000:03:00.0 Off |                    0 |"
    second = "| N/A   33C    P0            115W /  700W |  124585MiB / 143771MiB |      0%      Default |"
    above = "root@box:~# nvidia-smi\nThu Jan 30 05:00:03 2025       \n"
    text = f"{above}{HEAD}{first}\n{second}\n{END}$ nvidia-smi dmon -s pucvt -c 30\nnvidia-smi shows 0\n"
    assert read_pasted(text).words == "nvidia-smi shows 0"


def test_words_with_as_many_commas_are_no_row() -> None:
    text = "index, power.draw [W]\n0, 85.00 W\nI have 8 of them, slow\n"
    assert [row["index"] for row in rows(text)] == ["0"]
    assert read_pasted(text).words == "I have 8 of them, slow"


DMON = """\
# gpu    pwr  gtemp  mtemp     sm    mem    enc    dec    jpg    ofa   mclk   pclk  pviol  tviol     fb   bar1   ccpm
# Idx      W      C      C      %      %      %      %      %      %    MHz    MHz      %   bool     MB     MB     MB
    0    294     81      -     98     57      0      0      0      0  13365   1897      3      0  90538      4      0
    1      -     68      -     99     55      0      0      0      0  13365   2017      0      1  90536      4      0
"""


def test_the_monitor_is_read_with_what_the_table_tells_of_its_cards() -> None:
    table = (
        "|   0  NVIDIA RTX PRO 6000 Blac...    On  |   00000000:01:00.0 Off |                  Off |\n"
        "| 30%   32C    P1             85W /  600W |   88000MiB /  97887MiB |      0%      Default |\n"
    )
    first, second, third = rows(HEAD + table + END + DMON + DMON.splitlines()[2].replace("294", "290") + "\n")
    names = ("index", "power.draw", "temperature.gpu", "utilization.gpu", "clocks.sm", "memory.used", "power.limit")
    assert cells(first, *names) == ("0", "294", "81", "98", "1897", "90538", "600")
    assert cells(second, "power.draw", "clocks_event_reasons.active", "power.limit") == ("", "SW Thermal Slowdown", "")
    assert cells(third, "power.draw", "clocks_event_reasons.active", "name") == (
        "290", "SW Power Cap", "NVIDIA RTX PRO 6000 Blac...",
    )  # fmt: skip


def test_the_monitor_keeps_its_times() -> None:
    text = "#Date       Time         gpu    pwr   sm\n#YYYYMMDD   HH:MM:SS     Idx      W    %\n" + (
        " 20260930   10:11:12       0    111   25\n"
    )
    (row,) = rows(text)
    assert cells(row, "timestamp", "index", "power.draw", "utilization.gpu") == (
        "2026-09-30T10:11:12",
        "0",
        "111",
        "25",
    )


def test_the_monitor_of_processes_is_read() -> None:
    text = """\
# gpu         pid   type     sm    mem    enc    dec    jpg    ofa     fb   ccpm    command
# Idx           #    C/G      %      %      %      %      %      %     MB     MB    name
    0    2094147     C     92     52      -      -      -      -  90480      0    sglang::schedul
    1          -     -      -      -      -      -      -      -      -      -    -
    2     377306     C      -      -      -      -      -      -    550      0    python3
"""
    found = [tuple(row.values()) for row in rows(text, Artifact.GPU_PROCESSES)]
    assert found == [("0", "2094147", "sglang::schedul", "90480"), ("2", "377306", "python3", "550")]
    with pytest.raises(NotRecorded):
        read_pasted(text).text("pasted", Artifact.GPUS)


LONG_FORM = """\
==============NVSMI LOG==============

Timestamp                                 : Thu Nov 28 04:03:23 2024
Driver Version                            : 550.90.12

Attached GPUs                             : 1
GPU 00000000:03:00.0
    Product Name                          : NVIDIA H200
    GPU UUID                              : GPU-cb3dfa52-e2f3-9ca4-a399-7d16041c3732
    PCI
        GPU Link Info
            PCIe Generation
                Max                       : 5
                Current                   : 1
                Device Max                : 5
            Link Width
                Max                       : 16x
                Current                   : 8x
    Clocks {event} Reasons
        Idle                              : Active
        SW Power Cap                      : Active
        HW Slowdown                       : Not Active
            HW Thermal Slowdown           : Active
            HW Power Brake Slowdown       : Not Active
        SW Thermal Slowdown               : Not Active
    FB Memory Usage
        Total                             : 143771 MiB
        Reserved                          : 700 MiB
        Used                              : 1 MiB
    BAR1 Memory Usage
        Total                             : 262144 MiB
        Used                              : 7 MiB
    Utilization
        Gpu                               : 12 %
        Memory                            : 3 %
    Temperature
        GPU Current Temp                  : 28 C
        GPU T.Limit Temp                  : 59 C
    {power}
    Module Power Readings
        Power Draw                        : N/A
        Current Power Limit               : N/A
    Clocks
        SM                                : 345 MHz
    Max Clocks
        SM                                : 1980 MHz
    Processes
        GPU instance ID                   : N/A
        Compute instance ID               : N/A
        Process ID                        : 3514
            Type                          : C
            Name                          : sglang::scheduler_PP0
            Used GPU Memory               : 75216 MiB

Why is it slow?
"""
POWER_550 = """GPU Power Readings
        Power Draw                        : 74.58 W
        Current Power Limit               : 650.00 W
        Default Power Limit               : 700.00 W
    GPU Memory Power Readings
        Power Draw                        : 41.76 W"""
POWER_570 = POWER_550.replace("        Power Draw                        : 74.58 W", (
    "        Average Power Draw                : 74.58 W\n        Instantaneous Power Draw          : 99.10 W"
), 1)  # fmt: skip
POWER_525 = """Power Readings
        Power Draw                        : 74.58 W
        Power Limit                       : 650.00 W
        Default Power Limit               : 700.00 W"""


@pytest.mark.parametrize(("event", "power"), [("Event", POWER_550), ("Event", POWER_570), ("Throttle", POWER_525)])
def test_the_long_form_is_read_by_where_each_value_stands(event: str, power: str) -> None:
    text = LONG_FORM.format(event=event, power=power)
    (row,) = rows(text)
    assert cells(row, *MEASURES) == ("0", "NVIDIA H200", "28 C", "74.58 W", "650.00 W", "1 MiB", "143771 MiB", "12 %")
    links = ("pcie.link.gen.current", "pcie.link.gen.max", "pcie.link.width.current", "pcie.link.width.max")
    assert cells(row, *links, "power.default_limit", "clocks.sm", "clocks.max.sm") == (
        "1", "5", "8", "16", "700.00 W", "345 MHz", "1980 MHz",
    )  # fmt: skip
    held = {name.rpartition(".")[2] for name, cell in row.items() if "reasons" in name and cell == "Active"}
    assert held == {"sw_power_cap", "hw_thermal_slowdown"}
    (process,) = rows(text, Artifact.GPU_PROCESSES)
    assert tuple(process.values()) == ("0", "3514", "sglang::scheduler_PP0", "75216")
    assert read_pasted(text).words == "Why is it slow?"


def test_a_list_of_cards_tells_their_names() -> None:
    text = (
        "nvidia-smi -L\nGPU 0: NVIDIA GB200 (UUID: GPU-d1b93026-6d5b)\nGPU 1: NVIDIA GB200 (UUID: GPU-39ac7bce-e3d6)\n"
    )
    assert [cells(row, "index", "name", "uuid") for row in rows(text)] == [
        ("0", "NVIDIA GB200", "GPU-d1b93026-6d5b"), ("1", "NVIDIA GB200", "GPU-39ac7bce-e3d6"),
    ]  # fmt: skip


def test_a_topology_may_be_underlined_and_name_its_network_cards() -> None:
    matrix = """\
\t\x1b[4mGPU0\tGPU1\tmlx5_0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m
GPU0\t X \tNV18\tPXB\t0-55,112-167\t0\t\tN/A
GPU1\tNV18\t X \tNODE\t0-55,112-167\t0\t\tN/A
mlx5_0\tPXB\tNODE\t X \t

Legend:

  X    = Self

NIC Legend:

  NIC0: mlx5_0
"""
    pasted = read_pasted(f"{matrix}\nGPU1 is slow\n")
    assert pasted.text("pasted", Artifact.TOPOLOGY) == matrix
    assert pasted.words == "GPU1 is slow"


def test_the_matrix_of_peer_access_is_no_topology() -> None:
    peers = " \tGPU0\tGPU1\t\n GPU0\tX\tGNS\t\n GPU1\tGNS\tX\t\n"
    matrix = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tPHB\t0-63\nGPU1\tPHB\t X \t0-63\n"
    assert read_pasted(f"{peers}\n{matrix}").text("pasted", Artifact.TOPOLOGY) == matrix
    with pytest.raises(NotRecorded):
        read_pasted(peers).text("pasted", Artifact.TOPOLOGY)


@pytest.mark.parametrize(
    "filler",
    ["| 1 a", "    Name : a\n", "GPU 00000000:03:00.0\n    " + "k", "# gpu pwr\n 0 1\n", "index,power.draw\n0,1\n",
     "GPU0 GPU1\n", "a" * 50 + ",", " : "],
)  # fmt: skip
@pytest.mark.bench
def test_the_time_for_hostile_output_grows_with_its_length(filler: str) -> None:
    assert growth(read_pasted, filler, 50_000) < LINEAR


@pytest.mark.parametrize(
    "line",
    [
        "[  157.5] nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link 30 LTSSM Fault Up",
        "6月 28 02:52:53 gpu-box kernel: NVRM: GPU 0000:c2:00.0: GPU has fallen off the bus.",
        "[    9.1] {1}[Hardware Error]: event severity: recoverable",
        "[    3.2] EDAC MC0: 1 UE memory read error on CPU_SrcID#0_MC#0",
        "[    1.0] iommu: Default domain type: Translated",
    ],
)
def test_lines_of_the_kernel_log_are_known_by_more_than_the_driver(line: str) -> None:
    pasted = read_pasted(f"My server hangs.\n{line}\n")
    assert pasted.text("pasted", Artifact.DMESG) == f"{line}\n"
    assert pasted.words == "My server hangs."
