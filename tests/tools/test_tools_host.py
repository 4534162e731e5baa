import json

import pytest
from tool_fakes import box, facts_of, run

from ppagent.errors import ToolError
from ppagent_tools.host import HostEnvironment, HostFacts, HostKernel, HostPackages, HostProcesses


def test_a_host_is_read_with_the_first_of_its_load_averages() -> None:
    text = json.dumps({"cpu_model": "EPYC 9565", "cores": 144, "numa_nodes": 2, "load_average": [9.5, 8, 7], "x": 1})
    facts = facts_of(run(HostFacts(), box(host=text)))
    assert facts.text("host.cpu_model") == "EPYC 9565"
    assert facts.number("host.numa_nodes") == 2
    assert facts.number("host.load_average") == 9.5
    assert "host.x" not in facts


def test_broken_json_names_its_line() -> None:
    with pytest.raises(ToolError, match="host.json of box, line 3"):
        run(HostFacts(), box(host='{\n"cores": 4,\n"threads": }'))


PROCESSES = json.dumps(
    [
        {"pid": 1, "cmdline": ["python", "-m", "sglang.launch_server", "--port", "3"], "cpu_percent": 97.5},
        {"pid": 2, "ppid": 1, "cmdline": ["sglang::scheduler_PP0"], "cpu_percent": 55, "cpu_affinity": "0-7"},
        {"pid": 3, "ppid": 1, "cmdline": ["sglang::detokenizer"], "cpu_percent": 12.0},
        {"pid": 4, "cmdline": ["blender"], "cpu_percent": 400.0},
    ]
)


def test_cpu_use_is_told_by_title_and_only_for_the_server() -> None:
    facts = facts_of(run(HostProcesses(), box(processes=PROCESSES)))
    assert facts.numbers("host.scheduler_cpu_percent") == {"sglang::scheduler_PP0": 55}
    assert facts.numbers("host.tokenizer_cpu_percent") == {"sglang.launch_server": 97.5, "sglang::detokenizer": 12}
    assert facts.table("host.cpu_affinity") == {"sglang::scheduler_PP0": "0-7"}


@pytest.mark.parametrize("text", ["{}", '[{"cmdline": ["x"]}]', '[{"pid": 1, "cmdline": ["blender"]}]'])
def test_processes_without_a_server_are_a_tool_error(text: str) -> None:
    with pytest.raises(ToolError, match="processes.json of box"):
        run(HostProcesses(), box(processes=text))


def test_variables_are_read_without_quotes_and_comments() -> None:
    facts = facts_of(run(HostEnvironment(), box(environment='# set\nexport NCCL_P2P_DISABLE="1"\nOMP_NUM_THREADS=8\n')))
    assert facts.text("env.NCCL_P2P_DISABLE") == "1"
    assert facts.text("env.OMP_NUM_THREADS") == "8"


def test_a_line_that_sets_nothing_is_named() -> None:
    with pytest.raises(ToolError, match="environment.txt of box, line 2"):
        run(HostEnvironment(), box(environment="A=1\nnonsense here\n"))


def test_packages_that_matter_are_read_in_either_format() -> None:
    text = "sglang==0.5.10\ntorch==2.9.1+cu130\nrequests==2.0\nnvidia-nccl-cu12   2.27.5\n"
    finding = run(HostPackages(), box(packages=text))[0]
    assert finding.facts == {
        "package.sglang": "0.5.10",
        "package.torch": "2.9.1+cu130",
        "package.nvidia-nccl-cu12": "2.27.5",
    }
    assert finding.excerpt == "sglang==0.5.10"


DMESG = """\
[    0.0] Command line: BOOT_IMAGE=/vmlinuz root=/dev/sda iommu=pt pcie_aspm=off
[    1.2] iommu: Default domain type: Passthrough (set via kernel command line)
[   99.0] NVRM: Xid (PCI:0000:41:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.
[  100.1] pcieport 0000:40:01.1: AER: Corrected error received: 0000:40:01.1
[  101.1] pcieport 0000:40:01.1: AER: Corrected error received: 0000:40:01.1
"""


def test_the_kernel_log_tells_xids_trouble_once_each_and_iommu() -> None:
    facts = facts_of(run(HostKernel(), box(dmesg=DMESG)))
    (xid,) = facts.items("host.xid")
    assert isinstance(xid, dict)
    assert (xid["gpu"], xid["code"]) == ("0000:41:00", 79)
    assert facts.items("host.kernel_trouble") == [DMESG.splitlines()[3]]
    assert "iommu=pt" in (facts.text("host.iommu") or "")


def test_a_quiet_kernel_log_says_that_it_is_quiet() -> None:
    facts = facts_of(run(HostKernel(), box(dmesg="[ 1.0] usb 1-1: new device\n")))
    assert facts.get("host.xid") is not None
    assert facts.items("host.xid") == []
    assert facts.items("host.kernel_trouble") == []
    assert "host.iommu" not in facts
