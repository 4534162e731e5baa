"""The kernel log as real hosts write it: dmesg with and without -T, journalctl, kern.log."""

import pytest
from tool_fakes import box, facts_of, run

from ppagent.evidence.evidence import FactValue
from ppagent_tools.host import HostKernel

FALLEN = "NVRM: Xid (PCI:0000:c2:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
STAMPS = (
    "[1590188.789226] ",
    "[Sun Feb 23 16:24:18 2025] ",
    "2025-02-23T16:24:18,789226+00:00 ",
    "kern  :warn  : [Sun Feb 23 16:24:18 2025] ",
    "<4>[1590188.789226] ",
    "Jun 28 02:52:53 gpu-box kernel: ",
    "Jun 28 02:52:53 gpu-box kernel: [1590188.789226] ",
    "2026-10-03T06:32:01-07:00 gpu-box kernel: ",
    "2026-09-27T10:01:02.123456+00:00 gpu-box kernel: ",
    "6月 28 02:52:53 gpu-box kernel: ",
    "",
)


def kernel(*lines: str) -> dict[str, list[FactValue]]:
    facts = facts_of(run(HostKernel(), box(dmesg="\n".join(("[0.0] Linux version 6.8", *lines, "")))))
    return {name: facts.items(name) for name in ("host.xid", "host.kernel_trouble")}


@pytest.mark.parametrize("stamp", STAMPS)
def test_an_xid_is_read_after_any_stamp(stamp: str) -> None:
    text = FALLEN.partition("79, ")[2]
    assert kernel(stamp + FALLEN)["host.xid"] == [{"gpu": "0000:c2:00", "code": 79, "text": text}]


def test_a_line_counts_once_whatever_its_stamp() -> None:
    text = "NVRM: GPU 0000:c2:00.0: GPU has fallen off the bus."
    assert kernel(*(stamp + text for stamp in STAMPS))["host.kernel_trouble"] == [STAMPS[0] + text]


@pytest.mark.parametrize(
    ("line", "gpu", "code", "text"),
    [
        ("NVRM: Xid (PCI:0009:01:00): 149, NETIR_LINK_EVT  Fatal   XC0 i0 Link 01 (0x021425c6 0x0)", "0009:01:00", 149,
         "NETIR_LINK_EVT  Fatal   XC0 i0 Link 01 (0x021425c6 0x0)"),
        ("NVRM: Xid (PCI:0009:01:00): 154, GPU recovery action changed from 0x0 (None) to 0x4 (Drain and Reset)",
         "0009:01:00", 154, "GPU recovery action changed from 0x0 (None) to 0x4 (Drain and Reset)"),
        ("NVRM: Xid (0000:03:00): 14, Channel 00000001", "0000:03:00", 14, "Channel 00000001"),
        ("NVRM: Xid (PCI:0000:9b:00): 119, pid=2024380, name=nvidia-smi, Timeout after 6s of waiting for RPC response "
         "from GPU4 GSP!", "0000:9b:00", 119,
         "pid=2024380, name=nvidia-smi, Timeout after 6s of waiting for RPC response from GPU4 GSP!"),
    ],
)  # fmt: skip
def test_xids_of_all_kinds_of_cards_are_read(line: str, gpu: str, code: int, text: str) -> None:
    assert kernel(f"[171167.6] {line}")["host.xid"] == [{"gpu": gpu, "code": code, "text": text}]


def test_a_network_card_has_an_xid_of_another_kind() -> None:
    line = "r8169 0000:06:00.0 eth0: RTL8125B, 50:eb:f6:ce:c1:33, XID 641, IRQ 158"
    assert kernel(line) == {"host.xid": [], "host.kernel_trouble": []}


def test_a_card_that_is_lost_without_an_xid_is_trouble() -> None:
    lines = (
        "[ 1843.308145] NVRM: The NVIDIA GPU 0000:b3:00.0",
        "               NVRM: (PCI ID: 10de:26b5) installed in this system has",
        "               NVRM: fallen off the bus and is not responding to commands.",
    )
    assert kernel(*lines)["host.kernel_trouble"] == ["NVRM: fallen off the bus and is not responding to commands."]


def test_a_flood_of_one_xid_hides_no_other() -> None:
    flood = [f"[{n}.0] NVRM: Xid (PCI:0000:01:00): 31, pid={n}, name=python3" for n in range(300)]
    events = kernel(*flood, f"[301.0] {FALLEN}")["host.xid"]
    assert len(events) == 50
    assert [event["code"] for event in events[-2:] if isinstance(event, dict)] == [31, 79]
    assert events[0] == {"gpu": "0000:01:00", "code": 31, "text": "pid=0, name=python3"}


LIMITED = "pci 0000:01:00.0: {} Gb/s available PCIe bandwidth, limited by {} link at 0000:00:01.0 (capable of {} link)"


@pytest.mark.parametrize(
    ("now", "could", "counts"),
    [
        ("2.5 GT/s PCIe x16", "252.048 Gb/s with 16.0 GT/s PCIe x16", False),
        ("16.0 GT/s PCIe x8", "252.048 Gb/s with 16.0 GT/s PCIe x16", True),
        ("8.0 GT/s PCIe x2", "31.504 Gb/s with 8.0 GT/s PCIe x4", False),
    ],
)
def test_a_slow_link_at_boot_is_none_and_missing_lanes_are_trouble(now: str, could: str, counts: bool) -> None:
    line = LIMITED.format("32.000", now, could)
    assert kernel(line)["host.kernel_trouble"] == ([line] if counts else [])


@pytest.mark.parametrize(
    "line",
    [
        "pcieport 0000:00:01.0: AER: enabled with IRQ 122",
        "pcieport 0000:00:01.0: DPC: error containment capabilities: Int Msg #0, RPExt+ PoisonedTLP+ SwTrigger+",
        "EDAC MC0: Giving out device to module igen6_edac controller Intel_client_SoC MC#0: DEV 0000:00:00.0",
        "igb 0000:c4:00.0 eno1: igb: eno1 NIC Link is Down",
        "tg3 0000:02:00.0 eth0: Link is down",
        "NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  570.133.20  Release Build  (dvs-builder@U22)",
    ],
)
def test_what_a_sound_host_says_at_its_boot_is_no_trouble(line: str) -> None:
    assert kernel(f"[    1.5] {line}")["host.kernel_trouble"] == []


@pytest.mark.parametrize(
    "line",
    [
        "pcieport 0000:00:03.1: pciehp: Slot(8): Link Down",
        "EDAC MC0: 1 UE memory read error on CPU_SrcID#0_MC#0_Chan#0_DIMM#0",
        "nvidia 0000:c1:00.0: PCIe Bus Error: severity=Uncorrected (Non-Fatal), type=Transaction Layer, (Requester ID)",
        "pcieport 0000:c0:01.1: AER: Multiple Corrected error received: 0000:c1:00.0",
    ],
)
def test_what_concerns_cards_buses_and_memory_is_trouble(line: str) -> None:
    assert kernel(line)["host.kernel_trouble"] == [line]


def test_the_pcie_errors_of_a_drive_are_not_those_of_a_card() -> None:
    lines = (
        "[1.0] pcieport 0000:00:01.0: AER: Corrected error received: 0000:01:00.0",
        "[1.1] nvme 0000:01:00.0: AER: PCIe Bus Error: severity=Corrected, type=Physical Layer, (Receiver ID)",
        "[1.2] nvme 0000:01:00.0: AER:   device [144d:a808] error status/mask=00000001/00000000",
        "[2.0] pcieport 0000:c0:01.1: AER: Corrected error received: 0000:c1:00.0",
    )
    assert kernel(*lines)["host.kernel_trouble"] == [lines[3]]


@pytest.mark.parametrize("stamp", STAMPS)
@pytest.mark.parametrize(
    "of", ["Out of memory", "Memory cgroup out of memory", "Out of memory (oom_kill_allocating_task)"]
)
def test_a_process_killed_for_want_of_memory_is_named(stamp: str, of: str) -> None:
    line = f"{stamp}{of}: Killed process 40123 (sglang::schedul) total-vm:812345612kB, anon-rss:481234560kB"
    facts = facts_of(run(HostKernel(), box(dmesg=f"[0.0] Linux version 6.8\n{line}\n")))
    assert facts.items("host.oom_killed") == [{"pid": 40123, "name": "sglang::schedul"}]
