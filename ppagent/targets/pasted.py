"""Pasted text as a target: the parts it knows become artifacts, the rest are the user's words."""

import re
from collections.abc import Iterator

import yaml

from ppagent.errors import NotRecorded, ToolError
from ppagent.evidence.masking import mask
from ppagent.sglang.logs.prefix import unwrap
from ppagent.targets.pasted_arguments import join_broken_arguments
from ppagent.targets.pasted_bench import take_bench_tables
from ppagent.targets.pasted_gpu import take_gpu_parts
from ppagent.targets.pasted_json import take_json
from ppagent.targets.pasted_launch import take_launch
from ppagent.targets.pasted_metrics import NAME, take_metrics
from ppagent.targets.pasted_sheet import Sheet
from ppagent.targets.source_files import SourceFiles
from ppagent.targets.target import Artifact, Shared

_LOG_LINE = re.compile(
    r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[^\]]*\] |\b(?:Decode|Prefill) batch\b.*#\w|server_args=(?:ServerArgs\(|\{)"
    r"|The server is fired up and ready to roll|^Traceback \(most recent call last\)|^[\w.]*(?:Error|Exception): "
    r"|[\w.]: error: (?:unrecognized arguments|ambiguous option|argument -|the following arguments)"
    r"|^\s*File \"[^\"]+\", line \d+, in |^\s*Thread (?:0x)?\w+ \((?:idle|active)\b"
    r"|^\s*(?:\[[^\]]*\] )?\[rank\d+\]:|\bNCCL (?:INFO|WARN|ERROR) "
    r"|(?:Watchdog caught|Process group watchdog thread) |Received (?:sigquit|SIGQUIT)"
    r"|^\s*(?:KV cache pool is full|max_running_requests was reduced|max_total_num_tokens=\d|Using default MoE"
    r"|Custom allreduce is disabled|Capture (?:target )?(?:decode )?(?i:cuda graph) |Load weight (?:begin|end)"
    r"|KV Cache is allocated|Memory pool end|Using a slow tokenizer|Watchdog timeout|Scheduler hit an exception)"
)
_LOG_GOES_ON = re.compile(
    r"\s+\S|File \"|Traceback \(|During handling|The above exception|\[rank\d+\]|/\S+\.py:"
    r"|[\w.]*(?:Error|Exception|Warning)\b"
)
_FRAME = re.compile(r"\s*File \"[^\"]+\", line \d+")
"""After it stands the source line, which may have lost its indentation."""
_KERNEL_LINE = re.compile(
    r"NVRM: |\bAER: |PCIe Bus Error|\bS?Xid \((?:PCI:)?[0-9A-Fa-f]{4}:|nvidia-nvswitch\d*: |EDAC \S+: "
    r"|Out of memory(?: \([^)]*\))?: Killed process \d|Memory cgroup out of memory: Killed process \d"
    r"|\[Hardware Error\]|available PCIe bandwidth, limited by|DMAR: IOMMU|AMD-Vi: |iommu: Default domain"
)
_SENTENCE_END = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!vs\.)(?<!approx\.)(?<!ca\.)\s+|\s*\n\s*\n\s*")


class Pasted:
    """What was found in a pasted text. `words` are what is left of it: the user's own."""

    kind = "recording"
    name = "pasted text"
    hosts = ("pasted",)

    def __init__(self, artifacts: dict[Artifact, str], bench: str, words: str, metrics: str = "") -> None:
        self.artifacts = artifacts
        self.bench = bench
        self.words = words
        self.metrics = metrics

    @property
    def empty(self) -> bool:
        """Whether nothing but words was found."""
        return not self.artifacts and not self.bench and not self.metrics

    def text(self, host: str, artifact: Artifact) -> str:
        if host not in self.hosts:
            raise ToolError(f"there is no host {host!r} in pasted text")
        if artifact not in self.artifacts:
            raise NotRecorded(f"{artifact.value} is not in the pasted text")
        return self.artifacts[artifact]

    def log(self, host: str) -> Iterator[bytes]:
        return iter(self.text(host, Artifact.SERVER_LOG).encode().splitlines(keepends=True))

    def scrapes(self, host: str) -> tuple[tuple[str, str], ...]:
        if host not in self.hosts:
            raise ToolError(f"there is no host {host!r} in pasted text")
        if not self.metrics:
            raise NotRecorded("there are no metrics in the pasted text")
        return ((NAME, self.metrics),)

    def source(self, host: str) -> SourceFiles:
        raise NotRecorded("there is no source in the pasted text")

    def shared(self, artifact: Shared) -> str:
        match artifact:
            case Shared.BENCH if self.bench:
                return self.bench
            case Shared.INCIDENT if self.words:
                return incident_of(self.words)
            case _:
                raise NotRecorded(f"{artifact.value} is not in the pasted text")


def read_pasted(text: str) -> Pasted:
    """Takes apart a pasted text: log lines, launch command, tables of nvidia-smi, benchmark results,
    metrics, JSON, words.

    Secrets go first: taking the text apart may part a secret from the name that tells it is one.
    """
    sheet = Sheet.of(mask(text.removeprefix("\ufeff")))
    join_broken_arguments(sheet)
    tables = take_bench_tables(sheet)
    gpu = take_gpu_parts(sheet)
    metrics = take_metrics(sheet)
    parts = take_json(sheet)
    artifacts = dict(parts.artifacts)
    found = {
        Artifact.GPUS: gpu.gpus,
        Artifact.GPU_PROCESSES: gpu.processes,
        Artifact.TOPOLOGY: gpu.topology,
        Artifact.SERVER_LOG: _take_log(sheet),
        Artifact.DMESG: _take_kernel_lines(sheet),
        Artifact.LAUNCH: take_launch(sheet),
    }
    artifacts.update((artifact, written) for artifact, written in found.items() if written)
    bench = "".join(f"{line}\n" for line in (*tables, *parts.bench))
    return Pasted(artifacts, bench, sheet.words(), metrics)


def incident_of(words: str) -> str:
    """The user's words as incident.yaml has them: what ends in a question mark is the question."""
    sentences = [" ".join(part.split()) for part in _SENTENCE_END.split(words)]
    sentences = [sentence for sentence in sentences if re.search(r"\w", sentence)]
    asked = [sentence for sentence in sentences if sentence.endswith("?")]
    incident = {
        "schema_version": 1,
        "question": " ".join(asked),
        "stated": [sentence for sentence in sentences if sentence not in asked],
    }
    return yaml.safe_dump(incident, allow_unicode=True, sort_keys=False, width=1 << 20)


def _take_log(sheet: Sheet) -> str:
    """Log lines, and the tracebacks and warnings that follow one without a prefix of their own."""
    numbers: list[int] = []
    in_frame = False
    for i, line in enumerate(sheet.lines):
        if not sheet.is_free(i):
            continue
        bare = _bare(line)
        follows = bool(numbers) and numbers[-1] == i - 1 and (in_frame or _LOG_GOES_ON.match(bare))
        if _LOG_LINE.search(line) or _LOG_LINE.search(bare) or follows:
            numbers.append(i)
            in_frame = _FRAME.match(bare) is not None
    return "".join(f"{line}\n" for line in sheet.take(numbers))


def _bare(line: str) -> str:
    """A line without what its carrier (Docker, Kubernetes, journald) put in front, so that tracebacks go on in it."""
    return unwrap(line.encode("utf-8", "replace")).text.decode("utf-8", "replace")


def _take_kernel_lines(sheet: Sheet) -> str:
    numbers = [i for i, line in enumerate(sheet.lines) if sheet.is_free(i) and _KERNEL_LINE.search(line)]
    return "".join(f"{line}\n" for line in sheet.take(numbers))
