"""A question still to be asked, in the words of whoever is on call: what to look at, and the command that shows it."""

from dataclasses import dataclass

from ppagent.causes.cause import Probe


@dataclass(frozen=True)
class Look:
    """What a tool looks at, and how a person sees the same by hand."""

    at: str
    run: str


LOOKS: dict[str, Look] = {
    "bench.results": Look("a load test", "ppagent bench ssh://HOST"),
    "gpu.processes": Look("programs on the cards", "nvidia-smi --query-compute-apps=pid,name,used_memory --format=csv"),
    "gpu.samples": Look("the cards under load", "nvidia-smi dmon -s pucvt -c 30"),
    "gpu.topology": Look("links between the cards", "nvidia-smi topo -m"),
    "host.all_reduce": Look("an all-reduce by itself", "all_reduce_perf -b 8 -e 128M -g 2, of nccl-tests"),
    "host.environment": Look("the server's environment", "tr '\\0' '\\n' < /proc/PID/environ"),
    "host.facts": Look("the host's CPUs", "lscpu"),
    "host.kernel": Look("the kernel log", "dmesg -T"),
    "host.processes": Look("the server's processes", "top -b -n 1"),
    "http.info": Look("the server's own settings", "curl -s http://HOST:PORT/server_info"),
    "http.metrics": Look("the server's metrics", "curl -s http://HOST:PORT/metrics"),
    "logs.decode": Look("the log's decode lines", "grep 'Decode batch' server.log"),
    "logs.prefill": Look("the log's prefill lines", "grep 'Prefill batch' server.log"),
    "logs.startup": Look("the start of the log", "head -n 300 server.log"),
    "logs.trouble": Look("errors and warnings in the log", "grep -iE 'error|warn|retract' server.log"),
    "profile.take": Look("a profiler trace", "ppagent diagnose ssh://HOST --ceiling 3"),
    "profile.trace": Look("a profiler trace", "ppagent diagnose ssh://HOST --ceiling 3"),
    "server.launch": Look("the launch command", "ps -ww -o args -p PID"),
    "server.model": Look("the model's config.json", "cat MODEL/config.json"),
    "server.version": Look("SGLang's version", "pip show sglang"),
    "source.read": Look("the installed scheduler's source", "ppagent diagnose ssh://HOST"),
    "tune.try": Look("a trial of the change", "ppagent try ssh://HOST"),
}
"""By tool. What has to be filled in stands in capitals."""

DISTURBS = {3: "disturbs the server for moments", 4: "puts load on the server", 5: "restarts the server"}


def look_of(tool: str) -> Look:
    """What a tool looks at; of a tool that somebody added, its own name."""
    return LOOKS.get(tool, Look(tool, "ppagent tools"))


def how_to_see(probe: Probe) -> str:
    """The command that would tell, and what it does to the server where that is more than reading."""
    does = f"; {DISTURBS[probe.grade]}" if probe.grade in DISTURBS else ""
    return f"to see: {look_of(probe.tool).run}{does}"
