"""The server's log: its start, its decode and prefill lines, its trouble. One pass over each log serves all four."""

from collections.abc import Sequence

from pydantic import BaseModel

from ppagent.errors import NotRecorded
from ppagent.evidence.evidence import Finding
from ppagent.plugins import Grade, NoArguments, Tool, ToolContext
from ppagent_tools.log_decode import decode_findings
from ppagent_tools.log_prefill import prefill_findings
from ppagent_tools.log_reading import read_logs
from ppagent_tools.log_startup import startup_findings
from ppagent_tools.log_trouble import trouble_findings


class Startup:
    name = "logs.startup"
    summary = (
        "The start of the server in its log: arguments as they were resolved, weights and KV pool of each stage, "
        "captured graph sizes, capacity, whether it got ready."
    )
    grade = Grade.READ_HOST
    provides: tuple[str, ...] = ("args.", "start.", "recording.at")
    arguments: type[BaseModel] = NoArguments

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        findings = startup_findings(read_logs(context))
        if not findings:
            raise NotRecorded("the log does not hold the server's start")
        return findings


class Decode:
    name = "logs.decode"
    summary = (
        "Decode lines of pipeline stage 0: requests in a micro-batch, queue, KV use, tok/s over all slots, share of "
        "steps replayed from a graph, stalls, occupancy by stage. Under a pipeline #running-req is one slot's."
    )
    grade = Grade.READ_HOST
    provides: tuple[str, ...] = ("decode.",)
    arguments: type[BaseModel] = NoArguments

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        return decode_findings(read_logs(context))


class Prefill:
    name = "logs.prefill"
    summary = "Prefill lines of stage 0: new and cached tokens, sequences a batch, tokens pending, longest run of them."
    grade = Grade.READ_HOST
    provides: tuple[str, ...] = ("prefill.",)
    arguments: type[BaseModel] = NoArguments

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        return prefill_findings(read_logs(context))


class Trouble:
    name = "logs.trouble"
    summary = (
        "Lines of the log that mean trouble or tell something: retractions, lowered caps, graphs switched off, failed "
        "captures, NCCL and watchdog time-outs, refused flags; and which rank fell silent first."
    )
    grade = Grade.READ_HOST
    provides: tuple[str, ...] = ("trouble.", "log.")
    arguments: type[BaseModel] = NoArguments

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        return trouble_findings(read_logs(context))


def tools() -> tuple[Tool, ...]:
    return (Startup(), Decode(), Prefill(), Trouble())
