"""The start of the server as its log tells it: arguments as resolved, weights, KV pool, graphs, capacity."""

import re
from collections.abc import Callable, Iterable
from typing import TypeVar

from ppagent.evidence.evidence import FactValue, Finding
from ppagent.sglang.logs.startup_facts import Fact, GraphCapture, KvPool, PoolEnd, WeightLoad
from ppagent_tools.important import important
from ppagent_tools.log_reading import HostLog, Logs, stage_label
from ppagent_tools.reading import as_fact, clusters

Facts = dict[str, FactValue]
F = TypeVar("F", bound=Fact)


def startup_findings(logs: Logs) -> list[Finding]:
    """Facts by rank are put together over the hosts; the rest is the launcher's, which runs on the first."""
    log = logs.first
    begun = any(_covers_start(each) for each in logs)
    pools = "kv_late" if log.tap.line("kv_late") else "kv"
    groups: list[tuple[Facts, str]] = [
        (_by_stage(logs, "start.weights_gib", _weights), "weights"),
        (_by_stage(logs, "start.kv_tokens", _kv_tokens) | _by_stage(logs, "start.kv_gib", _kv_gib), pools),
        (_by_stage(logs, "start.avail_after_pool_gib", _after_pool), "pool"),
        (_graphs(logs, begun), "graph_begin"),
        (_capacity(log), "capacity"),
        (_ready(log, begun), "ready"),
    ]
    findings = [*_arguments(log)]
    findings += [log.finding(facts, log.tap.line(mark) or _any_line(log)) for facts, mark in groups if facts]
    return findings + list(logs.unread)


def _covers_start(log: HostLog) -> bool:
    """Whether the log holds the start, so that what is not in it did not happen."""
    startup = log.stretch.startup
    return startup.args is not None or bool(startup.of(WeightLoad))


def _any_line(log: HostLog) -> str:
    lines = (log.tap.line(name) for name in ("weights", "capacity", "args"))
    return next((line for line in lines if line), log.first_line)[:400]


def _arguments(log: HostLog) -> list[Finding]:
    """server_args as findings whose excerpts show the arguments that matter; the rest is one more."""
    args = log.stretch.startup.args
    if args is None:
        return []
    line = log.tap.line("args")
    facts: Facts = {f"args.{name}": as_fact(value) for name, value in args.values.items()}
    findings: list[Finding] = []
    for excerpt, names in clusters(line, _places(line, important(args.values))):
        findings.append(log.finding({f"args.{name}": facts.pop(f"args.{name}") for name in names}, excerpt))
    if not args.complete:
        facts["start.args_cut"] = True
    if facts:
        findings.append(log.finding(facts, line[:400]))
    return findings


def _places(line: str, names: Iterable[str]) -> dict[str, tuple[int, int]]:
    """Where `name=value` or `'name': value` of the arguments that matter stands in the line."""
    places = {}
    for name in names:
        match = re.search(rf"(?<![\w.'])(?:{name}=|'{name}': )(?:'[^']*'|\[[^\]]*\]|[^,(){{}}\[\]]+)", line)
        if match is not None:
            places[name] = match.span()
    return places


def _by_stage(logs: Logs, name: str, values: Callable[[HostLog], dict[str, float]]) -> Facts:
    table: dict[str, float] = {}
    for log in logs:
        table |= {rank: value for rank, value in values(log).items() if rank not in table}
    return {name: dict(sorted(table.items(), key=lambda item: _order(item[0])))} if table else {}


def _order(label: str) -> list[int]:
    return [int(digits) for digits in re.findall(r"\d+", label)]


def _first_tp(log: HostLog, kind: type[F]) -> dict[str, list[F]]:
    """The facts of one kind by stage, of the lowest TP rank that stated any."""
    stages: dict[str, list[F]] = {}
    lowest: dict[str, int] = {}
    for fact in log.stretch.startup.of(kind):
        stage, tp = stage_label(fact.ranks), fact.ranks.tp or 0
        if tp < lowest.get(stage, 1 << 30):
            stages[stage], lowest[stage] = [], tp
        if tp == lowest[stage]:
            stages[stage].append(fact)
    return stages


def _weights(log: HostLog) -> dict[str, float]:
    loads = _first_tp(log, WeightLoad)
    totals = {
        stage: [fact.used_gib for fact in facts if fact.edge == "end" and fact.used_gib is not None]
        for stage, facts in loads.items()
    }
    return {stage: round(sum(used), 3) for stage, used in totals.items() if used}


def _pools(log: HostLog) -> dict[str, list[KvPool]]:
    """The pools by stage; where they are made after graph capture, what was reserved for them before is none."""
    made = {stage: [f for f in facts if not f.upper_bound] for stage, facts in _first_tp(log, KvPool).items()}
    return {stage: facts for stage, facts in made.items() if facts}


def _kv_tokens(log: HostLog) -> dict[str, float]:
    return {stage: facts[0].tokens for stage, facts in _pools(log).items()}


def _kv_gib(log: HostLog) -> dict[str, float]:
    return {stage: round(sum(f.total_gib for f in facts), 3) for stage, facts in _pools(log).items()}


def _after_pool(log: HostLog) -> dict[str, float]:
    before = {stage: facts[-1].avail_gib for stage, facts in _first_tp(log, PoolEnd).items()}
    late = {stage: [f.avail_gib for f in facts if f.avail_gib is not None] for stage, facts in _pools(log).items()}
    return before | {stage: left[-1] for stage, left in late.items() if left}


def _graphs(logs: Logs, begun: bool) -> Facts:
    if not begun:
        return {}
    captures = [fact for log in logs for fact in log.stretch.startup.of(GraphCapture) if fact.phase == "decode"]
    facts: Facts = {
        "start.graph_begun": any(fact.edge == "begin" for fact in captures),
        "start.graph_captured": any(fact.edge == "end" for fact in captures),
    }
    sizes = max((log.stretch.startup.graph_sizes("decode") for log in logs), key=len, default=())
    if sizes:
        facts["start.graph_sizes"] = list(sizes)
    taken = _by_stage(logs, "start.graph_gib", lambda log: _captured(log, lambda fact: fact.used_gib))
    left = _by_stage(logs, "start.graph_avail_gib", lambda log: _captured(log, lambda fact: fact.avail_gib))
    return facts | taken | left


def _captured(log: HostLog, value: Callable[[GraphCapture], float | None]) -> dict[str, float]:
    found: dict[str, float] = {}
    for stage, facts in _first_tp(log, GraphCapture).items():
        for fact in facts:
            amount = value(fact)
            if fact.phase == "decode" and fact.edge == "end" and amount is not None:
                found[stage] = amount
    return found


def _capacity(log: HostLog) -> Facts:
    capacity = log.stretch.startup.capacity
    if capacity is None:
        return {}
    known: Facts = {
        "start.max_total_tokens": capacity.max_total_num_tokens,
        "start.max_running_requests": capacity.max_running_requests,
        "start.chunked_prefill_size": capacity.chunked_prefill_size,
        "start.context_len": capacity.context_len,
        "start.available_gib": capacity.avail_gib,
    }
    return {name: value for name, value in known.items() if value is not None}


def _ready(log: HostLog, begun: bool) -> Facts:
    """Whether the server came up. Unknown where the log begins after the start."""
    facts: Facts = {}
    ready = bool(log.tap.line("ready"))
    if ready or begun:
        facts["start.ready"] = ready
    if log.stretch.last_at is not None:
        facts["recording.at"] = log.stretch.last_at.date().isoformat()
    return facts
