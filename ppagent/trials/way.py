"""How a server is relaunched: by its process, by its systemd unit, or by hand with the commands for it."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ppagent.ledger import new_id
from ppagent.trials.launches import NewLaunch, why_not
from ppagent.trials.machine import Keeper, Launched, Machine
from ppagent.trials.unit import UnitMachine, unit_of, unit_trouble
from ppagent.trials.unit_file import drop_in

if TYPE_CHECKING:
    from ppagent.targets.remote.link import Link
    from ppagent.targets.remote.servers import Server

ASK_S = 15.0
Prepare = Callable[[], tuple[Keeper, Launched]]


@dataclass(frozen=True)
class Way:
    """What will be done, or why nothing is and what to do by hand."""

    lines: tuple[str, ...]
    """Shown in the plan: what is done, or the commands to run."""
    reason: str = ""
    """Why ppagent does not do it itself; empty where it does."""
    prepare: Prepare | None = None
    """Puts the new launch beside the old one; None where it is to be done by hand."""


def way_of(link: "Link", server: "Server", launch: NewLaunch) -> Way:
    """The way for one server. Raises ToolError where its host cannot be asked."""
    if server.container:
        return Way(_container_commands(link, server, launch), why_not(server))
    reason = why_not(server)
    if reason:
        return Way((f"on every host, with its own --node-rank: {launch.new}",), reason)
    if server.unit:
        return _unit_way(unit_of(link, server), server, launch)

    def prepare() -> tuple[Keeper, Launched]:
        machine = Machine(link, server.launcher.exe or "python3")
        launched = machine.save(server.launcher.pid, new_id())
        machine.prepare(launched.folder, launch.argv, launch.env)
        return machine, launched

    return Way((
        "stops the server (SIGTERM; requests of others are cut), starts the new command in its folder with its "
        "environment and log",
        "the old launch is kept on the host first, and started again if the new one does not come up",
    ), prepare=prepare)  # fmt: skip


def _unit_way(machine: UnitMachine, server: "Server", launch: NewLaunch) -> Way:
    trouble = unit_trouble(machine, server)
    content = drop_in(launch.argv, launch.env)
    if trouble:
        return Way(_unit_commands(machine, content), f"systemd runs it as {machine.unit}, and {trouble}")

    def prepare() -> tuple[Keeper, Launched]:
        return machine, machine.prepare(launch.argv, launch.env)

    word = machine.word
    lines = (
        f"{word} stop {machine.unit} (requests of others are cut), writes {machine.trial_file}:",
        *(f"    {line}" for line in content.splitlines()),
        f"{word} daemon-reload, {word} start {machine.unit}",
        f"that file is removed, {word} daemon-reload and start, if the new one does not come up; a reboot does too",
        f"a launch that is kept has its file moved to {machine.kept_file}",
    )
    return Way(lines, prepare=prepare)


def _unit_commands(machine: UnitMachine, content: str) -> tuple[str, ...]:
    return (
        f"{machine.word} edit {machine.unit}        # put in:",
        *(f"    {line}" for line in content.splitlines()[1:]),
        f"{machine.word} restart {machine.unit}",
        f"{machine.word} edit {machine.unit}        # the way back: take it out again, and restart",
    )


def _container_commands(link: "Link", server: "Server", launch: NewLaunch) -> tuple[str, ...]:
    if "kubepods" in server.launcher.groups:
        return (
            "kubectl edit deployment NAME            # or the statefulset or pod that runs it: its command becomes",
            f"    {launch.new}",
            "kubectl rollout undo deployment NAME    # the way back",
        )
    from ppagent.targets.remote.link import run

    program = "podman" if "libpod" in server.launcher.groups else "docker"
    short = server.container[:12]
    asked = run(link, [program, "inspect", "-f", "{{.Config.Image}}", server.container], timeout_s=ASK_S)
    image = shlex.quote(asked.text.strip()) if asked.ok and asked.text.strip() else "IMAGE"
    return (
        f"{program} inspect {short} > before.json   # how it was made: devices, volumes, ports, variables with keys",
        f"{program} stop -t 60 {short}",
        f"{program} run OPTIONS {image} \\",
        f"    {launch.new}",
        f"{program} rm -f NEW; {program} start {short}   # the way back",
        "with compose instead: change `command:` of its service, then: docker compose up -d SERVICE",
    )
