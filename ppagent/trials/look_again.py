"""The server's process as it is now: what was found when a session began may have been restarted since."""

from typing import TYPE_CHECKING

from ppagent.errors import NotRecorded, ToolError, UserError

if TYPE_CHECKING:
    from ppagent.targets.live_host import LiveHost
    from ppagent.targets.remote.servers import Server

SHORT_LOOK_S = 0.1


def server_now(host: "LiveHost") -> "Server":
    """The server on the port of the one that was known, looked for anew. Raises ToolError where none is there."""
    from ppagent.targets.live_host import LiveHost, Windows

    known = host.server
    try:
        return LiveHost(host.link, port=known.port, windows=Windows(cpu_s=SHORT_LOOK_S)).server
    except (NotRecorded, UserError) as error:
        raise ToolError(f"process {known.launcher.pid} of {host.link.name} is gone: {error}") from error
