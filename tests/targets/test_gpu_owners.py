"""Processes on the cards, as the host and as a container number them, and cards likewise."""

import pytest

from ppagent.targets.remote.gpu_owners import HEADER, Owners, owners_of
from ppagent.targets.remote.gpus import Cards, numbered_as_on
from ppagent.targets.remote.processes import Process
from ppagent.targets.remote.sections import Section, Sections
from ppagent.targets.remote.servers import Server

OWNERS = Owners(
    titles={40170: "sglang::scheduler_TP0", 40171: "sglang::scheduler_TP1"},
    others={7: "kworker/0:1", 999: "blender"},
    inside={19: 40170, 20: 40171},
)


def rows(text: str, *, within: bool) -> list[str]:
    head, *found = OWNERS.table(text, within=within).splitlines()
    assert head == HEADER
    return found


def survey(**texts: str) -> Sections:
    return Sections({name: Section(text.encode(), 0, "") for name, text in texts.items()}, "")


def test_a_driver_that_numbers_as_the_host_is_understood_in_a_container() -> None:
    """Up to 535: the container sees ids that it does not have."""
    found = rows("0,40170,80000\n1,40171,80000\n1,999,500\n", within=True)
    assert found == ["0,40170,sglang::scheduler_TP0,80000", "1,40171,sglang::scheduler_TP1,80000", "1,999,blender,500"]


def test_a_driver_that_numbers_as_the_container_is_understood_and_tells_no_memory() -> None:
    """560 with open kernel modules: `process id: 324  mem: 0`."""
    found = rows("0,19,0\n1,20,0\n1,7,0\n", within=True)
    assert found == ["0,40170,sglang::scheduler_TP0,", "1,40171,sglang::scheduler_TP1,", "1,7,[Not Found],"]


def test_on_the_host_itself_numbers_are_the_hosts() -> None:
    assert rows("0,19,100\n", within=False) == ["0,19,[Not Found],100"]


def test_a_card_without_a_list_beside_one_with_it_hides_nothing() -> None:
    assert rows("0,,\n1,40171,1\n", within=False) == ["1,40171,sglang::scheduler_TP1,1"]


@pytest.mark.parametrize(("text", "table"), [("0,,\n1,,\n", ""), ("", f"{HEADER}\n")])
def test_no_list_at_all_is_not_an_empty_one(text: str, table: str) -> None:
    assert OWNERS.table(text, within=False) == table


def test_names_and_numbers_are_read_of_the_survey() -> None:
    """Numbers of the server's own container: another one on the host has a process 19 too."""
    status = "".join(
        f"/proc/{pid}/status:NSpid:\t{pid}\t{own}\n/proc/{pid}/status:Cpus_allowed_list:\t0-3\n"
        for pid, own in ((40169, 1), (40170, 19), (51170, 19))
    )
    launcher = Process(40169, 1, ("python3", "-m", "sglang.launch_server"))
    server = Server(launcher, (Process(40170, 40169, ("sglang::scheduler",)),), 30000, "127.0.0.1")
    found = owners_of(server, survey(tree="  1  0 systemd\n999 1 a, b\nodd\n", status=status))
    assert found.titles == {40169: "sglang.launch_server", 40170: "sglang::scheduler"}
    assert found.others == {1: "systemd", 999: "a  b"}
    assert found.inside == {1: 40169, 19: 40170}
    assert owners_of(None, survey(status=status)) == Owners()


SAMPLES = "timestamp,index,name,uuid,pci.bus_id\n1,0,X,GPU-a,00000000:AD:00.0\n1,1,X,GPU-b,00000000:C1:00.0\n"
PROCESSES = f"{HEADER}\n0,40170,sglang::scheduler_TP0,1\n1,40171,sglang::scheduler_TP1,1\n"
HOST = "4, GPU-a, 00000000:AD:00.0, X, 550\n6, GPU-b, 00000000:c1:00.0, X, 550\n"


def test_cards_of_a_container_get_the_indices_they_have_on_the_host() -> None:
    cards = numbered_as_on(survey(gpus=HOST), Cards(SAMPLES, PROCESSES))
    assert [line.split(",")[:2] for line in cards.samples.splitlines()[1:]] == [["1", "4"], ["1", "6"]]
    assert cards.processes.splitlines()[1:] == ["4,40170,sglang::scheduler_TP0,1", "6,40171,sglang::scheduler_TP1,1"]


@pytest.mark.parametrize("host", ["", "4, GPU-a, 00000000:AD:00.0, X, 550\n", "nvidia-smi: not found\n"])
def test_cards_that_the_host_does_not_list_stay_as_they_are(host: str) -> None:
    cards = Cards(SAMPLES, PROCESSES)
    assert numbered_as_on(survey(gpus=host), cards) == cards
    assert numbered_as_on(survey(), cards) == cards
