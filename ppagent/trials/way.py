"""How a server is relaunched: by its process, systemd unit or container, or by hand with the commands for it."""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ppagent.evidence.quoting import without_controls
from ppagent.ledger import new_id
from ppagent.targets.remote.forms import assignments
from ppagent.targets.remote.lasting import lasting
from ppagent.trials.container_way import container_way
from ppagent.trials.launches import NewLaunch, node_count, why_not
from ppagent.trials.machine import Keeper, Launched, Machine
from ppagent.trials.unit import UnitMachine, unit_of
from ppagent.trials.unit_trouble import unit_trouble

if TYPE_CHECKING:
    from ppagent.targets.remote.link import Link
    from ppagent.targets.remote.servers import Server

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


@dataclass(frozen=True)
class Node:
    """A node of a deployment over several hosts, and its new launch."""

    link: "Link"
    server: "Server"
    launch: NewLaunch


def way_of(link: "Link", server: "Server", launch: NewLaunch, others: Sequence[Node] = ()) -> Way:
    """The way for one server. `others`: further nodes of its deployment, as far as they were named. Raises ToolError
    where a host cannot be asked."""
    way = _way_of(lasting(link), server, launch, others)
    # Names and words are somebody else's: no terminal sequence in a plan, and no line of it but ppagent's own.
    lines = (without_controls(line) for line in way.lines)
    return replace(way, lines=tuple(line if way.prepare is None else line.replace("\n", "\\n") for line in lines))


def _way_of(link: "Link", server: "Server", launch: NewLaunch, others: Sequence[Node]) -> Way:
    reason = why_not(server)
    if reason:
        return Way(_on_every_host((Node(link, server, launch), *others)), reason)
    if server.container:
        return Way(*container_way(link, server, launch))
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


def _on_every_host(nodes: Sequence[Node]) -> tuple[str, ...]:
    """What to do by hand for a server of several hosts, node 0 first: a node that is sent SIGTERM waits for node 0 to
    stop it (0.5.23, `srt/entrypoints/engine.py`)."""
    ordered = sorted(nodes, key=lambda node: node.server.node_rank)
    count = node_count(nodes[0].server.launcher.cmdline)
    lines = [f"# the {count} nodes start together: stop node 0 and then the others, and start all of them"]
    for node in ordered:
        lines += [f"# on {node.link.name} (node {node.server.node_rank}):", *_on_one_host(node)]
    known = {node.server.node_rank for node in ordered}
    away = [f"node {rank}" for rank in range(count) if rank not in known]
    return (*lines, *([f"# on {', '.join(away)}: the same change in the command of its own"] if away else []))


def _on_one_host(node: Node) -> tuple[str, ...]:
    """A unit's command is changed where systemd reads it, since whatever is started beside it is gone at the next
    restart; a process is started with the variables that it has."""
    if node.server.container:
        return (node.launch.new,)
    if not node.server.unit:
        return (" ".join((*assignments(node.server), node.launch.new)),)
    machine = unit_of(node.link, node.server)
    return _unit_commands(machine, machine.planned(node.launch.argv, node.launch.env))


def _unit_way(machine: UnitMachine, server: "Server", launch: NewLaunch) -> Way:
    trouble = unit_trouble(machine, server, launch.env)
    content = machine.planned(launch.argv, launch.env)
    if trouble:
        return Way(_unit_commands(machine, content), f"systemd runs it as {machine.unit}, and {trouble}")

    def prepare() -> tuple[Keeper, Launched]:
        return machine, machine.prepare(launch.argv, launch.env)

    word, unit = machine.word, shlex.quote(machine.unit)
    lines = (
        f"{word} stop {unit} (requests of others are cut), writes {machine.trial_file}:",
        *(f"    {line}" for line in content.splitlines()),
        f"{word} daemon-reload, {word} start {unit}",
        f"that file is removed, {word} daemon-reload and start, if the new one does not come up; a reboot does too",
        f"a launch that is kept has its file moved to {machine.kept_file}",
    )
    return Way(lines, prepare=prepare)


def _unit_commands(machine: UnitMachine, content: str) -> tuple[str, ...]:
    word = machine.word if machine.user or machine.uid == 0 else f"sudo {machine.word}"
    unit = shlex.quote(machine.unit)
    return (
        f"{word} edit {unit}        # put in:",
        *(f"    {line}" for line in content.splitlines()[1:]),
        f"{word} restart {unit}",
        f"{word} edit {unit}        # the way back: take it out again, and restart",
    )
