"""The `server_args=` line: a dataclass's repr up to 0.5.18, a dict from 0.5.19."""

from ppagent_evals.writing.server import Server
from ppagent_evals.writing.versions import since


def arguments_line(server: Server) -> str:
    """What the launcher logs once its arguments are resolved (sglang entrypoints/engine.py)."""
    args = server.arguments()
    if since(server.version, "0.5.19"):
        return f"server_args={args!r}"
    return f"server_args=ServerArgs({', '.join(f'{name}={value!r}' for name, value in args.items())})"
