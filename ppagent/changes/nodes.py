"""A change on every node of a deployment: each has a launch command of its own, and they start together or not at
all."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ppagent.causes.cause import Change, RemedyKind
from ppagent.causes.deployment import deployment
from ppagent.changes.commands import Installed, launch_of, relaunch_command
from ppagent.changes.proposal import Elsewhere
from ppagent.evidence.facts import Facts

TOGETHER = "the nodes start together: stop the server on every one of them, then start it on every one"


@dataclass(frozen=True)
class Spread:
    """Where a command is to be run, what to run on the other nodes, and what to know about it."""

    host: str = ""
    elsewhere: tuple[Elsewhere, ...] = ()
    risks: tuple[str, ...] = ()


def spread_of(kind: RemedyKind, change: Change, installed: Installed, facts: Facts) -> Spread:
    """How a change is carried to all nodes; nothing for a server on one host.

    A live change is made on node 0, whose scheduler passes it on to the others (0.5.23, `scheduler_pp_mixin.py`).
    """
    whole = deployment(facts)
    if not whole or kind == "operator":
        return Spread()
    if kind == "live":
        return Spread(whole[0].host)
    fact = facts.get("launch.command")
    host = fact.host if fact is not None else ""
    elsewhere = tuple(_elsewhere(host, change, installed, facts))
    known = {host, *(each.host for each in elsewhere)}
    away = [f"node {node.rank}" for node in whole if node.host not in known or not node.host]
    unknown = f"make the same change in the command of {', '.join(away)}, which was not read" if away else ""
    return Spread(host, elsewhere, tuple(risk for risk in (TOGETHER, unknown) if risk))


def _elsewhere(host: str, change: Change, installed: Installed, facts: Facts) -> Iterable[Elsewhere]:
    """The new command of each other host, from its own."""
    done = {host}
    for fact in facts.all("launch.command"):
        if fact.host in done or not isinstance(fact.value, str):
            continue
        done.add(fact.host)
        launch = launch_of(fact.value, installed.catalogue)
        command = relaunch_command(change, replace(installed, launch=launch)).command
        if command:
            yield Elsewhere(fact.host, command)
