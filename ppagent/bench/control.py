"""Single requests to a server: its state, its metrics, a live setting. No load goes this way."""

import hashlib
import http.client
import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass

from ppagent.bench.endpoint import Endpoint
from ppagent.errors import NotRecorded, ToolError
from ppagent.sglang.loads import Loads, parse_loads
from ppagent.sglang.metrics import Scrape, parse_metrics
from ppagent.sglang.server_info import ServerInfo, parse_server_info, read_object

SLOWEST_ANSWER_S = 20.0
"""A scheduler answers `/server_info` between two steps; under a long prefill that takes seconds."""


NOBODY_BEHIND = (502, 503, 504)
"""What a proxy answers for a server that is gone or starting, and a server that is starting for itself."""


class Unreachable(ToolError):
    """The server did not answer: gone, restarting, or the connection is lost."""


class _Secure(http.client.HTTPSConnection):
    """TLS whose certificate need not be for the address that is connected to: a tunnel's end is not the server's."""

    def __init__(self, endpoint: Endpoint, context: ssl.SSLContext, timeout_s: float) -> None:
        super().__init__(endpoint.host, endpoint.port, timeout=timeout_s, context=context)
        self._around, self._name = context, endpoint.tls_name

    def connect(self) -> None:
        http.client.HTTPConnection.connect(self)
        self.sock = self._around.wrap_socket(self.sock, server_hostname=self._name or None)


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    text: str


@dataclass(frozen=True)
class Control:
    """A server's HTTP, one short connection a request, so that nothing here lives long enough to break."""

    endpoint: Endpoint
    timeout_s: float = SLOWEST_ANSWER_S

    def server_info(self) -> ServerInfo:
        """`/server_info`, by its older name where the server lacks it. Raises ToolError."""
        return parse_server_info(self.server_info_text())

    def server_info_text(self) -> str:
        """The body of `/server_info`."""
        return self._first_of("/server_info", "/get_server_info")

    def run_mark(self) -> str:
        """What tells this run of the server from its next: how long each part of its start took (`startup_time`, stated
        by 0.5.23). Empty where the server does not say."""
        took = read_object(self.server_info_text(), "/server_info").get("startup_time")
        return hashlib.sha256(json.dumps(took, sort_keys=True).encode()).hexdigest()[:16] if took else ""

    def loads(self) -> Loads:
        """`/v1/loads`, else `/get_load`. Raises ToolError where the server has neither."""
        return parse_loads(self._first_of("/v1/loads", "/get_load"))

    def metrics(self) -> Scrape:
        """`/metrics`. Raises NotRecorded where the server runs without `--enable-metrics`."""
        return parse_metrics(self._first_of("/metrics"))

    def generate(self, body: Mapping[str, object], timeout_s: float) -> dict[str, object]:
        """One answer of `/generate` without streaming. Raises ToolError."""
        answer = self.ask("POST", "/generate", body, timeout_s=timeout_s)
        if answer.status != 200:
            raise ToolError(f"/generate answered {answer.status}: {_begin(answer.text)}")
        return read_object(answer.text, "/generate")

    def set_state(self, settings: Mapping[str, object]) -> Answer:
        """POST `/set_internal_state`; what the answer is worth depends on the version, so read back."""
        return self.ask("POST", "/set_internal_state", {"server_args": dict(settings)}, admin=True)

    def ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, object] | None = None,
        *,
        admin: bool = False,
        timeout_s: float | None = None,
    ) -> Answer:
        """One request. Raises Unreachable where there is no whole answer."""
        endpoint = self.endpoint
        headers = dict(endpoint.admin_headers if admin else endpoint.headers)
        sent = None if body is None else json.dumps(body).encode()
        if sent is not None:
            headers["Content-Type"] = "application/json"
        connection = self._connection(timeout_s or self.timeout_s)
        try:
            connection.request(method, endpoint.path + path, sent, headers)
            response = connection.getresponse()
            return Answer(response.status, response.read().decode("utf-8", errors="replace"))
        except ssl.SSLCertVerificationError as error:
            raise Unreachable(distrusted(endpoint, error)) from error
        except (OSError, http.client.HTTPException) as error:
            why = getattr(error, "strerror", None) or error or type(error).__name__
            raise Unreachable(f"{endpoint.shown}{path} gave no answer: {why}") from error
        finally:
            connection.close()

    def _connection(self, timeout_s: float) -> http.client.HTTPConnection:
        """Straight to the server: a proxy of the environment is for the world outside."""
        context = self.endpoint.tls
        if context is not None:
            return _Secure(self.endpoint, context, timeout_s)
        return http.client.HTTPConnection(self.endpoint.host, self.endpoint.port, timeout=timeout_s)

    def _first_of(self, *paths: str) -> str:
        """The body of the first path that the server has."""
        answer = Answer(404, "")
        for path in paths:
            answer = self.ask("GET", path)
            if answer.status == 200:
                return answer.text
            if answer.status not in (404, 405):
                break
        where = f"{self.endpoint.shown}{paths[0]}"
        if answer.status in (404, 405):
            raise NotRecorded(f"{where} does not exist on this server")
        if answer.status in (401, 403):
            raise ToolError(f"{where} wants a key: put it into SGLANG_API_KEY or SGLANG_ADMIN_API_KEY")
        kind = Unreachable if answer.status in NOBODY_BEHIND else ToolError
        raise kind(f"{where} answered {answer.status}: {_begin(answer.text)}")


def distrusted(endpoint: Endpoint, error: ssl.SSLCertVerificationError) -> str:
    """That a certificate is not trusted, and what to do about it."""
    advice = "it must be renewed" if "expired" in error.verify_message else (
        "let SSL_CERT_FILE name the certificate of the authority that signed it, "
        "or reach the server through its host (local or ssh://HOST)"
    )  # fmt: skip
    why = error.verify_message or error
    return f"{endpoint.shown} speaks TLS, and its certificate is not trusted: {why}; {advice}"


def _begin(text: str) -> str:
    return " ".join(text[:160].split())
