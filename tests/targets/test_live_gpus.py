"""The cards of a host: the real nvidia-ml-py over a stub of the library below it, and nvidia-smi in its place."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ppagent.errors import NotRecorded
from ppagent.plugins import ToolContext
from ppagent.targets.live import LiveTarget
from ppagent.targets.live_host import LiveHost, Windows
from ppagent.targets.remote.link import Link
from ppagent.targets.remote.local_link import LocalLink
from ppagent.targets.target import Artifact
from ppagent_tools.gpu import tools
from tests.fixtures import nvml
from tests.fixtures.fake_server import FakeServer

SEED = Path(__file__).parents[2] / "evals" / "incidents" / "kimi-k26-pp8" / "hosts" / "gpu-box" / "gpus.csv"
MOMENT = "2026-05-02T14:28:00"
SHORT = Windows(cpu_s=0.1, gpu_s=0.2, scrapes=1)


@pytest.fixture(scope="module")
def stub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if nvml.MISSING:
        pytest.skip(nvml.MISSING)
    pytest.importorskip("pynvml", reason="nvidia-ml-py is not installed")
    return nvml.build(tmp_path_factory.mktemp("nvml"))


@pytest.fixture(scope="module")
def server(stub: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FakeServer]:
    """A server whose library path leads to the stub."""
    started = FakeServer(tmp_path_factory.mktemp("gpu"), env={"LD_LIBRARY_PATH": str(stub)}).start()
    yield started
    started.stop()


def facts_of(target: LiveTarget, name: str) -> dict[str, object]:
    tool = next(tool for tool in tools() if tool.name == name)
    findings = tool.run(ToolContext(target), tool.arguments())
    return {key: value for finding in findings for key, value in finding.facts.items()}


def target_of(link: Link, server: FakeServer) -> LiveTarget:
    return LiveTarget({"box": LiveHost(link, port=server.port, windows=SHORT)}, link.kind)


def test_the_seeds_eight_cards_are_read_through_the_servers_own_python(
    link: Link, stub: Path, server: FakeServer
) -> None:
    nvml.set_cards(stub, nvml.cards_of(SEED, MOMENT))
    target = target_of(link, server)
    rows = target.text("box", Artifact.GPUS).splitlines()
    recorded = [line for line in SEED.read_text().splitlines() if line.startswith(MOMENT)]
    columns, kept = rows[0].split(","), SEED.read_text().splitlines()[0].split(",")
    for row, line in zip(rows[1:9], recorded, strict=True):
        cells = dict(zip(columns, row.split(","), strict=True))
        assert [cells[name] for name in kept[1:]] == line.split(",")[1:]
    facts = facts_of(target, "gpu.samples")
    assert facts["gpu.count"] == 8
    assert facts["gpu.power_w"]["0"] == 174.12
    assert facts["gpu.throttle"] == {str(index): [] for index in range(8)}


def test_what_a_card_does_not_support_is_empty_and_a_lost_card_says_so(stub: Path, server: FakeServer) -> None:
    cards = nvml.cards_of(SEED, MOMENT)
    del cards[1]["temperature"], cards[1]["reasons"]
    cards[2] = {"lost": 1}
    cards[3] |= {"reasons": "0x44", "pcie.width": 4}
    nvml.set_cards(stub, cards)
    target = target_of(LocalLink(), server)
    facts = facts_of(target, "gpu.samples")
    assert "1" not in facts["gpu.temperature_c"]
    assert facts["gpu.lost"] == [{"gpu": "2", "says": "GPU is lost"}]
    assert "2" not in facts["gpu.names"]
    assert facts["gpu.count"] == 7
    assert facts["gpu.throttle"]["3"] == ["sw_power_cap", "hw_thermal"]
    assert "1" not in facts["gpu.throttle"]
    assert facts["gpu.pcie_width"]["3"] == 4


def test_a_card_that_has_no_handle_any_more_hides_no_other(stub: Path, server: FakeServer) -> None:
    """What most cards that fell off the bus answer is an unknown error."""
    cards = nvml.cards_of(SEED, MOMENT)
    cards[2] |= {"handle": 999}
    cards[5] |= {"handle": 16}
    nvml.set_cards(stub, cards)
    facts = facts_of(target_of(LocalLink(), server), "gpu.samples")
    said = [{"gpu": "2", "says": "Unknown Error"}, {"gpu": "5", "says": "GPU requires reset"}]
    assert facts["gpu.lost"] == said
    assert facts["gpu.power_w"]["3"] > 0
    assert facts["gpu.power_w"].keys() == set("013467")


def test_what_the_driver_keeps_for_itself_is_not_used(stub: Path, server: FakeServer) -> None:
    """As nvidia-smi counts: an empty H200 holds 1 MiB, and 700 MiB are reserved."""
    cards = nvml.cards_of(SEED, MOMENT)
    cards[0] |= {"memory.total": 143771, "memory.used": 701, "memory.reserved": 700}
    nvml.set_cards(stub, cards)
    facts = facts_of(target_of(LocalLink(), server), "gpu.samples")
    assert facts["gpu.memory_used_mib"]["0"] == 1
    assert facts["gpu.memory_total_mib"]["0"] == 143771


def test_each_rank_is_found_on_its_card_and_a_stranger_is_told(stub: Path, server: FakeServer) -> None:
    from tests.fixtures.sshd import processes

    workers = sorted(pid for pid, parent, _ in processes() if parent == server.pid)
    cards = nvml.cards_of(SEED, MOMENT)
    for index, pid in enumerate(workers):
        cards[index] |= {"process": pid, "process.memory": 68000 + index}
    cards[1] |= {"stranger": 999_999, "stranger.memory": 2048}
    cards[2] |= {"stranger": 999_998, "stranger.memory": 2048}
    nvml.set_cards(stub, cards)
    target = target_of(LocalLink(), server)
    assert target.text("box", Artifact.GPU_PROCESSES).splitlines()[:2] == [
        "index,pid,name,used_memory_mib", f"0,{workers[0]},sglang::scheduler_PP0,68000",
    ]  # fmt: skip
    facts = facts_of(target, "gpu.processes")
    assert facts["gpu.ranks"] == {"0": "PP0", "1": "PP1"}
    stranger = {"index": "1", "pid": 999_999, "name": "[Not Found]", "used_memory_mib": 2048.0}
    assert facts["gpu.foreign_processes"] == [stranger], "the one on a card that the server is not on does not matter"
    assert facts_of(target, "gpu.samples")["gpu.power_w"].keys() == {"0", "1"}


def test_a_stranger_that_the_host_shows_is_named_by_its_program(stub: Path, server: FakeServer) -> None:
    from tests.fixtures.sshd import processes

    worker = next(pid for pid, parent, _ in processes() if parent == server.pid)
    cards = nvml.cards_of(SEED, MOMENT)
    cards[0] |= {"process": worker, "process.memory": 0}
    cards[1] |= {"process": os.getpid(), "process.memory": 900}
    nvml.set_cards(stub, cards)
    rows = target_of(LocalLink(), server).text("box", Artifact.GPU_PROCESSES).splitlines()
    assert rows[1] == f"0,{worker},sglang::scheduler_PP0,", "0 MiB is what a driver says that cannot tell"
    assert rows[2] == f"1,{os.getpid()},{Path('/proc/self/comm').read_text().strip()},900"


def test_cards_that_give_no_list_of_processes_do_not_say_that_there_is_none(stub: Path, server: FakeServer) -> None:
    cards = nvml.cards_of(SEED, MOMENT)
    nvml.set_cards(stub, {index: card | {"process.untold": 1} for index, card in cards.items()})
    target = target_of(LocalLink(), server)
    with pytest.raises(NotRecorded, match="no card gives a list of its processes"):
        target.text("box", Artifact.GPU_PROCESSES)
    assert facts_of(target, "gpu.samples")["gpu.count"] == 8


def test_an_older_driver_names_its_throttle_reasons_otherwise(tmp_path: Path, stub: Path) -> None:
    """And its lists of processes, and it does not tell apart what it keeps of the memory."""
    old = nvml.build(tmp_path / "old", new_driver=False)
    card = nvml.cards_of(SEED, MOMENT)[0] | {"reasons": "0x08", "process": 999_999, "process.memory": 7}
    nvml.set_cards(old, {0: card}, driver="470.1")
    server = FakeServer(tmp_path / "server", env={"LD_LIBRARY_PATH": str(old)}).start()
    try:
        target = target_of(LocalLink(), server)
        facts = facts_of(target, "gpu.samples")
        assert facts["gpu.throttle"] == {"0": ["hw_slowdown"]}
        assert facts["gpu.memory_used_mib"] == {"0": float(card["memory.used"])}
        assert target.text("box", Artifact.GPU_PROCESSES).splitlines()[1] == "0,999999,[Not Found],7"
    finally:
        server.stop()


SMI = """
q=${1#--query-gpu=}
case "$*" in
  topo*) printf '\\tGPU0\\tGPU1\\nGPU0\\tX\\tNODE\\nGPU1\\tNODE\\tX\\n' ;;
  --query-compute-apps*) echo "00000000:02:00.0, 4242, 1000" ;;
  --query-gpu=timestamp*REASONS*) for n in 1 2; do
    echo "${q}" | sed 's/power.draw/power.draw [W]/'
    for i in 0 1; do echo "$q" | tr , '\\n' | sed "s/^timestamp$/2026\\/11\\/29 20:00:0$n.000/;s/^index$/$i/
      s/^pci.bus_id$/00000000:0$((i + 1)):00.0/;s/^power.draw$/123.$i/;s/^[a-z_.]*$/[N\\/A]/" | paste -sd, ; done
    break; done; sleep 60 ;;
  --query-gpu=timestamp*) echo 'Field "clocks_event_reasons.active" is not a valid field to query.'; exit 2 ;;
  *) echo "| NVIDIA-SMI 470.1  Driver Version: 470.1  CUDA Version: 11.4 |" ;;
esac
"""


@pytest.fixture
def smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A nvidia-smi of an older driver, on a machine without the library."""
    folder = nvml.write_smi(tmp_path / "bin", SMI.replace("REASONS", "throttle_reasons"))
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    return folder


def test_without_the_library_nvidia_smi_is_asked_under_its_older_names_too(smi: Path, fake_server: FakeServer) -> None:
    target = target_of(LocalLink(), fake_server)
    facts = facts_of(target, "gpu.samples")
    assert facts["gpu.power_w"] == {"0": 123.0, "1": 123.1}
    assert target.text("box", Artifact.GPU_PROCESSES).splitlines()[1] == "1,4242,[Not Found],1000"
    assert facts_of(target, "gpu.topology") == {"gpu.nvlink": False, "gpu.link_worst": "NODE"}
    assert "nvidia-driver==470.1\n" in target.text("box", Artifact.PACKAGES)
    assert "cuda-driver==11.4\n" in target.text("box", Artifact.PACKAGES)


def test_nvidia_smi_may_say_no_more_than_that_a_card_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fake_server: FakeServer
) -> None:
    said = "echo 'Unable to determine the device handle for GPU0000:17:00.0: Unknown Error'; exit 255"
    monkeypatch.setenv("PATH", str(nvml.write_smi(tmp_path / "bin", said)), prepend=os.pathsep)
    target = target_of(LocalLink(), fake_server)
    assert facts_of(target, "gpu.samples")["gpu.lost"] == [{"gpu": "0000:17:00.0", "says": "Unknown Error"}]
    with pytest.raises(NotRecorded):
        target.text("box", Artifact.GPU_PROCESSES)


def test_without_either_it_is_said_what_is_missing(fake_server: FakeServer) -> None:
    target = target_of(LocalLink(), fake_server)
    with pytest.raises(NotRecorded, match="cards cannot be read: .*nvidia-smi: .*No such file"):
        target.text("box", Artifact.GPUS)
    with pytest.raises(NotRecorded, match="how the cards are connected is not known: .*nvidia-smi"):
        target.text("box", Artifact.TOPOLOGY)
