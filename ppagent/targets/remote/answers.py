"""What a server answers over HTTP. Only requests that change nothing are made."""

import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import httpx2

from ppagent.errors import NotRecorded, ToolError
from ppagent.evidence.masking import mask
from ppagent.targets.remote.ahead import in_background
from ppagent.targets.remote.asking import AskSecret
from ppagent.targets.remote.http_client import BrokenOff, Way, fetch
from ppagent.targets.remote.keys import Keys
from ppagent.targets.remote.once import Once
from ppagent.targets.remote.scrape_remark import with_remark
from ppagent.targets.remote.tls_stream import Distrusted

ANSWER_S = 10.0
LARGEST_ANSWER = 64 << 20

_INFO = ("/server_info", "/get_server_info")
"""The first from 0.5.6 on (`srt/entrypoints/http_server.py`), the second in all versions."""
_LOADS = ("/v1/loads", "/get_load")
"""The first from 0.5.8 on, the second from 0.4.7 to 0.5.20."""
_METRICS = "/metrics"
_HEALTH = "/health"
"""Answered at once and without a key (0.5.23, `srt/utils/auth.py`); any answer tells the way."""
_REFUSED = (401, 403)

Ways = Callable[[], Sequence[Way]]
"""Further ways to the same server, worked out only when they are needed."""


@dataclass(frozen=True)
class _Answer:
    """What came back, and when."""

    status: int
    body: str
    at: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def refused(self) -> bool:
        return self.status in _REFUSED


class Answers:
    """One server's HTTP API. `others` are tried in turn where the server does not speak as `way` has it, or shows a
    certificate that is not trusted so. `ask` asks a person for the API key where the server wants one that is not set.
    """

    def __init__(self, way: Way, ask: AskSecret | None, others: Ways = tuple) -> None:
        self._place = f"{way.address} port {way.port} of {way.link.name}"
        self._keys = Keys(self._place, ask)
        self._way = way
        self._client = way.client()
        self._others = others
        self._untried: list[Way] | None = None
        self._settled = False
        self._complaints: list[str] = []
        self._changing = threading.Lock()
        self._ahead = Once()
        self._to_come: set[str] = set()

    def begin(self) -> None:
        """Begins to ask for state, load and the first scrape, side by side. A person is asked for nothing yet."""
        self._to_come = {*_INFO, *_LOADS, _METRICS}
        in_background(*(lambda paths=paths: self._first_of(paths) for paths in (_INFO, _LOADS, (_METRICS,))))

    def way(self) -> Way:
        """The way that leads there. Where no request has shown it yet, one is made. Raises ToolError."""
        if not self._settled:
            self._once(_HEALTH, None)
        return self._way

    @property
    def typed_key(self) -> str:
        """The API key that a person typed and the server took; empty for none."""
        return self._keys.typed

    @property
    def gives_metrics(self) -> bool:
        """Whether /metrics is answered without anybody's being asked for a key."""
        return self._first_of((_METRICS,)).status == 200

    def server_info(self) -> str:
        """The body of /server_info, with secrets masked. Raises NotRecorded and ToolError."""
        return mask(self._json(_INFO))

    def loads(self) -> str:
        """The body of /v1/loads."""
        return self._json(_LOADS)

    def scrape(self) -> str:
        """One scrape of /metrics, headed by its time."""
        answer = self._get(_METRICS)
        if answer.status == 404:
            raise NotRecorded("the server has no /metrics: it was started without --enable-metrics")
        self._must_be_ok(_METRICS, answer)
        return f"# scraped_at: {answer.at.isoformat(timespec='milliseconds')}\n{answer.body}"

    def scrapes(self, count: int, gap_s: float) -> tuple[tuple[str, str], ...]:
        """Scrapes begun `gap_s` apart, so that counters have rates. What came before a failure is kept, and the last of
        it says why no more came."""
        found: list[tuple[str, str]] = []
        due_s = time.monotonic()
        for number in range(1, count + 1):
            try:
                found.append((f"metrics/{number}.prom", self.scrape()))
            except NotRecorded:
                raise
            except ToolError as error:
                if not found:
                    raise
                name, text = found[-1]
                found[-1] = (name, with_remark(text, f"scrape {number} of {count} did not come: {error}"))
                break
            if number < count:
                due_s += gap_s
                time.sleep(max(0.0, due_s - time.monotonic()))
        return tuple(found)

    def close(self) -> None:
        self._client.close()

    def _json(self, paths: Sequence[str]) -> str:
        """The body of the first path that this version has."""
        for path in paths:
            answer = self._get(path)
            if answer.status == 404:
                continue
            self._must_be_ok(path, answer)
            try:
                json.loads(answer.body)
            except json.JSONDecodeError as error:
                raise ToolError(f"{path} of {self._place} is no JSON: {error.msg}") from error
            return answer.body
        raise NotRecorded(f"{' and '.join(paths)} are not served on {self._place}")

    def _get(self, path: str) -> _Answer:
        """A GET with each key that is at hand, then without one, then with the one that a person types."""
        if path in self._to_come:
            self._to_come.discard(path)
            answer = self._ahead.get(path, lambda: self._with_keys(path))
            if answer.refused:  # a key may have been typed since
                answer = self._with_keys(path)
        else:
            answer = self._with_keys(path)
        if not answer.refused:
            return answer
        key = self._keys.from_person(path)
        answer = self._once(path, key)
        if answer.refused:
            raise self._keys.turned_down(path)
        self._keys.taken(key)
        return answer

    def _first_of(self, paths: Sequence[str]) -> _Answer:
        """The answer to the first of `paths` that this version has; it waits for whoever asks."""
        for path in paths:
            answer = self._ahead.get(path, lambda path=path: self._with_keys(path))  # type: ignore[misc]
            if answer.status != 404:
                break
        return answer

    def _with_keys(self, path: str) -> _Answer:
        """The first answer that is no refusal, or the last refusal."""
        for key in self._keys.at_hand():
            answer = self._once(path, key)
            if not answer.refused:
                break
        return answer

    def _once(self, path: str, key: str | None) -> _Answer:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        while True:
            client = self._client
            try:
                answer = _Answer(*fetch(client, path, headers, timeout_s=ANSWER_S, limit=LARGEST_ANSWER))
                self._settled = True
                return answer
            except (BrokenOff, Distrusted) as error:
                if isinstance(error, Distrusted):
                    self._complaints.append(str(error))
                if not self._change(client):
                    raise self._said(error) from error

    def _change(self, failed: httpx2.Client) -> bool:
        """Takes the next way to the server, unless another request has done so already; whether there was one. A way
        that led there once is kept."""
        with self._changing:
            if self._client is not failed:
                return True
            if self._settled:
                return False
            if self._untried is None:
                self._untried = list(self._others())
            if not self._untried:
                return False
            self._way = self._untried.pop(0)
            self._client = self._way.client()
            return True

    def _said(self, error: ToolError) -> ToolError:
        """Why no way led to it, where a certificate is the reason."""
        if not isinstance(error, Distrusted):
            return error
        why = "; ".join(dict.fromkeys(self._complaints))
        trust = "let SSL_CERT_FILE name the certificate of the authority that signed it"
        advice = "it must be renewed" if "expired" in why else trust
        return ToolError(f"the server on {self._place} speaks TLS, and its certificate is not trusted: {why}; {advice}")

    def _must_be_ok(self, path: str, answer: _Answer) -> None:
        if answer.status != 200:
            said = mask(answer.body.strip()[:200])
            raise ToolError(f"{path} of {self._place} answered {answer.status}: {said}")
