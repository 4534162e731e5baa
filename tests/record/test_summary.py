"""The end of a recording says in a line each what there is, and what is not and how to get it."""

from ppagent.record.outcome import Outcome
from ppagent.record.summary import summary


def test_a_line_for_each_thing() -> None:
    outcome = Outcome()
    outcome.add("box", "launch.txt", 200)
    outcome.add("box", "metrics", 3 << 20, "3 scrapes")
    outcome.lack("box", "topology.txt", "no\nnvidia-smi.", "nvidia-smi topo -m")
    outcome.lack("box", "dmesg.txt", "not for me; `sudo dmesg` would give it", "sudo dmesg")
    outcome.lack("box", "host.json", "gone", "ppagent record local -o DIR")
    outcome.lack("box", "metrics", "no /metrics", "curl -s x")
    outcome.absent += ["box gpus.csv"]
    assert summary(outcome).splitlines() == [
        "got      box launch.txt    200 B",
        "got      box metrics       3.0 MiB    3 scrapes",
        "lacking  box topology.txt  no nvidia-smi; on the host: `nvidia-smi topo -m`, into hosts/box/topology.txt",
        "lacking  box dmesg.txt     not for me; `sudo dmesg` would give it",
        "lacking  box host.json     gone; try `ppagent record local -o DIR` on the host itself",
        "lacking  box metrics       no /metrics; on the host: `curl -s x`, into hosts/box/metrics/1.prom",
        "not there: box gpus.csv",
    ]


def test_what_a_host_says_cannot_steer_the_terminal() -> None:
    outcome = Outcome()
    outcome.lack("box", "x", "\x1b[2Jgone")
    assert summary(outcome) == "lacking  box x  gone\n"


def test_nothing_got_is_no_line() -> None:
    assert summary(Outcome()) == ""
