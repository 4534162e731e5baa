"""HTTP to a server over a host's link: its port need not be open to anyone but the host itself."""

import ssl
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import httpcore2
import httpx2

from ppagent.errors import ToolError
from ppagent.targets.remote.link import Link, Stream
from ppagent.targets.remote.tls_stream import TlsStream
from ppagent.targets.remote.trust import Trust

KEPT_S = 4.0
"""How long an idle connection is used again: uvicorn, which serves SGLang, closes it after 5 s."""
_SIZE = 1 << 16


class BrokenOff(ToolError):
    """The other side hung up, or what it said is no HTTP."""


@dataclass(frozen=True)
class Way:
    """A server's port as its host sees it. `first` is a connection to it that is open already; with `trust` TLS is
    spoken there."""

    link: Link
    address: str
    port: int
    first: Stream | None = None
    trust: Trust | None = None

    @property
    def url(self) -> str:
        name = (self.trust.name if self.trust else "") or self.address
        return f"{'https' if self.trust else 'http'}://{f'[{name}]' if ':' in name else name}:{self.port}"

    def client(self) -> httpx2.Client:
        return httpx2.Client(transport=LinkTransport(self), base_url=self.url)


class LinkTransport(httpx2.BaseTransport):
    """Carries requests over connections that begin on the host."""

    def __init__(self, way: Way) -> None:
        self._pool = httpcore2.ConnectionPool(
            ssl_context=way.trust.context if way.trust else None,
            network_backend=_Backend(way),
            max_connections=4,
            keepalive_expiry=KEPT_S,
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        asked = httpcore2.Request(
            method=request.method,
            url=httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
            headers=request.headers.raw,
            content=request.stream if isinstance(request.stream, httpx2.SyncByteStream) else None,
            extensions=request.extensions,
        )
        with _as_httpx():
            answer = self._pool.handle_request(asked)
        return httpx2.Response(
            status_code=answer.status,
            headers=answer.headers,
            stream=_Body(answer.stream),
            extensions=answer.extensions,
        )

    def close(self) -> None:
        self._pool.close()


class _Body(httpx2.SyncByteStream):
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        with _as_httpx():
            yield from self._stream

    def close(self) -> None:
        self._stream.close()


class _Backend(httpcore2.NetworkBackend):
    """Every connection leads to the one port, whatever name the server is asked under."""

    def __init__(self, way: Way) -> None:
        self._way = way
        self._first = way.first
        self._lock = threading.Lock()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        with self._lock:
            first, self._first = self._first, None
        way = self._way
        return _Stream(first or way.link.open_tcp(way.address, way.port, timeout_s=timeout or 10.0), way.trust)


class _Stream(httpcore2.NetworkStream):
    def __init__(self, stream: Stream, trust: Trust | None = None) -> None:
        self._stream = stream
        self._trust = trust

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        self._stream.settimeout(timeout)
        with _as_core(httpcore2.ReadTimeout, httpcore2.ReadError):
            return self._stream.recv(min(max_bytes, _SIZE))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.settimeout(timeout)
        with _as_core(httpcore2.WriteTimeout, httpcore2.WriteError):
            self._stream.sendall(buffer)

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        self._stream.settimeout(timeout)
        name = self._trust.name if self._trust else server_hostname or ""
        try:
            with _as_core(httpcore2.ConnectTimeout, httpcore2.ConnectError):
                return _Stream(TlsStream(self._stream, ssl_context, name))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        with suppress(EOFError, OSError):  # closing sends something too, and the connection may be gone
            self._stream.close()

    def get_extra_info(self, info: str) -> Any:
        return None


@contextmanager
def _as_core(on_timeout: type[Exception], on_error: type[Exception]) -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        raise on_timeout(str(error)) from error
    except (OSError, EOFError) as error:
        raise on_error(str(error)) from error


@contextmanager
def _as_httpx() -> Iterator[None]:
    """Errors of the connection under the names that users of httpx2 know."""
    try:
        yield
    except httpcore2.TimeoutException as error:
        raise httpx2.ReadTimeout(str(error)) from error
    except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
        raise httpx2.ReadError(str(error)) from error


def fetch(
    client: httpx2.Client, path: str, headers: Mapping[str, str], *, timeout_s: float, limit: int
) -> tuple[int, str]:
    """(status, body) of a GET. Raises ToolError where no answer comes whole within the time and the size, BrokenOff
    where the other side hangs up.

    A connection that was kept may have been closed by the server meanwhile, so a GET that is broken off is made again.
    """
    try:
        try:
            return _get(client, path, headers, timeout_s, limit)
        except (httpx2.ReadError, httpx2.WriteError):
            return _get(client, path, headers, timeout_s, limit)
    except httpx2.TimeoutException as error:
        raise ToolError(f"the server did not answer {path} within {timeout_s:g} s") from error
    except httpx2.HTTPError as error:
        raise BrokenOff(f"the server broke off its answer to {path}: {error or type(error).__name__}") from error


def _get(client: httpx2.Client, path: str, headers: Mapping[str, str], timeout_s: float, limit: int) -> tuple[int, str]:
    until = time.monotonic() + timeout_s
    body: list[bytes] = []
    size = 0
    with client.stream("GET", path, headers=dict(headers), timeout=timeout_s) as answer:
        for piece in answer.iter_bytes():
            body.append(piece)
            size += len(piece)
            if size > limit:
                raise ToolError(f"{path} is larger than {limit >> 20} MiB")
            if time.monotonic() > until:
                raise ToolError(f"{path} did not come whole within {timeout_s:g} s")
        return answer.status_code, b"".join(body).decode("utf-8", errors="replace")
