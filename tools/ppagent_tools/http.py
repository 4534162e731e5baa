"""What the running server answers: its arguments and state, its load, its metrics."""

import re
from collections.abc import Sequence

from pydantic import BaseModel

from ppagent.errors import ToolError
from ppagent.evidence.evidence import FactValue, Finding
from ppagent.plugins import Grade, NoArguments, Tool, ToolContext
from ppagent.sglang.loads import parse_loads
from ppagent.sglang.metrics import Scrape, by_time, parse_metrics
from ppagent.sglang.server_info import SchedulerState, ServerInfo, parse_server_info
from ppagent.targets.remote.scrape_remark import remark_of
from ppagent.targets.target import Artifact
from ppagent_tools.important import important
from ppagent_tools.metric_facts import Group, metric_groups
from ppagent_tools.reading import Document, around, as_fact, clusters, document, json_spans, on_each_host, parse_json

Facts = dict[str, FactValue]
AUTHORITY = 3
_OTHER_ENGINES = {"vllm:": "vLLM", "trtllm_": "TensorRT-LLM", "nv_trt_llm_": "TensorRT-LLM", "tgi_": "TGI"}


class Info:
    name = "http.info"
    summary = (
        "/server_info: every argument as the running server resolved it, and the scheduler's state: the slot limit in "
        "force, its cap of running requests, memory, last throughput. The best witness of what took effect."
    )
    grade = Grade.HTTP_GET
    provides: tuple[str, ...] = ("args.", "internal.", "engine.version")
    arguments: type[BaseModel] = NoArguments

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        return on_each_host(context, lambda host: _info(document(context, host, Artifact.SERVER_INFO)))


class Loads:
    name = "http.loads"
    summary = "/v1/loads: requests running and waiting on each DP rank now. The running count is of one slot under PP."
    grade = Grade.HTTP_GET
    provides: tuple[str, ...] = ("loads.",)
    arguments: type[BaseModel] = NoArguments

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        return on_each_host(context, lambda host: _loads(document(context, host, Artifact.LOADS)))


class Metrics:
    name = "http.metrics"
    summary = (
        "/metrics over time: running and queued requests, tok/s, requests in flight by Little's law, latencies at the "
        "server's edge, share of graph passes, and how busy each stage and its host process were."
    )
    grade = Grade.HTTP_GET
    provides: tuple[str, ...] = ("metrics.",)
    arguments: type[BaseModel] = NoArguments

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        return on_each_host(context, lambda host: _metrics(context, host))


def tools() -> tuple[Tool, ...]:
    return (Info(), Loads(), Metrics())


def _info(found: Document) -> list[Finding]:
    """Arguments that matter with the words that state them, then the scheduler's state, then all other arguments."""
    parse_json(found)
    info = parse_server_info(found.text)
    if not info.args and not info.states:
        raise found.error("it holds no arguments of a server", 1)
    args: Facts = {f"args.{name}": as_fact(value) for name, value in info.args.items()}
    top = found.text.partition('"internal_states"')[0]
    findings = []
    for excerpt, names in clusters(top, json_spans(top, important(info.args))):
        facts = {f"args.{name}": args.pop(f"args.{name}") for name in names if f"args.{name}" in args}
        findings.append(found.finding(facts, excerpt, authority=AUTHORITY))
    findings += _internal(found, info)
    if info.version:
        facts = {"engine.version": info.version, "engine.source": "/server_info"}
        findings.append(found.finding(facts, _quote(found.text, "version"), authority=AUTHORITY))
    if args:
        findings.append(found.finding(args, found.text[:400].strip(), authority=AUTHORITY))
    return findings


def _internal(found: Document, info: ServerInfo) -> list[Finding]:
    if not info.states:
        return []
    state = info.states[0]
    capacity = state.memory.token_capacity or info.max_total_num_tokens
    facts: Facts = {
        "internal.slot_limit": state.slot_limit,
        "internal.max_running_requests": state.max_running_requests,
        "internal.last_gen_throughput": state.last_tokens_per_s,
        "internal.avg_spec_accept_length": state.accept_len,
        "internal.memory.weight": state.memory.weights_gib,
        "internal.memory.kvcache": state.memory.kv_gib,
        "internal.memory.graph": state.memory.graph_gib,
        "internal.memory.token_capacity": capacity,
    }
    known = {name: value for name, value in facts.items() if value is not None}
    if not known:
        return []
    begins = found.text.find('"internal_states"')
    return [found.finding(known, _state_excerpt(found.text, max(begins, 0), state), authority=AUTHORITY)]


def _state_excerpt(text: str, begins: int, state: SchedulerState) -> str:
    """The words of the state itself that hold the slot limit, else the memory in use."""
    inner = text[begins:]
    keys = ("pp_max_micro_batch_size", "max_micro_batch_size") if state.slot_limit is not None else ()
    spans = json_spans(inner, (*keys, "memory_usage", "last_gen_throughput", "effective_max_running_requests_per_dp"))
    return clusters(inner, spans)[0][0] if spans else text[:400].strip()


def _quote(text: str, key: str) -> str:
    spans = json_spans(text, (key,))
    return text[slice(*spans[key])] if key in spans else ""


def _loads(found: Document) -> list[Finding]:
    parse_json(found)
    loads = parse_loads(found.text)
    if not loads.ranks:
        raise found.error("it holds the load of no rank", 1)
    running = [rank.slot_running for rank in loads.ranks if rank.slot_running is not None]
    usage = [rank.token_usage for rank in loads.ranks if rank.token_usage is not None]
    facts: Facts = {"loads.waiting": loads.waiting}
    if running:
        facts["loads.running"] = max(running)
    if usage:
        facts["loads.token_usage"] = max(usage)
    if len(loads.ranks) > 1:
        rows: Facts = {
            f"DP{rank.dp_rank}": {
                "running": rank.slot_running,
                "waiting": rank.waiting,
                "token_usage": rank.token_usage,
            }
            for rank in loads.ranks
        }
        facts["loads.by_dp"] = rows
    known = {name: value for name, value in facts.items() if value is not None}
    if not known:
        raise found.error("it holds no load", 1)
    spans = json_spans(found.text, ("num_running_reqs", "num_waiting_reqs", "num_reqs", "token_usage"))
    pieces = clusters(found.text, spans)
    excerpt = pieces[0][0] if pieces else around(found.text, 0)
    return [found.finding(known, excerpt, authority=AUTHORITY)]


def _metrics(context: ToolContext, host: str) -> list[Finding]:
    texts = context.target.scrapes(host)
    read = [parse_metrics(text) for _, text in texts]
    order = by_time(read)
    scrapes = [read[place] for place in order]
    name, text = texts[order[-1]]
    _refuse_others(scrapes, f"{name} of {host}")
    if not any(re.search(r"^sglang[:_]", text, re.MULTILINE) for _, text in texts):
        raise ToolError(f"{name} of {host}: no metric of SGLang is in it")
    at = scrapes[-1].at
    found = Document(text, name, host)
    when = at.isoformat() if at else ""
    findings = [
        found.finding(group.facts, _sample_line(text, group), authority=AUTHORITY, at=when)
        for group in metric_groups(scrapes)
    ]
    return [*findings, *_ended_early(found)]


def _ended_early(found: Document) -> list[Finding]:
    """That more scrapes were to come than there are, and why they did not."""
    why = remark_of(found.text)
    if not why:
        return []
    return [found.finding({"tool.unread": [f"{found.place}: {why}"]}, found.text.rstrip().rpartition("\n")[2])]


def _refuse_others(scrapes: Sequence[Scrape], what: str) -> None:
    """Raises ToolError where the scrapes hold no metric, those of another engine, or those of several servers."""
    names = {name for scrape in scrapes for name in scrape.samples}
    if not names:
        raise ToolError(f"{what}: no metric is in it")
    other = next((engine for engine in _OTHER_ENGINES if any(name.startswith(engine) for name in names)), "")
    if other and not any(scrape.servers for scrape in scrapes):
        raise ToolError(f"{what}: these are metrics of {_OTHER_ENGINES[other]}, not of SGLang")
    servers = frozenset[str]().union(*(scrape.servers for scrape in scrapes))
    if len(servers) > 1:
        raise ToolError(f"{what}: metrics of {len(servers)} servers are in it ({', '.join(sorted(servers)[:3])})")


def _sample_line(text: str, group: Group) -> str:
    """A line of the metric as stage 0 states it; of the scrape's time where no metric is named."""
    if not group.metric:
        return around(text, 0) if text.startswith("# scraped_at") else ""
    lines = re.findall(rf"^(?:sglang[:_])?{re.escape(group.metric)}(?:\{{.*|\s.*)$", text, re.MULTILINE)
    marks = ('pp_rank="0"', group.label)
    return max(lines, key=lambda line: sum(mark in line for mark in marks if mark), default="")
