"""One connection to the server: a request at a time, kept open between them, its arrivals stamped as they come."""

import asyncio
from time import perf_counter

from ppagent.bench.endpoint import Endpoint
from ppagent.bench.http_reader import BadResponse, EventSplitter, ResponseReader
from ppagent.bench.record import Request

MOST_ERROR_BYTES = 4096
LARGEST_READ = 1 << 18


class Connection(asyncio.BufferedProtocol):
    """Speaks HTTP/1.1 to one server. Not a general client: no redirects, no compression, no pipelining.

    Up to 256 KiB are read at a time, so a burst of long events is one call. They are read into one buffer that all
    connections of a load share (`room`): a new one of that size for each token costs five times what its event does.
    """

    def __init__(self, endpoint: Endpoint, room: memoryview | None = None) -> None:
        self._endpoint = endpoint
        self._room = room if room is not None else reading_room()
        self._transport: asyncio.Transport | None = None
        self._reader = ResponseReader()
        self._events = EventSplitter()
        self._record: Request | None = None
        self._over: asyncio.Future[None] | None = None
        self._error_body = b""

    async def open(self) -> None:
        """Connects, with TLS where the address asks for it. Raises OSError."""
        endpoint, loop = self._endpoint, asyncio.get_running_loop()
        name = endpoint.tls_name if endpoint.tls is not None else None
        await loop.create_connection(lambda: self, endpoint.host, endpoint.port, ssl=endpoint.tls, server_hostname=name)

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    def close(self) -> None:
        """Drops the connection; SGLang then aborts what still runs on it."""
        if self._transport is not None:
            self._transport.abort()

    async def post(self, path: str, body: bytes, record: Request) -> None:
        """Sends one request and waits for its end; the record then holds what came back, or the error.

        A server closes connections that were idle for a few seconds. Where that crosses with a request, nothing of an
        answer has come, and it is sent once more on a new connection.
        """
        reused = self.is_open
        if not await self._post_once(path, body, record) and reused:
            record.error, record.ended_at = "", 0.0
            await self._post_once(path, body, record)

    async def _post_once(self, path: str, body: bytes, record: Request) -> bool:
        """False where the connection ended before anything came back."""
        try:
            if not self.is_open:
                await self.open()
        except OSError as error:
            record.error = f"no connection: {error.strerror or error}"
            record.close(perf_counter())
            return True
        self._begin(record)
        assert self._transport is not None and self._over is not None
        record.sent_at = perf_counter()
        self._transport.write(self._head(path, len(body)) + body)
        try:
            await self._over
        except asyncio.CancelledError:
            self.close()
            raise
        return self._reader.status != 0 or not record.error

    def _begin(self, record: Request) -> None:
        self._reader, self._events, self._record = ResponseReader(), EventSplitter(), record
        self._error_body = b""
        self._over = asyncio.get_running_loop().create_future()

    def _head(self, path: str, length: int) -> bytes:
        endpoint = self._endpoint
        lines = [f"POST {endpoint.path}{path} HTTP/1.1", f"Host: {endpoint.authority}"]
        lines += [f"{name}: {value}" for name, value in endpoint.headers.items()]
        lines += ["Content-Type: application/json", "Accept: text/event-stream", f"Content-Length: {length}", "", ""]
        return "\r\n".join(lines).encode("latin-1")

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._room

    def buffer_updated(self, nbytes: int) -> None:
        self.data_received(self._room[:nbytes].tobytes())

    def data_received(self, data: bytes) -> None:
        """Takes what came, in whatever pieces."""
        now = perf_counter()
        record, reader = self._record, self._reader
        if record is None:
            return
        try:
            if not self._events.waiting and (event := reader.one_event(data)):
                record.take(event, now)
                return
            body = reader.feed(data)
        except BadResponse as error:
            record.error = str(error)
            self._finish(now)
            self.close()
            return
        if reader.status == 200:
            for payload in self._events.feed(body):
                record.take(payload, now)
        elif len(self._error_body) < MOST_ERROR_BYTES:
            self._error_body += body
        if reader.done:
            self._finish(now)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._record is not None:
            if not self._reader.end():
                self._record.error = f"the connection was lost{f': {exc}' if exc else ''}"
            self._finish(perf_counter())
        self._transport = None

    def _finish(self, now: float) -> None:
        record, over = self._record, self._over
        if record is None or over is None:
            return
        self._record = None
        record.close(now, self._reader.status or 200, self._error_body)
        if not self._reader.keeps_alive:
            self.close()
        if not over.done():
            over.set_result(None)


def reading_room() -> memoryview:
    """Where the connections of one loop read into, one after the other."""
    return memoryview(bytearray(LARGEST_READ))
