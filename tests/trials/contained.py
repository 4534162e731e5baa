"""A server in a container of a stand-in engine, and the way to relaunch it."""

import shlex

from ppagent.targets.remote.processes import Process
from ppagent.targets.remote.servers import Server
from ppagent.trials.container import ContainerMachine
from ppagent.trials.launches import NewLaunch
from ppagent.trials.watch import wait_until_ready
from ppagent.trials.way import Way, way_of
from tests.trials.fake_engine import FakeEngine

ARGV = ("python3", "-m", "sglang.launch_server", "--model-path", "/models/x", "--pp-size", "4", "--port", "30000")
NEW = (*ARGV, "--pp-max-micro-batch-size", "1")
ENGINES = ("docker", "podman")
SECRET = "s3cr3t-of-the-vault-0123456789"


def server(engine: FakeEngine, argv: tuple[str, ...] = ARGV, groups: str = "") -> Server:
    group = "libpod" if engine.program == "podman" else "docker"
    process = Process(101, 1, argv, groups=groups or f"0::/{group}-{engine.old['Id']}.scope")
    return Server(process, (), 30000, "127.0.0.1")


def launch(**env: str) -> NewLaunch:
    return NewLaunch(shlex.join(ARGV), shlex.join(NEW), "+ --pp-max-micro-batch-size 1", NEW, env)


def way(engine: FakeEngine, **env: str) -> Way:
    return way_of(engine, server(engine), launch(**env))


def prepared(engine: FakeEngine, **env: str) -> ContainerMachine:
    found = way(engine, **env)
    assert found.prepare is not None, found.reason
    keeper, _ = found.prepare()
    assert isinstance(keeper, ContainerMachine)
    return keeper


def ready(machine: ContainerMachine, which: str) -> None:
    wait_until_ready(machine, machine.start("", which), 5, lambda: True, lambda sentence: None)
