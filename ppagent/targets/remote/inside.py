"""Running the server's own Python: the one of that very process, in its container where it has one."""

from collections.abc import Sequence
from pathlib import PurePosixPath

from ppagent.errors import ToolError
from ppagent.targets.remote.link import Link, Ran, run
from ppagent.targets.remote.servers import Server

_GO = (
    'd=$1 p=$2 l=$3; shift 3; [ -n "$d" ] && cd "$d" 2>/dev/null; [ -n "$p" ] && PATH=$p:$PATH && export PATH; '
    '[ -n "$l" ] && LD_LIBRARY_PATH=$l && export LD_LIBRARY_PATH; '
    'PYTHONDONTWRITEBYTECODE=1; export PYTHONDONTWRITEBYTECODE; exec "$@"'
)


def interpreter(server: Server) -> str:
    """The Python that runs the server, as a path or a name to be found in the server's own PATH.

    A virtual environment's Python is a link to another one, so that the word it was started by counts before the file
    that runs. An engine that enters a container has its PATH. Raises ToolError where neither can be seen.
    """
    launcher = server.launcher
    first = launcher.cmdline[0] if launcher.cmdline else ""
    is_python = PurePosixPath(first).name.startswith("python")
    has_path = bool(launcher.env.get("PATH")) or (server.engine and not server.keeps_for_another and "/" not in first)
    if is_python and (first.startswith("/") or has_path or ("/" in first and launcher.cwd)):
        return first
    if launcher.exe and PurePosixPath(launcher.exe).name.startswith("python"):
        return launcher.exe
    raise ToolError(
        f"the Python of process {launcher.pid} ({first or 'no name'}, of {launcher.user or 'another user'}) cannot be "
        f"told; `sudo readlink /proc/{launcher.pid}/exe` would tell"
    )


def run_python(link: Link, server: Server, source: str, arguments: Sequence[str], *, timeout_s: float) -> Ran:
    """Runs a Python program that is sent on standard input, isolated and without writing byte code."""
    words = [interpreter(server), "-I", "-B", "-", *arguments]
    if server.container:
        limit = ["timeout", "-k", "1", f"{timeout_s:g}"]
        return run(link, [*server.enter, *limit, *_as_there(server, words)], timeout_s=timeout_s, stdin=source.encode())
    return run(link, _as_there(server, words), timeout_s=timeout_s, stdin=source.encode())


def python_words(server: Server, source: str) -> list[str]:
    """The command that runs a Python program as `run_python` does, with its standard input left to whoever runs it."""
    return [*server.enter, *_as_there(server, [interpreter(server), "-I", "-B", "-c", source])]


def module_paths(server: Server) -> list[str]:
    """Where the server's own Python looks for modules before it looks at what is installed."""
    launcher = server.launcher
    paths = [launcher.cwd] if "-m" in launcher.cmdline[:4] and launcher.cwd else []
    return paths + [path for path in launcher.env.get("PYTHONPATH", "").split(":") if path]


def _as_there(server: Server, words: Sequence[str]) -> list[str]:
    """A command in the server's folder, with its paths."""
    launcher = server.launcher
    places = [launcher.cwd, launcher.env.get("PATH", ""), launcher.env.get("LD_LIBRARY_PATH", "")]
    return ["sh", "-c", _GO, "ppagent", *places, *words]
