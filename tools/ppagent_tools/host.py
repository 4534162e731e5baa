"""The host: its hardware and settings, its processes, environment, packages and kernel log."""

import re
from collections.abc import Sequence

from pydantic import BaseModel

from ppagent.evidence.evidence import FactValue, Finding
from ppagent.plugins import Grade, NoArguments, Tool, ToolContext
from ppagent.targets.target import Artifact
from ppagent_tools.kernel import kernel_findings
from ppagent_tools.processes import Process, read_processes, server_processes
from ppagent_tools.reading import Document, around, as_fact, clusters, document, json_object, json_spans, on_each_host

_FACTS = ("cpu_model", "cores", "threads", "sockets", "numa_nodes", "governor", "memory_gib", "kernel", "iommu")
_PACKAGE = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*)(?:==|\s+@\s+\S*?-|\s+)(?P<version>v?\d[\w.+!-]*)")
_TELLING_PACKAGE = re.compile(
    r"(?i)(?:sgl|torch|triton|flash|nvidia|cuda|cutlass|nccl|transformers|tokenizers|xgrammar|outlines|llguidance|deep"
    r"|mooncake|nixl|ucx|ray|vllm|numpy|uvloop|fastapi|orjson|pyzmq|msgspec)"
)
_WORKER_OF_TEXT = re.compile(r"(?i)detokenizer|tokenizer|sglang\.launch_server")
"""The launcher's process tokenizes and serves HTTP (`srt/entrypoints/engine.py`, all versions)."""


class HostFacts:
    name = "host.facts"
    summary = "The host's CPU model, cores, sockets, NUMA nodes, frequency governor, load, memory and kernel."
    grade = Grade.READ_HOST
    provides: tuple[str, ...] = (
        "host.cpu_model", "host.cores", "host.threads", "host.sockets", "host.numa_nodes", "host.governor",
        "host.load_average", "host.memory_gib", "host.kernel", "host.iommu",
    )  # fmt: skip
    arguments: type[BaseModel] = NoArguments

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        return on_each_host(context, lambda host: _host_facts(document(context, host, Artifact.HOST)))


class HostProcesses:
    name = "host.processes"
    summary = (
        "CPU use of the server's processes by title (100 is one full core): schedulers, tokenizer, detokenizer. A "
        "scheduler at 100 % limits the step; a tokenizer at 100 % limits what clients see."
    )
    grade = Grade.READ_HOST
    provides: tuple[str, ...] = ("host.scheduler_cpu_percent", "host.tokenizer_cpu_percent", "host.cpu_affinity")
    arguments: type[BaseModel] = NoArguments

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        return on_each_host(context, lambda host: _processes(*read_processes(context, host)))


class HostEnvironment:
    name = "host.environment"
    summary = "Environment variables of the server that matter: CUDA_*, NCCL_*, SGLANG_*, OMP_* and the like."
    grade = Grade.READ_HOST
    provides: tuple[str, ...] = ("env.",)
    arguments: type[BaseModel] = NoArguments

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        return on_each_host(context, lambda host: (_environment(document(context, host, Artifact.ENVIRONMENT)),))


class HostPackages:
    name = "host.packages"
    summary = "Versions of the installed Python packages that SGLang's speed depends on."
    grade = Grade.READ_HOST
    provides: tuple[str, ...] = ("package.",)
    arguments: type[BaseModel] = NoArguments

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        return on_each_host(context, lambda host: (_packages(document(context, host, Artifact.PACKAGES)),))


class HostKernel:
    name = "host.kernel"
    summary = "The kernel log: Xid events of the cards, PCIe and memory errors, what it says about IOMMU and ACS."
    grade = Grade.READ_HOST
    provides: tuple[str, ...] = ("host.xid", "host.kernel_trouble", "host.oom_killed", "host.iommu")
    arguments: type[BaseModel] = NoArguments

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        return on_each_host(context, lambda host: kernel_findings(document(context, host, Artifact.DMESG)))


def tools() -> tuple[Tool, ...]:
    return (HostFacts(), HostProcesses(), HostEnvironment(), HostPackages(), HostKernel())


def _host_facts(found: Document) -> list[Finding]:
    told = json_object(found)
    facts = {f"host.{name}": as_fact(told[name]) for name in _FACTS if told.get(name) is not None}
    load = told.get("load_average")
    load = load[0] if isinstance(load, list) and load else load
    if isinstance(load, int | float):
        facts["host.load_average"] = load
    if not facts:
        raise found.error("it names nothing known of a host", 1)
    pieces = clusters(found.text, json_spans(found.text, told))
    return [found.finding(facts, pieces[0][0] if pieces else "")]


def _processes(found: Document, processes: list[Process]) -> list[Finding]:
    own = server_processes(processes)
    if not own:
        raise found.error("no process of an SGLang server is in it")
    findings: list[Finding] = []
    for name, chosen in (
        ("host.scheduler_cpu_percent", [p for p in own if "scheduler" in p.title]),
        ("host.tokenizer_cpu_percent", [p for p in own if _WORKER_OF_TEXT.search(p.title)]),
    ):
        percent: dict[str, FactValue] = {p.title: p.cpu_percent for p in chosen if p.cpu_percent is not None}
        if percent:
            busiest = max((p for p in chosen if p.cpu_percent is not None), key=lambda p: p.cpu_percent or 0.0)
            findings.append(found.finding({name: percent}, _process_line(found, busiest)))
    affinity: dict[str, FactValue] = {p.title: as_fact(p.affinity) for p in own if p.affinity is not None}
    if affinity:
        findings.append(found.finding({"host.cpu_affinity": affinity}, _process_line(found, own[0])))
    if not findings:
        raise found.error("it says nothing of the processes' CPU use")
    return findings


def _process_line(found: Document, process: Process) -> str:
    """The text that begins at the process's id."""
    match = re.search(rf'"pid"\s*:\s*{process.pid}\b', found.text)
    if match is None:
        return ""
    line = around(found.text, match.start())
    return line if len(line) > 40 else found.text[match.start() : match.start() + 400].strip()


def _environment(found: Document) -> Finding:
    facts: dict[str, FactValue] = {}
    for number, line in enumerate(found.text.splitlines(), 1):
        bare = line.strip().removeprefix("export ").strip()
        if not bare or bare.startswith("#"):
            continue
        name, equals, value = bare.partition("=")
        if not equals or not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise found.error(f"{bare[:40]!r} is no NAME=value line", number)
        facts[f"env.{name}"] = value.strip().strip("'\"")
    if not facts:
        raise found.error("no variable is in it")
    return found.finding(facts, found.text[:400].strip(), authority=2)


def _packages(found: Document) -> Finding:
    facts: dict[str, FactValue] = {}
    lines: list[str] = []
    for line in found.text.splitlines():
        match = _PACKAGE.match(line.strip())
        if match is not None and _TELLING_PACKAGE.match(match["name"]):
            facts[f"package.{match['name']}"] = match["version"]
            lines.append(line)
    if not facts:
        raise found.error("no package that matters is in it")
    first = next((line for line in lines if line.lower().startswith(("sglang", "sgl"))), lines[0])
    return found.finding(facts, first.strip())
