"""Which process serves: what tells a running server from the one that takes its place."""

from collections.abc import Mapping

from ppagent.chat.past import Serving
from ppagent.errors import NotRecorded, PpagentError
from ppagent.sglang.server_info import parse_server_info
from ppagent.targets.live import LiveTarget
from ppagent.targets.live_host import LiveHost
from ppagent.targets.remote.link import End, LinkLost, run
from ppagent.targets.target import Artifact

LOOK_S = 10.0
_STARTED_AT = 19
"""Place of the start time in /proc/PID/stat behind the name (proc(5): field 22, ticks since boot)."""
UNSEEN = 0


def serving(target: LiveTarget, port: int | None) -> dict[str, Serving]:
    """By host, the server as the target knows it; a host without one is left out. Raises LinkLost."""
    found = ((host, _known(target, host, port)) for host in target.hosts)
    return {host: known for host, known in found if known is not None}


def still(target: LiveTarget, known: Mapping[str, Serving], port: int | None) -> bool:
    """Whether each of the servers serves yet. Raises LinkLost."""
    for host, before in known.items():
        live = target.live_host(host)
        mark = _mark(live, before.pid) if before.pid != UNSEEN else _seed(live, port)
        if mark != before.mark and (mark or before.pid != UNSEEN):
            return False
    return True


def _known(target: LiveTarget, host: str, port: int | None) -> Serving | None:
    try:
        live = target.live_host(host)
        launcher = live.server.launcher
    except LinkLost:
        raise
    except NotRecorded:
        seed = _seed(target.live_host(host), port)
        return Serving(UNSEEN, seed) if seed else None
    except PpagentError:  # several servers, or a host that is not there: said in its place
        return None
    mark = _mark(live, launcher.pid)
    return Serving(launcher.pid, mark, launcher.age_s) if mark else None


def _mark(live: LiveHost, pid: int) -> str:
    """Boot and start of a process; empty where it has ended."""
    ran = run(live.link, ["cat", f"/proc/{pid}/stat", "/proc/sys/kernel/random/boot_id"], timeout_s=LOOK_S)
    if ran.end is not End.EXITED:
        raise LinkLost(f"{live.link.name}: {ran.complaint}")
    _, named, rest = ran.text.rpartition(")")
    cells = rest.split()
    if not named or len(cells) <= _STARTED_AT or cells[0] in ("Z", "X"):
        return ""
    return f"{cells[-1]}/{cells[_STARTED_AT]}"


def _seed(live: LiveHost, port: int | None) -> str:
    """The seed that the server drew; empty where it does not answer."""
    try:
        info = parse_server_info(LiveHost(live.link, port=port).text(Artifact.SERVER_INFO))
    except LinkLost:
        raise
    except PpagentError:
        return ""
    return str(info.args.get("random_seed") or "")
