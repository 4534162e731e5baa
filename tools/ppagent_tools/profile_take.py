"""What `profile.take` does: the server's profiler traces some forwards, the traces are fetched and read.

They go to a folder of their own, and are taken away again once they were read, unless they are to be kept. Nothing else
is ever taken away.
"""

import secrets
import tempfile
from collections.abc import Sequence
from typing import IO, cast

from ppagent.errors import NotRecorded, ToolError
from ppagent.evidence.counts import agreeing
from ppagent.evidence.evidence import Finding
from ppagent.plugins import Announcement, ToolContext
from ppagent.profile.choice import File, Shape, choose
from ppagent.profile.rank import RankSummary
from ppagent.profile.reader import read_rank
from ppagent.sglang.profiling import names_stages, survives_second_start
from ppagent.sglang.server_info import ServerInfo, whole
from ppagent.sglang.versions import parse_version
from ppagent.targets.live import LiveTarget
from ppagent.targets.remote.trace_files import TraceFile
from ppagent_tools.live_server import MEASURED, reached
from ppagent_tools.profile import TakeArguments
from ppagent_tools.profile_facts import finding_of
from ppagent_tools.profile_load import load_beside
from ppagent_tools.profile_run import (
    Folders,
    Profiler,
    environment,
    expected_traces,
    folders_on,
    refuse_second,
)

LARGEST_MIB = 256
"""Of one trace, packed."""
MOST_MIB = 1024
"""Of all of them."""
Read = list[tuple[File, RankSummary]]


def announced(context: ToolContext, asked: TakeArguments) -> Announcement:
    """The plan, before anything is started."""
    server = reached(context)
    info = server.control.server_info()
    version = parse_version(info.version or "")
    load = (
        agreeing(f"{asked.concurrency} requests of its own")
        if asked.concurrency
        else "its own requests if nothing runs"
    )
    said = [
        f"POST /start_profile on {server.name}: {asked.steps} forwards of every rank, CPU and GPU, no stacks, no "
        f"shapes, with {load}; traces go to a new folder /tmp/ppagent-profile-*, or below SGLANG_TORCH_PROFILER_DIR",
        f"up to {MOST_MIB} MiB of traces ({LARGEST_MIB} MiB each) are fetched and read, and "
        + ("left where they are" if asked.keep else "taken away again"),
    ]
    if (_shape(info).stages or 1) > 1 and names_stages(version) is False:
        said.append("this version lets the stages of a host write over each other's traces: one stage a host is left")
    if not survives_second_start(version):
        said.append("this version may not survive a second profiler: be sure that nobody else is profiling it")
    return Announcement(
        "\n".join(said),
        asked.limit_s,
        "forwards are slower while they are traced, and each rank stands still for seconds while it writes its trace; "
        "no setting is changed",
        server.name,
    )


def taken(context: ToolContext, asked: TakeArguments) -> Sequence[Finding]:
    """The traces as evidence. Raises ToolError where none were written, or none can be read."""
    server, target = reached(context), context.target
    if not isinstance(target, LiveTarget):
        raise NotRecorded("there is only a recording, and no server to trace")
    info = server.control.server_info()
    _refuse_unsafe(target)
    path = f"{_traces_place(target)}/ppagent-profile-{secrets.token_hex(6)}"
    folders = folders_on(target, path)
    profiler = Profiler(server.control, folders, path, _expected(info))
    left: list[str] = []
    try:
        with load_beside(server, asked.concurrency, _shape(info).stages or 1) as load:
            profiler.run(asked.steps, asked.limit_s)
        written = folders.listed()
        chosen = choose((host, f"traces/{file.name}") for host, file in written)
        read, unread = _read_all(folders, chosen.files, dict(_sized(written)))
    finally:
        left = [f"the traces were left in {path}"] if asked.keep else folders.clear()
    if not read:
        raise ToolError("; ".join([*unread, *left]) or f"no trace of a single rank was written to {path}")
    remarks = [f"traced {load}", *folders.remarks, *profiler.remarks, *unread, *left]
    return [finding_of(read, chosen, _shape(info), authority=MEASURED, remarks=remarks)]


def _read_all(folders: Folders, files: Sequence[File], sizes: dict[tuple[str, str], int]) -> tuple[Read, list[str]]:
    """The summaries of those that can be read and are not too large, and why the others were not, in sentences."""
    read: Read = []
    unread: list[str] = []
    room = MOST_MIB << 20
    for file in files:
        size = sizes[file.host, file.name]
        if size > min(room, LARGEST_MIB << 20):
            unread.append(f"{file.name} was not fetched: {size >> 20} MiB are more than the limit")
            continue
        room -= size
        try:
            read.append((file, _read_one(folders, file, size)))
        except ToolError as error:
            unread.append(str(error))
    return read, unread


def _read_one(folders: Folders, file: File, size: int) -> RankSummary:
    name = file.name.removeprefix("traces/")
    with tempfile.TemporaryFile(prefix="ppagent-trace-") as spool:
        folders.of_host[file.host].fetch(TraceFile(name, size), cast(IO[bytes], spool))
        return read_rank(cast(IO[bytes], spool), file.name)


def _sized(written: Sequence[tuple[str, TraceFile]]) -> list[tuple[tuple[str, str], int]]:
    return [((host, f"traces/{file.name}"), file.size) for host, file in written]


def _refuse_unsafe(target: LiveTarget) -> None:
    """Raises ToolError where a profile would do harm: one is under way, or the scheduler would not survive it."""
    for host in target.hosts:
        if environment(target, host).get("SGLANG_PROFILE_V2", "").lower() in ("1", "true", "yes", "y"):
            raise ToolError("SGLANG_PROFILE_V2 is set, and a scheduler with it ends at a profile that is not by phase")
        try:
            lines = list(_of_profiler(target, host))
        except ToolError:  # a log that cannot be read says nothing of a profiler either way
            continue
        refuse_second(lines)


def _of_profiler(target: LiveTarget, host: str) -> list[bytes]:
    return [line for line in target.log(host) if b"rofiling" in line or b"server_args=" in line]


def _traces_place(target: LiveTarget) -> str:
    """Where the server writes traces that nobody named a place for: SGLANG_TORCH_PROFILER_DIR where it is set and there
    is one host, else /tmp, as `init_profile` does in every version."""
    named = environment(target, target.hosts[0]).get("SGLANG_TORCH_PROFILER_DIR", "") if len(target.hosts) == 1 else ""
    return named.rstrip("/") if named.startswith("/") and named.isprintable() and named.strip("/") else "/tmp"


def _shape(info: ServerInfo) -> Shape:
    return Shape(whole(info.effective("pp_size")), whole(info.effective("tp_size")))


def _expected(info: ServerInfo) -> int | None:
    replicas = 1 if info.effective("enable_dp_attention") else whole(info.effective("dp_size")) or 1
    shape = _shape(info)
    named = names_stages(parse_version(info.version or ""))
    return expected_traces((shape.tp, shape.stages, replicas), stages_named=named)
