"""What was read of a server's processes, in the forms that a recording has. Secrets are masked here already."""

import json
import re
import shlex
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from ppagent.errors import NotRecorded, ToolError
from ppagent.evidence.masking import MASK, mask, mask_value
from ppagent.targets.remote.processes import Process
from ppagent.targets.remote.servers import Server

_ONLY_TO_FIND = frozenset(
    ("PATH", "HOME", "VIRTUAL_ENV", "CONDA_PREFIX", "XDG_CACHE_HOME", "HOSTNAME", "KUBERNETES_SERVICE_HOST")
)
_OF_AN_IMAGE = re.compile(r"NVIDIA_|NV_|LD_|.*_(?:VERSION|HOME|PATH|ROOT)$|PYTHON(?!PATH)")
"""Variables that container images come with: worth knowing, but nobody set them for this launch."""


def launch_text(server: Server) -> str:
    """launch.txt: the command as it runs, in shell syntax, after the assignments that were made for it."""
    words = [shlex.quote(word) for word in masked_words(server.launcher.cmdline)]
    return " ".join((*assignments(server), *words)) + "\n"


def assignments(server: Server) -> tuple[str, ...]:
    """The variables that were set for a launch, in shell syntax. Secrets are left out: who launches it again has them,
    and a mask in their place would be a wrong one."""
    made = [(n, v) for n, v in shown_env(server.launcher) if not _OF_AN_IMAGE.match(n) and MASK not in v]
    return tuple(f"{name}={shlex.quote(value)}" for name, value in made)


def environment_text(server: Server, who: str) -> str:
    """environment.txt: the variables of the server's own process that matter. Raises NotRecorded,
    and ToolError where rights are missing."""
    launcher = server.launcher
    if not launcher.env_read:
        raise ToolError(
            f"the environment of process {launcher.pid} (of {launcher.user or 'another user'}) may not be read by "
            f"{who}; `sudo cat /proc/{launcher.pid}/environ` would give it"
        )
    lines = [f"{name}={value}" for name, value in shown_env(launcher)]
    if not lines:
        raise NotRecorded("the server was started without any variable that matters (CUDA_*, NCCL_*, SGLANG_* ...)")
    return "\n".join((*lines, ""))


def processes_text(server: Server, now: datetime | None = None) -> str:
    """processes.json: the server's processes with their use of the processor, one object a line."""
    at = now or datetime.now(UTC)
    rows = [json.dumps(_row(process, at), ensure_ascii=False) for process in (server.launcher, *server.workers)]
    return "[\n" + ",\n".join(rows) + "\n]\n"


def titles(server: Server) -> dict[int, str]:
    """What each of the server's processes is called, by id."""
    named = {process.pid: process.title for process in server.workers if process.title}
    return {server.launcher.pid: "sglang.launch_server", **named}


def shown_env(process: Process) -> list[tuple[str, str]]:
    """The variables worth showing, by name, secrets masked."""
    shown = {name: value for name, value in process.env.items() if name not in _ONLY_TO_FIND}
    return [(name, str(mask_value(name, value))) for name, value in sorted(shown.items())]


def masked_words(words: Iterable[str]) -> list[str]:
    """A command line with its secrets masked: the word after a secret option, and what looks like a secret."""
    masked = mask_value("cmdline", list(words))
    return [mask(str(word)) for word in masked] if isinstance(masked, list) else [MASK]


def _row(process: Process, now: datetime) -> dict[str, object]:
    row: dict[str, object] = {
        "pid": process.pid,
        "ppid": process.ppid,
        "user": process.user,
        "cmdline": masked_words(process.cmdline),
        "env": dict(shown_env(process)),
        "cpu_percent": process.cpu_percent,
        "cpu_affinity": process.affinity or None,
        "started_at": None,
        "threads": [{"tid": t.tid, "name": t.name, "cpu_percent": t.cpu_percent} for t in process.threads],
    }
    if process.age_s is not None:
        row["started_at"] = (now - timedelta(seconds=process.age_s)).isoformat(timespec="seconds")
    return {key: value for key, value in row.items() if value not in (None, "", [], {})}
