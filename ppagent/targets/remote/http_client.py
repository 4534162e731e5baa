"""HTTP to a server over a host's link: its port need not be open to anyone but the host itself."""

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import httpcore2
import httpx2

from ppagent.errors import ToolError
from ppagent.targets.remote.link import Link, Stream

KEPT_S = 4.0
"""How long an idle connection is used again: uvicorn, which serves SGLang, closes it after 5 s."""
_SIZE = 1 << 16


class LinkTransport(httpx2.BaseTransport):
    """Carries requests over connections that begin on the host."""

    def __init__(self, link: Link) -> None:
        backend = _Backend(link)
        self._pool = httpcore2.ConnectionPool(network_backend=backend, max_connections=4, keepalive_expiry=KEPT_S)

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
    def __init__(self, link: Link) -> None:
        self._link = link

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        return _Stream(self._link.open_tcp(host, port, timeout_s=timeout or 10.0))


class _Stream(httpcore2.NetworkStream):
    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        self._stream.settimeout(timeout)
        with _as_core(httpcore2.ReadTimeout, httpcore2.ReadError):
            return self._stream.recv(min(max_bytes, _SIZE))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.settimeout(timeout)
        with _as_core(httpcore2.WriteTimeout, httpcore2.WriteError):
            self._stream.sendall(buffer)

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
    """(status, body) of a GET. Raises ToolError where no answer comes whole within the time and the size.

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
        raise ToolError(f"the server broke off its answer to {path}: {error or type(error).__name__}") from error


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
