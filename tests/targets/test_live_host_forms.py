"""The machine and its packages in the forms of a recording, out of what commands say."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppagent.errors import NotRecorded, ToolError
from ppagent.targets.remote.gpus import Cards
from ppagent.targets.remote.host_forms import host_text, kernel_text, packages_text, topology_text
from ppagent.targets.remote.sections import Section, Sections

LSCPU = """Architecture:            x86_64
CPU(s):                  128
Model name:              AMD EPYC 9554 64-Core Processor
Core(s) per socket:      32
Socket(s):               2
NUMA node(s):            8
NUMA node0 CPU(s):       0-15
"""
WHOLE = {
    "cpu": LSCPU,
    "load": "12.50 8.00 7.25 3/2000 12345\n",
    "memory": "MemTotal:       1584931412 kB\nMemAvailable:   1000000000 kB\n",
    "kernel": "6.8.0-45-generic\n",
    "governors": "    120 schedutil\n      8 performance\n",
    "balancing": "1\n",
    "shm": "Filesystem 1024-blocks Used Available Capacity Mounted on\ntmpfs 67108864 1048576 66060288 2% /dev/shm\n",
    "boot": "BOOT_IMAGE=/vmlinuz root=/dev/x iommu=pt amd_iommu=on quiet\n",
    "iommu": "ivhd0\nivhd1\n",
    "acs": "14\n",
}


def survey(parts: dict[str, str], complaints: str = "") -> Sections:
    return Sections({name: Section(text.encode(), 0, complaints) for name, text in parts.items()}, "it was lost")


def test_a_host_is_told_with_its_sockets_nodes_governor_and_hints() -> None:
    assert json.loads(host_text(survey(WHOLE))) == {
        "cpu_model": "AMD EPYC 9554 64-Core Processor", "sockets": 2, "cores": 64, "threads": 128, "numa_nodes": 8,
        "governor": "schedutil (120 CPUs), performance (8 CPUs)", "load_average": [12.5, 8.0, 7.25],
        "memory_gib": 1511.5, "memory_available_gib": 953.7, "shm_gib": 64.0, "shm_used_gib": 1.0,
        "kernel": "6.8.0-45-generic", "numa_balancing": 1,
        "iommu": "iommu=pt; amd_iommu=on; 2 IOMMU units active; ACS source validation on 14 bridges",
    }  # fmt: skip


def test_what_was_not_read_is_left_out() -> None:
    assert json.loads(host_text(survey({"cpu": LSCPU, "governors": "  64 performance\n"}))) == {
        "cpu_model": "AMD EPYC 9554 64-Core Processor", "sockets": 2, "cores": 64, "threads": 128, "numa_nodes": 8,
        "governor": "performance",
    }  # fmt: skip
    with pytest.raises(ToolError, match="it was lost"):
        host_text(survey({}))


@settings(max_examples=40, deadline=None)
@given(st.fixed_dictionaries(dict.fromkeys(WHOLE, st.text(alphabet="0123456789.: kBMem\nTotal\u00b2x", max_size=40))))
def test_no_odd_output_of_a_command_breaks_it(parts: dict[str, str]) -> None:
    assert isinstance(json.loads(host_text(survey(parts))), dict)


def test_the_kernel_log_needs_rights_and_says_so() -> None:
    assert kernel_text(survey({"kernel_log": "[1.0] NVRM: Xid (PCI:0000:01:00): 79\n"}), "me").endswith(": 79\n")
    with pytest.raises(ToolError, match="may not be read by me; `sudo dmesg` would give it"):
        kernel_text(survey({"kernel_log": "\n"}, "Operation not permitted"), "me")


def test_links_that_nvidia_smi_does_not_tell_are_not_recorded() -> None:
    with pytest.raises(NotRecorded, match="not known: .*not found"):
        topology_text(survey({"topology": ""}, "nvidia-smi: not found"))


def test_driver_and_cuda_stand_among_the_packages() -> None:
    smi = "| NVIDIA-SMI 580.95.05   Driver Version: 580.95.05   CUDA Version: 13.0  |\n"
    text = packages_text({"torch": "2.9.1", "sglang": "0.5.23"}, "12.8", survey({"smi": smi}), None)
    assert text.splitlines() == [
        "cuda-driver==13.0", "cuda-of-torch==12.8", "nvidia-driver==580.95.05", "sglang==0.5.23", "torch==2.9.1",
    ]  # fmt: skip
    newer = "| NVIDIA-SMI 610.43.02              KMD Version: 610.43.02     CUDA UMD Version: 13.3     |\n"
    assert packages_text({}, "", survey({"smi": newer}), None).split() == [
        "cuda-driver==13.3",
        "nvidia-driver==610.43.02",
    ]
    cards = Cards("", "", driver="570.1", cuda="12.8")
    assert "nvidia-driver==570.1" in packages_text({}, "", None, cards)
