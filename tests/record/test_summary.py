"""The end of a recording says what there is, what is not and why, and what to run by hand, in 80 columns."""

import pytest

from ppagent.record.commands import by_hand
from ppagent.record.outcome import Outcome
from ppagent.record.summary import summary
from ppagent.targets.target import Artifact


def test_a_line_for_each_thing_and_the_commands_below() -> None:
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
        "lacking  box topology.txt  no nvidia-smi",
        "lacking  box dmesg.txt     not for me; `sudo dmesg` would give it",
        "lacking  box host.json     gone",
        "lacking  box metrics       no /metrics",
        "not there: box gpus.csv",
        "",
        "By hand, on the server's host; what a command prints is the content of its file:",
        "  hosts/box/topology.txt    nvidia-smi topo -m",
        "  hosts/box/metrics/1.prom  curl -s x",
        "",
        "All of it, on the host itself: ppagent record local -o DIR",
    ]


def test_in_80_columns_reasons_are_wrapped_and_a_command_stays_whole() -> None:
    outcome = Outcome()
    why = "the server on box does not answer on 10.0.0.7:30000: [Errno 111] Connection refused, since it is starting"
    for artifact in (Artifact.GPUS, Artifact.SERVER_INFO):
        outcome.lack("box", artifact.value, why, by_hand(artifact))
    told = summary(outcome).splitlines()
    assert told[0] == "lacking  box gpus.csv          the server on box does not answer on"
    assert f"    {by_hand(Artifact.GPUS)}" in told
    assert all(len(line) <= 80 for line in told if "nvidia-smi" not in line)


def test_one_reason_that_keeps_a_whole_host_away_is_said_once_and_gives_no_list_of_commands() -> None:
    outcome = Outcome()
    outcome.add("a", "server.log", 200)
    for artifact in (Artifact.LAUNCH, Artifact.VERSION, Artifact.SERVER_INFO, Artifact.DMESG, Artifact.GPUS):
        outcome.lack("b", artifact.value, "The key of b is not in known_hosts. Log in once.", by_hand(artifact))
    outcome.lack("a", "dmesg.txt", "not allowed", "sudo dmesg")
    assert summary(outcome).splitlines() == [
        "got      a server.log  200 B",
        "lacking  b: The key of b is not in known_hosts. Log in once. So there is no",
        "            launch.txt, sglang_version.txt, server_info.json, dmesg.txt,",
        "            gpus.csv",
        "lacking  a dmesg.txt   not allowed",
        "",
        "By hand, on the server's host; what a command prints is the content of its file:",
        "  hosts/a/dmesg.txt  sudo dmesg",
        "",
        "All of it, on the host itself: ppagent record local -o DIR",
    ]
    assert outcome.silent == {"b": "The key of b is not in known_hosts. Log in once."}


@pytest.mark.parametrize(
    ("launch", "command"),
    [
        ("", "curl -s localhost:30000/server_info"),
        ("python -m sglang.launch_server --host 0.0.0.0 --port 8000", "curl -s localhost:8000/server_info"),
        ("sglang serve m --host=10.0.0.7", "curl -s 10.0.0.7:30000/server_info"),
        ("sglang serve m --host :: --port 8000", "curl -s localhost:8000/server_info"),
        ("sglang serve m --host fd00::7", "curl -sg [fd00::7]:30000/server_info"),
        ("sglang serve m --host box --ssl-certfile c.pem", "curl -sk https://box:30000/server_info"),
        ("sglang serve m --chat-template 'open --host 10.0.0.7", "curl -s 10.0.0.7:30000/server_info"),
    ],
)
def test_a_command_asks_where_the_server_listens(launch: str, command: str) -> None:
    assert by_hand(Artifact.SERVER_INFO, launch) == command
    assert by_hand(None, launch) == command.replace("server_info", "metrics")


def test_nothing_is_to_be_asked_of_a_node_that_serves_no_api() -> None:
    launch = "sglang serve m --nnodes 2 --node-rank"
    assert [by_hand(a, f"{launch} 1") for a in (Artifact.SERVER_INFO, Artifact.LOADS)] == ["", ""]
    assert by_hand(None, f"{launch} 1") == "curl -s localhost:30000/metrics"
    assert by_hand(Artifact.LOADS, f"{launch} 0") == "curl -s localhost:30000/v1/loads"


def test_the_port_that_the_user_names_counts_more() -> None:
    assert by_hand(Artifact.LOADS, "sglang serve m --port 8000", 9000) == "curl -s localhost:9000/v1/loads"


def test_what_a_host_says_cannot_steer_the_terminal() -> None:
    outcome = Outcome()
    outcome.lack("box", "x", "\x1b[2Jgone")
    assert summary(outcome) == "lacking  box x  gone\n"


def test_a_program_that_is_not_there_is_not_told_to_be_run() -> None:
    outcome = Outcome()
    outcome.lack("box", "topology.txt", "timeout: failed to run command ‘nvidia-smi’: No such file", "nvidia-smi topo")
    assert "By hand" not in summary(outcome)


def test_nothing_got_is_no_line() -> None:
    assert summary(Outcome()) == ""
