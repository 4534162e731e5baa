"""What a server answers over HTTP. Only requests that change nothing are made."""

import json
import os
import time
from collections.abc import Sequence
from datetime import UTC, datetime

import httpx2

from ppagent.errors import NotRecorded, ToolError
from ppagent.evidence.masking import mask
from ppagent.targets.remote.asking import AskSecret
from ppagent.targets.remote.http_client import LinkTransport, fetch
from ppagent.targets.remote.link import Link

ANSWER_S = 10.0
LARGEST_ANSWER = 64 << 20
KEY_VARIABLES = ("SGLANG_API_KEY", "SGLANG_ADMIN_API_KEY")
"""Where API keys are taken from. They are never taken from a command line."""

_INFO = ("/server_info", "/get_server_info")
"""The first from 0.5.6 on (`srt/entrypoints/http_server.py`), the second in all versions."""
_LOADS = ("/v1/loads", "/get_load")
"""The first from 0.5.8 on, the second from 0.4.7 to 0.5.20."""
_REFUSED = (401, 403)


class Answers:
    """One server's HTTP API. `ask` asks a person for the API key where the server wants one that is not set."""

    def __init__(self, link: Link, address: str, port: int, *, secure: bool = False, ask: AskSecret | None) -> None:
        self._place = f"{address} port {port} of {link.name}"
        host = f"[{address}]" if ":" in address else address
        if secure:
            raise ToolError(f"the server on {self._place} speaks TLS, which is not spoken over a host's own connection")
        self._client = httpx2.Client(transport=LinkTransport(link), base_url=f"http://{host}:{port}")
        self._keys = [key for name in KEY_VARIABLES if (key := os.environ.get(name))]
        self._ask = ask

    def server_info(self) -> str:
        """The body of /server_info, with secrets masked. Raises NotRecorded and ToolError."""
        return mask(self._json(_INFO))

    def loads(self) -> str:
        """The body of /v1/loads."""
        return self._json(_LOADS)

    def scrape(self) -> str:
        """One scrape of /metrics, headed by its time."""
        status, body = self._get("/metrics")
        if status == 404:
            raise NotRecorded("the server has no /metrics: it was started without --enable-metrics")
        self._must_be_ok("/metrics", status, body)
        return f"# scraped_at: {datetime.now(UTC).isoformat(timespec='milliseconds')}\n{body}"

    def scrapes(self, count: int, gap_s: float) -> tuple[tuple[str, str], ...]:
        """Scrapes some seconds apart, so that counters have rates. What came before a failure is kept."""
        found: list[tuple[str, str]] = []
        for number in range(1, count + 1):
            try:
                found.append((f"metrics/{number}.prom", self.scrape()))
            except NotRecorded:
                raise
            except ToolError:
                if not found:
                    raise
                break
            if number < count:
                time.sleep(gap_s)
        return tuple(found)

    def close(self) -> None:
        self._client.close()

    def _json(self, paths: Sequence[str]) -> str:
        """The body of the first path that this version has."""
        for path in paths:
            status, body = self._get(path)
            if status == 404:
                continue
            self._must_be_ok(path, status, body)
            try:
                json.loads(body)
            except json.JSONDecodeError as error:
                raise ToolError(f"{path} of {self._place} is no JSON: {error.msg}") from error
            return body
        raise NotRecorded(f"{' and '.join(paths)} are not served on {self._place}")

    def _get(self, path: str) -> tuple[int, str]:
        """A GET with each key that is at hand, then without one, then with the one that a person types."""
        for key in (*self._keys, None):
            status, body = self._once(path, key)
            if status not in _REFUSED:
                return status, body
        if self._ask is None:
            raise ToolError(f"the server wants an API key for {path}; set {' or '.join(KEY_VARIABLES)}")
        self._keys.insert(0, self._ask(f"API key of the server on {self._place}: "))
        status, body = self._once(path, self._keys[0])
        if status in _REFUSED:
            self._keys.pop(0)
            raise ToolError(f"the server does not take that API key for {path}")
        return status, body

    def _once(self, path: str, key: str | None) -> tuple[int, str]:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        return fetch(self._client, path, headers, timeout_s=ANSWER_S, limit=LARGEST_ANSWER)

    def _must_be_ok(self, path: str, status: int, body: str) -> None:
        if status != 200:
            raise ToolError(f"{path} of {self._place} answered {status}: {mask(body.strip()[:200])}")
