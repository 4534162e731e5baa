"""The first request to an address: whether an SGLang server is there at all, and what to do where none is."""

import http.client
import socket
import ssl

from ppagent.bench.control import NOBODY_BEHIND, Answer, Control, Unreachable
from ppagent.bench.endpoint import Endpoint
from ppagent.errors import ExitStatus, ToolError, UserError
from ppagent.sglang.server_info import read_object

ASKED = ("/server_info", "/get_server_info")
"""By its older name up to 0.5.3 (`srt/entrypoints/http_server.py`)."""
_ABSENT, _WANTS_KEY = (404, 405), (401, 403)
_FIND_IT = "Give the port that its --port says (30000 by default), or ssh://HOST, which finds it."


def meet(endpoint: Endpoint) -> None:
    """Raises UserError where no SGLang server answers at `endpoint`. One that wants a key counts as there, and what a
    certificate lacks is told as it is (ToolError)."""
    answer = Answer(404, "")
    for path in ASKED:
        answer = _asked(endpoint, path)
        if answer.status not in _ABSENT:
            break
    if answer.status in _WANTS_KEY:
        return
    if answer.status in NOBODY_BEHIND:
        wrong = (
            f"{endpoint.base_url} answers {answer.status}: a proxy without its server, or a server that is starting."
        )
        raise _failed(wrong, "Wait until /health answers 200 there, or look at the server's log.")
    if answer.status != http.client.OK or not _is_object(answer.text):
        raise _failed(f"{endpoint.base_url} answers HTTP and is no SGLang server: it has no {ASKED[0]}.", _FIND_IT)


def _asked(endpoint: Endpoint, path: str) -> Answer:
    try:
        return Control(endpoint).ask("GET", path)
    except Unreachable as error:
        match error.__cause__:
            case ssl.SSLCertVerificationError():
                raise
            case cause:
                raise _failed(*_why(endpoint, cause)) from error


def _why(endpoint: Endpoint, cause: BaseException | None) -> tuple[str, str]:
    """What is wrong with the way there, and what to do."""
    at = f"{endpoint.host} port {endpoint.port}"
    match cause:
        case socket.gaierror():
            return f"No host is known by the name {endpoint.host}.", "Check the name, or give its address."
        case ConnectionRefusedError():
            return f"Nothing listens on {at}.", f"See whether the server runs there. {_FIND_IT}"
        case TimeoutError():
            wrong = f"{at} gives no answer within {Control(endpoint).timeout_s:g} s."
            return wrong, "Look for a firewall in between or a server that hangs, and go through its host: ssh://HOST."
        case ssl.SSLError():
            return f"{at} does not speak TLS as {endpoint.base_url} needs it.", f"Try http://{endpoint.authority}."
        case http.client.HTTPException() | ConnectionResetError():
            advice = f"It may speak TLS (https://{endpoint.authority}) or be something else. {_FIND_IT}"
            return f"Something listens on {at} and does not answer HTTP.", advice
        case _:
            said = getattr(cause, "strerror", None) or cause
            return f"{at} cannot be reached: {said}.", "See whether this machine gets there, or go by ssh://HOST."


def _failed(wrong: str, advice: str) -> UserError:
    return UserError(wrong, advice, ExitStatus.FAILURE)


def _is_object(text: str) -> bool:
    try:
        read_object(text, ASKED[0])
    except ToolError:
        return False
    return True
