"""The API key of a server that is to be acted on: from the environment, else from the person at the terminal."""

from dataclasses import replace

from ppagent.bench.control import Control, Unreachable
from ppagent.bench.endpoint import Endpoint, bearer
from ppagent.errors import ToolError
from ppagent.targets.remote.asking import AskSecret, asker

_WANTED = (401, 403)
_ASKED = "/server_info"


def let_in_by(endpoint: Endpoint, name: str, ask: AskSecret | None = None) -> Endpoint:
    """The endpoint with a key that the server takes. It is the same where the server wants none or does not answer, or
    nobody can be asked: whoever asks it next says so. Raises ToolError where the key that was typed is not taken."""
    if not _refuses(endpoint):
        return endpoint
    ask = ask or asker()
    key = ask(f"API key of {name}: ").strip() if ask is not None else ""
    if not key:
        return endpoint
    # a key for changes that the environment holds goes on opening those
    admin = endpoint.admin_headers if endpoint.admin_headers != endpoint.headers else bearer(key)
    opened = replace(endpoint, headers=bearer(key), admin_headers=admin)
    if _refuses(opened):
        raise ToolError(f"{name} does not take that API key; start again, or set SGLANG_API_KEY")
    return opened


def _refuses(endpoint: Endpoint) -> bool:
    try:
        return Control(endpoint).ask("GET", _ASKED).status in _WANTED
    except Unreachable:
        return False
