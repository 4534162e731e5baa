"""Where a deployment lies: which host is which node and holds which stages, and which nodes are not in the report."""

from collections.abc import Sequence

from ppagent.agent.investigation import Investigation
from ppagent.causes.deployment import Node, deployment, ranks_of_hosts
from ppagent.evidence.facts import Facts
from ppagent.report.next_command import words_of

MOST_NAMED = 3
"""Nodes of which nothing was read that are told one by one."""
_NOT_APART = "null"
"""`--disaggregation-mode` of a server that does both (its default)."""


def nodes_told(found: Investigation) -> str:
    """The nodes in words; empty for a server on one host."""
    whole = deployment(found.facts)
    here = [node for node in whole if node.host]
    away = [node for node in whole if not node.host]
    parts = [", ".join(f"{node.host} is {_named(node, len(whole))}" for node in here)] if here else []
    parts += [_away(away, found, len(whole))] if away else []
    return "; ".join(part for part in (*parts, _apart(found.facts)) if part)


def _named(node: Node, count: int) -> str:
    return f"node {node.rank} of {count}" + (f" ({node.holds})" if node.holds else "")


def _away(away: Sequence[Node], found: Investigation, count: int) -> str:
    """The nodes of which nothing was read, why, and what that leaves out."""
    which = ", ".join(_named(node, count) for node in away)
    if len(away) > MOST_NAMED:
        which = f"{len(away)} more nodes of {count}"
    lacks = "its log, metrics and cards are" if len(away) == 1 else "their logs, metrics and cards are"
    says = f"{which}: {lacks} not in this report"
    if away[0].rank == 0:
        says += ", and neither are the server's settings and load, for which node 0 alone answers"
    if found.target_kind == "recording":
        return says
    unread = [name for name in found.target_name.split(",") if name not in ranks_of_hosts(found.facts)]
    if unread:
        return f"{says}, since nothing of a server could be read on {', '.join(unread)}"
    named, _, more = words_of(found).partition(" ")
    every = ",".join((named, *["HOST"] * len(away)))
    return f"{says}; name every host: ppagent diagnose {f'{every} {more}'.strip()}"


def _apart(facts: Facts) -> str:
    """Hosts that run a node of a rank that another holds already, so that they belong to a deployment of their own.
    Prefill and decode servers are that, and belong together all the same."""
    if (facts.arg_text("disaggregation_mode") or _NOT_APART) != _NOT_APART:
        return ""
    seen: dict[int, str] = {}
    twice = [host for host, rank in ranks_of_hosts(facts).items() if seen.setdefault(rank, host) != host]
    return f"{', '.join(twice)}: a deployment of its own, to be diagnosed by itself" if twice else ""
